"""How poolings divide graphs."""

import networkx as nx
import pytest
import torch

from ssread.data import from_networkx, planted
from ssread.errors import InputError
from ssread.explain import diffpool_clusters, poolings_survived, spectral_clusters
from ssread.models import Graphs, model_for

GRAPHS = planted(10, seed=4)


def test_spectral_clusters_are_connected_and_numbered_from_0():
    parts = spectral_clusters(GRAPHS, 4).split(GRAPHS.node_counts.tolist())
    for part in parts:
        assert sorted(set(part.tolist())) == list(range(int(part.max()) + 1))
        assert part[0] == 0
    cliques = from_networkx([nx.barbell_graph(6, 0)], labels=["a"])
    assert spectral_clusters(cliques, 2).tolist() == [0] * 6 + [1] * 6


def test_small_and_unconnected_graphs_are_cut_too():
    graphs = from_networkx([nx.empty_graph(3), nx.empty_graph(8), nx.path_graph(2)], labels=["a", "b", "a"])
    found = spectral_clusters(graphs, 4)
    assert found[:3].tolist() == [0, 1, 2]
    assert len(found) == 13


def test_survivors_are_those_of_the_ratios():
    model = model_for(GRAPHS, "gunet", ratios=(0.5, 0.5, 0.5)).eval()
    for count, part in zip(
        GRAPHS.node_counts.tolist(), poolings_survived(model, GRAPHS).split(GRAPHS.node_counts.tolist()), strict=True
    ):
        left = count
        for level in (1, 2, 3):
            left = -(-left // 2)
            assert int((part >= level).sum()) == left


def test_clusters_are_those_of_the_assignment():
    model = model_for(GRAPHS, "diffpool", num_clusters=3).eval()
    pool = model.encoder.pool
    batch = GRAPHS.batch(range(len(GRAPHS)))
    expected = pool.to_clusters(pool.assignment(Graphs.of(batch))).argmax(dim=1)
    assert torch.equal(diffpool_clusters(model, GRAPHS), expected)


def test_other_models_get_a_sentence():
    model = model_for(GRAPHS, "gcn")
    with pytest.raises(InputError, match="keeps all nodes"):
        poolings_survived(model, GRAPHS)
    with pytest.raises(InputError, match="makes no clusters"):
        diffpool_clusters(model, GRAPHS)
