"""Cycles counted by NetworkX, one by one."""

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import cycles, from_networkx, planted
from ssread.data.cycles import LONGEST, count_cycles, with_cycles
from ssread.errors import InputError


def by_networkx(network) -> torch.Tensor:
    counts = torch.zeros(len(network), 4)
    for cycle in nx.simple_cycles(nx.Graph(network), length_bound=LONGEST):
        if len(cycle) > 2:  # NetworkX calls a loop a cycle, too
            counts[cycle, len(cycle) - 3] += 1
    return counts


@given(st.integers(1, 9), st.floats(0.1, 0.9), st.integers(0, 10_000), st.booleans())
def test_counts_are_those_of_a_search(nodes, density, seed, directed):
    network = nx.gnp_random_graph(nodes, density, seed, directed=directed)
    network.add_edge(0, 0)
    undirected = nx.Graph(network)
    undirected.remove_edges_from(list(nx.selfloop_edges(undirected)))
    assert torch.equal(count_cycles(from_networkx([nx.path_graph(2), network])[1:]), by_networkx(undirected))


def test_graphs_of_a_set_do_not_mix_and_blocks_do_not_matter(monkeypatch):
    graphs = planted(12, seed=0)
    together = count_cycles(graphs)
    assert torch.equal(together, torch.cat([count_cycles(graphs[[number]]) for number in range(12)]))
    monkeypatch.setattr(cycles, "EDGES_AT_A_TIME", 7)
    assert torch.equal(together, count_cycles(graphs))


def test_features_are_whether_there_are_cycles_and_logarithms_of_counts_with_names():
    graphs = with_cycles(from_networkx([nx.cycle_graph(5), nx.complete_graph(4)]))
    assert graphs.node_feature_names[-4:] == ("cycles of 3", "cycles of 4", "cycles of 5", "cycles of 6")
    assert graphs.node_feature_names[-8] == "in a cycle of 3"
    expected = torch.tensor([[0, 0, 1, 0]] * 5 + [[3, 3, 0, 0]] * 4)
    assert torch.allclose(graphs.x[:, -4:].expm1(), expected.float())
    assert torch.equal(graphs.x[:, -8:-4], (expected > 0).float())


def test_graphs_without_edges_have_none():
    assert count_cycles(from_networkx([nx.empty_graph(3)])).eq(0).all()


def test_graphs_that_are_too_dense_are_refused(monkeypatch):
    monkeypatch.setattr(cycles, "MAX_PATHS", 1000)
    with pytest.raises(InputError, match="too dense to count its cycles of up to 6 nodes"):
        count_cycles(from_networkx([nx.complete_graph(12)]))
