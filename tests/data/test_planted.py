"""Planted graphs have the structure that their ground truth describes."""

import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import GraphMatcher
from torch_geometric.utils import to_networkx

from ssread.data.planted import CHUNK_SIZE, MOTIFS, planted
from ssread.errors import InputError


def motif_graph(kind: int) -> nx.Graph:
    return nx.Graph(list(MOTIFS.values())[kind - 1])


@settings(max_examples=25, deadline=None)
@given(
    num_motifs=st.integers(2, len(MOTIFS)),
    num_classes=st.integers(2, len(MOTIFS)),
    noise=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 2**32),
)
def test_the_nodes_marked_as_a_motif_are_that_motif(num_motifs: int, num_classes: int, noise: float, seed: int) -> None:
    num_classes = min(num_classes, num_motifs)
    graphs = planted(6, num_motifs, num_classes, nodes=(14, 20), noise=noise, seed=seed).validate()
    assert graphs.repairs == {}
    assert graphs.undirected
    for graph in graphs:
        network = to_networkx(graph, to_undirected=True)
        deciding = graph.deciding.nonzero().flatten().tolist()
        assert nx.is_isomorphic(network.subgraph(deciding), motif_graph(int(graph.motif)))
        assert (graph.position[deciding] == graph.motif).all()
        assert graph.y == graph.motif - 1  # there is no label noise
        if num_motifs > num_classes:
            distracting = (graph.position == graph.distractor).nonzero().flatten().tolist()
            assert num_classes < int(graph.distractor) <= num_motifs
            assert nx.is_isomorphic(network.subgraph(distracting), motif_graph(int(graph.distractor)))
        assert nx.is_connected(network)
        base = network.subgraph((graph.position == 0).nonzero().flatten().tolist())
        assert noise or nx.is_tree(base)
        assert 14 <= len(network) <= 20


def test_no_motif_contains_another_and_every_motif_has_a_cycle() -> None:
    graphs = {name: nx.Graph(edges) for name, edges in MOTIFS.items()}
    for (_, one), (_, other) in itertools.permutations(graphs.items(), 2):
        assert not GraphMatcher(one, other).subgraph_is_isomorphic()
    assert not any(nx.has_bridges(graph) for graph in graphs.values())


def test_the_same_seed_gives_the_same_graphs_and_another_seed_others() -> None:
    one, same, other = planted(50, seed=3), planted(50, seed=3), planted(50, seed=4)
    assert torch.equal(one.edge_index, same.edge_index)
    assert torch.equal(one.y, same.y)
    assert one.edge_index.shape != other.edge_index.shape or not torch.equal(one.edge_index, other.edge_index)


def test_size_and_order_are_independent_of_the_class() -> None:
    graphs = planted(4000, num_motifs=6, num_classes=2, nodes=(14, 24), seed=1)
    sizes = [graphs.node_counts[graphs.y == label].double().mean() for label in (0, 1)]
    assert abs(sizes[0] - sizes[1]) < 0.4
    first = graphs.node_columns["deciding"][graphs.node_ptr[:-1]].double().mean()
    anywhere = graphs.node_columns["deciding"].double().mean()
    assert abs(first - anywhere) < 0.04
    assert torch.bincount(graphs.y).tolist() == [2000, 2000]


def test_noise_adds_its_share_of_edges() -> None:
    clean, noisy = (planted(2000, noise=noise, seed=5).edge_index.size(1) for noise in (0.0, 0.2))
    # Drawn edges within a motif, self-loops and duplicates are left out.
    assert 1.13 < noisy / clean < 1.2


def test_label_noise_replaces_its_share_of_classes() -> None:
    graphs = planted(5000, num_motifs=5, num_classes=3, label_noise=0.3, seed=6)
    wrong = graphs.y != graphs.graph_columns["motif"] - 1
    assert abs(wrong.double().mean() - 0.3) < 0.03


def test_features_are_constant_or_types_with_the_given_share_of_noise() -> None:
    assert (planted(20).x == 1).all()
    graphs = planted(2000, feature_noise=0.5, seed=7)
    assert graphs.node_feature_names[:3] == ("type=base", "type=house", "type=cycle")
    right = (graphs.x.argmax(1) == graphs.node_columns["position"]).double().mean()
    assert abs(right - (0.5 + 0.5 / 5)) < 0.02
    exact = planted(20, feature_noise=0)
    assert torch.equal(exact.x.argmax(1), exact.node_columns["position"])


def test_more_graphs_than_one_chunk_are_joined() -> None:
    graphs = planted(CHUNK_SIZE + 100, nodes=13, num_motifs=4, seed=8).validate()
    assert len(graphs) == CHUNK_SIZE + 100
    last = graphs[-1]
    deciding = last.deciding.nonzero().flatten().tolist()
    assert nx.is_isomorphic(to_networkx(last, to_undirected=True).subgraph(deciding), motif_graph(int(last.motif)))
    assert graphs.ids[-1] == str(CHUNK_SIZE + 99)


def test_without_noise_triangles_are_in_houses_alone() -> None:
    graphs = planted(200, num_motifs=2, noise=0.0, seed=9)
    triangles = np.array([sum(nx.triangles(to_networkx(graph, to_undirected=True)).values()) for graph in graphs])
    assert ((triangles == 0) == (graphs.y.numpy() == 1)).all()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"num_graphs": 0}, "num_graphs is 0"),
        ({"num_motifs": 99}, "num_motifs is 99"),
        ({"num_classes": 1}, "num_classes is 1"),
        ({"num_classes": 5}, "num_classes is 5"),
        ({"nodes": 5}, "at least 13"),
        ({"nodes": (30, 20)}, "(30, 20)"),
        ({"nodes": (1, 2, 3)}, "nodes is (1, 2, 3)"),
        ({"num_graphs": 1e6}, "num_graphs is 1000000.0"),
        ({"seed": -1}, "seed is -1"),
        ({"noise": 1.5}, "noise is 1.5"),
        ({"label_noise": -1}, "label_noise is -1"),
        ({"feature_noise": float("nan")}, "feature_noise is nan"),
    ],
)
def test_wrong_arguments_get_a_sentence(options: dict, word: str) -> None:
    with pytest.raises(InputError, match=r"^planted: .*\.$") as caught:
        planted(**options)
    assert word in str(caught.value)
