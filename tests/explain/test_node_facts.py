"""Facts about nodes, against NetworkX."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import from_networkx, from_smiles, planted
from ssread.explain.node_facts import graph_of_node, in_ring, node_facts

random_graphs = st.builds(nx.gnp_random_graph, st.integers(1, 12), st.floats(0, 0.5), st.integers(0, 99))


@given(st.lists(random_graphs, min_size=1, max_size=4))
def test_graphs_degrees_and_rings_are_those_of_networkx(networks):
    graphs = from_networkx(networks, labels=["a"] * len(networks))
    nodes = [(number, network, node) for number, network in enumerate(networks) for node in network]
    assert graph_of_node(graphs).tolist() == [number for number, _, _ in nodes]
    assert in_ring(graphs).tolist() == [
        any(node in cycle for cycle in nx.cycle_basis(network)) for _, network, node in nodes
    ]
    facts = node_facts(graphs)
    for name, degree in (("degree 0", 0), ("end of a chain", 1), ("degree 2", 2), ("degree 4", 4)):
        if name in facts:
            assert facts[name].tolist() == [network.degree(node) == degree for _, network, node in nodes]
    if "degree 5 or more" in facts:
        assert facts["degree 5 or more"].tolist() == [network.degree(node) >= 5 for _, network, node in nodes]


def test_nodes_between_two_rings_are_in_none():
    graphs = from_networkx([nx.barbell_graph(3, 2)], labels=["a"])
    assert in_ring(graphs).tolist() == [True] * 3 + [False] * 2 + [True] * 3


def test_a_fact_holds_for_some_nodes_but_not_for_all():
    facts = node_facts(planted(20, seed=1, feature_noise=0.1))
    assert {"type base", "end of a chain", "in a ring"} <= set(facts)
    assert all(0 < int(holds.sum()) < len(holds) for holds in facts.values())


def test_molecules_have_functional_groups_where_rdkit_is_installed(monkeypatch):
    pytest.importorskip("rdkit")
    graphs = from_smiles(["CCN", "c1ccccc1C"], ["a", "b"])
    assert node_facts(graphs)["amino group"].tolist() == [False, False, True] + [False] * 7
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    assert not any(name.endswith("group") for name in node_facts(graphs))


def test_a_feature_that_says_the_same_as_a_fact_is_left_out():
    pytest.importorskip("rdkit")
    facts = node_facts(from_smiles(["c1ccccc1CC", "CCO", "C1CCCCC1"]))
    assert "in a ring" in facts
    assert "2 neighbours" in facts
    assert not {"type ring", "neighbours 2"} & set(facts)
