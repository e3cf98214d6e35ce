"""How poolings group the nodes of a graph."""

import networkx as nx
import pytest
import torch

from ssread.data import from_networkx, planted
from ssread.errors import InputError
from ssread.explain import diffpool_clusters, poolings_survived, spectral_clusters
from ssread.models import Graphs, model_for

GRAPHS = planted(10, seed=4)


def test_spectral_clusters_are_numbered_from_0_by_their_first_node():
    parts = spectral_clusters(GRAPHS, 4).split(GRAPHS.node_counts.tolist())
    for part in parts:
        assert list(dict.fromkeys(part.tolist())) == list(range(int(part.max()) + 1))


def test_spectral_clusters_separate_cliques():
    cliques = from_networkx([nx.barbell_graph(6, 0)], labels=["a"])
    assert spectral_clusters(cliques, 2).tolist() == [0] * 6 + [1] * 6


def test_small_and_disconnected_graphs_have_clusters_too():
    graphs = from_networkx([nx.empty_graph(3), nx.empty_graph(8), nx.path_graph(2)], labels=["a", "b", "a"])
    clusters = spectral_clusters(graphs, 4)
    assert clusters[:3].tolist() == [0, 1, 2]
    assert len(clusters) == 13


def test_each_pooling_keeps_its_ratio_of_the_nodes():
    model = model_for(GRAPHS, "gunet", ratios=(0.5, 0.5, 0.5)).eval()
    for count, part in zip(
        GRAPHS.node_counts.tolist(), poolings_survived(model, GRAPHS).split(GRAPHS.node_counts.tolist()), strict=True
    ):
        left = count
        for level in (1, 2, 3):
            left = -(-left // 2)
            assert int((part >= level).sum()) == left


def test_the_cluster_of_a_node_is_the_largest_of_its_assignment():
    model = model_for(GRAPHS, "diffpool", num_clusters=3).eval()
    pool = model.encoder.pool
    batch = GRAPHS.batch(range(len(GRAPHS)))
    expected = pool.to_clusters(pool.assignment(Graphs.of(batch))).argmax(dim=1)
    assert torch.equal(diffpool_clusters(model, GRAPHS), expected)


def test_other_models_are_refused_with_a_sentence():
    model = model_for(GRAPHS, "gcn")
    with pytest.raises(InputError, match="keeps all nodes"):
        poolings_survived(model, GRAPHS)
    with pytest.raises(InputError, match="has no clusters"):
        diffpool_clusters(model, GRAPHS)
