"""Copies are found whatever the order of their nodes, as by NetworkX's Weisfeiler-Lehman hash."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from helpers.graph_strategies import graph_sets
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import GraphSet, assemble, load, stratified_folds
from ssread.data.duplicates import count_duplicates, duplicate_groups, find_copies
from ssread.data.networks import from_networkx
from ssread.errors import InputError


def shuffled(graphs: GraphSet, seed: int) -> GraphSet:
    """Returns the same graphs with the nodes of each in another order."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(count) for count in graphs.node_counts.tolist()]
    starts = graphs.node_ptr[:-1].numpy()
    places = [np.argsort(order) for order in orders]
    graph_of_edge = np.repeat(np.arange(len(graphs)), graphs.edge_counts.numpy())
    edges = [
        [places[graph][node] for graph, node in zip(graph_of_edge, row, strict=True)]
        for row in graphs.edge_index.tolist()
    ]
    return assemble(
        name="shuffled",
        num_nodes=graphs.node_counts.tolist(),
        x=graphs.x[np.concatenate([start + order for start, order in zip(starts, orders, strict=True)]).astype(int)],
        graph_of_edge=graph_of_edge,
        edges=np.array(edges, dtype=np.int64),
        edge_attr=graphs.edge_attr,
    )


def labelled_network(graph: GraphSet) -> nx.DiGraph:
    network = nx.DiGraph()
    network.add_nodes_from((node, {"kind": str(row)}) for node, row in enumerate(graph.x.tolist()))
    kinds = [""] * graph.edge_index.size(1) if graph.edge_attr is None else map(str, graph.edge_attr.tolist())
    network.add_edges_from(
        (start, end, {"kind": kind}) for (start, end), kind in zip(graph.edge_index.T.tolist(), kinds, strict=True)
    )
    return network


def same_partition(one: list, other: list) -> bool:
    return len(set(one)) == len(set(other)) == len(set(zip(one, other, strict=True)))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 6), st.integers(0, 10**6)), min_size=2, max_size=20))
def test_the_partition_is_that_of_networkx(kinds: list[tuple[int, int, int]]) -> None:
    networks = []
    for nodes, edges, seed in kinds:
        network = nx.gnm_random_graph(nodes, edges, seed=seed)
        rng = np.random.default_rng(seed)
        nx.set_node_attributes(network, {node: int(rng.integers(2)) for node in network}, "kind")
        nx.set_edge_attributes(network, {edge: int(rng.integers(2)) for edge in network.edges}, "kind")
        networks.append(network)
    hashes = [nx.weisfeiler_lehman_graph_hash(n, node_attr="kind", edge_attr="kind", iterations=4) for n in networks]
    graphs = from_networkx(networks, node_label="kind", edge_label="kind")
    assert same_partition(duplicate_groups(graphs, iterations=4).tolist(), hashes)


@given(graph_sets(), st.integers(0, 2**32))
def test_a_graph_with_its_nodes_in_another_order_is_a_copy(graphs: GraphSet, seed: int) -> None:
    both = [graph for half in (graphs, shuffled(graphs, seed)) for graph in half]
    together = assemble(
        name="both",
        num_nodes=[graph.num_nodes for graph in both],
        x=torch.cat([graph.x for graph in both]),
        graph_of_edge=np.repeat(np.arange(len(both)), [graph.num_edges for graph in both]),
        edges=torch.cat([graph.edge_index for graph in both], dim=1),
        edge_attr=None if graphs.edge_attr is None else torch.cat([graph.edge_attr for graph in both]),
    )
    groups = duplicate_groups(together)
    assert groups[: len(graphs)].tolist() == groups[len(graphs) :].tolist()


@given(graph_sets())
def test_groups_hold_all_isomorphic_graphs_and_the_first_of_them_names_the_group(graphs: GraphSet) -> None:
    groups = duplicate_groups(graphs).tolist()
    networks = [labelled_network(graph) for graph in graphs]

    def same(one: dict, other: dict) -> bool:
        return one["kind"] == other["kind"]

    for number, group in enumerate(groups):
        copies = [n for n in range(len(graphs)) if nx.is_isomorphic(networks[n], networks[number], same, same)]
        assert {groups[copy] for copy in copies} == {group}
        assert group <= copies[0]


def test_features_count_but_labels_and_the_sign_of_zero_do_not() -> None:
    def pair(first: float, second: float) -> GraphSet:
        x = [[first], [1.0], [second], [1.0]]
        return assemble(name="pair", num_nodes=[2, 2], x=x, graph_of_edge=[0, 1], edges=[[0, 0], [1, 1]], y=[0, 1])

    assert duplicate_groups(pair(0.0, -0.0)).tolist() == [0, 0]
    assert duplicate_groups(pair(0.0, 0.5)).tolist() == [0, 1]


@given(graph_sets(), st.integers(0, 10**6), st.integers(0, 2))
def test_copies_and_contradictory_labels_are_counted(graphs: GraphSet, seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = graphs[rng.integers(len(graphs), size=8).tolist()]
    labels = torch.from_numpy(rng.integers(max(classes, 1), size=8))
    names = tuple(map(str, range(max(classes, 1))))
    graphs = replace(graphs, y=labels if classes else None, class_names=names if classes else ())
    groups = duplicate_groups(graphs).tolist()
    members = [[row for row in range(8) if groups[row] == group] for group in set(groups)]
    repeated = [rows for rows in members if len(rows) > 1]
    contradictory = [rows for rows in repeated if classes and len({int(labels[row]) for row in rows}) > 1]
    assert find_copies(graphs) == (len(repeated), sum(map(len, repeated)), len(contradictory))


def test_more_iterations_compare_larger_neighbourhoods() -> None:
    path, pieces = nx.path_graph(12), nx.disjoint_union(nx.path_graph(5), nx.cycle_graph(7))
    graphs = from_networkx([path, pieces])
    assert duplicate_groups(graphs, iterations=1).tolist() == [0, 0]
    assert duplicate_groups(graphs).tolist() == [0, 1]
    with pytest.raises(InputError, match="iterations=0"):
        duplicate_groups(graphs, iterations=0)


def test_copies_across_a_split_are_counted_and_grouping_keeps_them_together(mutag: GraphSet) -> None:
    assert len(set(duplicate_groups(mutag))) == 188  # with their bonds all molecules differ
    groups = duplicate_groups(replace(mutag, edge_attr=None, edge_feature_names=()))
    plain = [count_duplicates(groups, fold.train, fold.test) for fold in stratified_folds(mutag)]
    grouped = [count_duplicates(groups, fold.train, fold.test) for fold in stratified_folds(mutag, groups=groups)]
    assert sum(plain) > 0
    assert grouped == [0] * 10
    first = stratified_folds(mutag)[0]
    assert plain[0] == sum(groups[graph] in set(groups[first.train]) for graph in first.test)


@pytest.mark.usefixtures("mirror")
def test_real_molecules_are_partitioned_as_networkx_does() -> None:
    graphs = load("NCI1")[:300]
    hashes = [
        nx.weisfeiler_lehman_graph_hash(labelled_network(graph).to_undirected(), node_attr="kind", iterations=10)
        for graph in graphs
    ]
    assert same_partition(duplicate_groups(graphs).tolist(), hashes)
