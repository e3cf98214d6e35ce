"""The baselines without a neural network; kernels against a slow count of subtrees and paths."""

import builtins
from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from ssread import InputError
from ssread.baselines import KernelSVM, MajorityClass, fit_svm, kernel_matrix
from ssread.data.planted import planted

pytest.importorskip("grakel", reason="pip install 'ssread[kernels]'")


def networks(graphs):
    """Every graph as a NetworkX graph with the feature row as its node label."""
    for number in range(len(graphs)):
        batch = graphs.batch([number])
        network = nx.Graph()
        for node, row in enumerate(batch.x.tolist()):
            network.add_node(node, label=str(row))
        network.add_edges_from(batch.edge_index.T.tolist())
        yield network


def subtrees(network, iterations=5) -> Counter:
    """Weisfeiler-Lehman: labels, and in every iteration labels with those of the neighbours."""
    labels = dict(network.nodes(data="label"))
    found = Counter((0, label) for label in labels.values())
    for iteration in range(1, iterations + 1):
        labels = {n: str((labels[n], sorted(labels[m] for m in network[n]))) for n in network}
        found.update((iteration, label) for label in labels.values())
    return found


def paths(network) -> Counter:
    """The length of every shortest path and the labels at its ends."""
    labels = dict(network.nodes(data="label"))
    return Counter(
        (labels[a], labels[b], length)
        for a, lengths in nx.all_pairs_shortest_path_length(network)
        for b, length in lengths.items()
        if a != b
    )


def similarities(counts: list[Counter]) -> np.ndarray:
    dots = np.array([[sum(n * b[key] for key, n in a.items()) for b in counts] for a in counts], dtype=float)
    lengths = np.sqrt(np.diag(dots))
    return dots / np.outer(lengths, lengths)


@pytest.mark.parametrize(("kernel", "count"), [("wl", subtrees), ("sp", paths)])
def test_kernels_count_what_they_should(kernel, count):
    graphs = planted(8, nodes=(15, 18), feature_noise=0.5, seed=2)
    expected = similarities([count(network) for network in networks(graphs)])
    np.testing.assert_allclose(kernel_matrix(graphs, kernel), expected)


@pytest.mark.parametrize("kernel", ["wl", "sp"])
def test_kernels_learn_planted_motifs(kernel):
    graphs = planted(120, num_motifs=2, noise=0.0, feature_noise=0.1, seed=3)
    train, test = graphs[0:80], graphs[80:120]
    accuracy = KernelSVM(kernel).fit(train).score(test)
    assert accuracy > 0.9 > MajorityClass().fit(train).score(test)


def test_similarities_with_new_graphs_are_those_of_the_whole_matrix():
    graphs = planted(30, feature_noise=0.5, seed=4)
    train, test = list(range(20)), list(range(20, 30))
    whole = kernel_matrix(graphs, "wl")
    svm = fit_svm(whole[np.ix_(train, train)], graphs.y[train].numpy())
    expected = svm.predict(whole[np.ix_(test, train)])
    assert KernelSVM("wl").fit(graphs[train]).predict(graphs[test]).tolist() == expected.tolist()


@pytest.mark.parametrize("kernel", ["wl", "sp"])
def test_graphs_without_nodes_or_edges(kernel):
    graphs = planted(6, nodes=15, seed=5)
    empty_first = replace(
        graphs,
        node_ptr=torch.cat([torch.zeros(1, dtype=torch.long), graphs.node_ptr]),
        edge_ptr=torch.cat([torch.zeros(1, dtype=torch.long), graphs.edge_ptr]),
        y=torch.cat([graphs.y[:1], graphs.y]),
        ids=(),
        node_columns={},
        graph_columns={},
    )
    matrix = kernel_matrix(empty_first, kernel)
    assert (matrix[0] == 0).all()
    np.testing.assert_allclose(matrix[1:, 1:], kernel_matrix(graphs, kernel))
    assert len(KernelSVM(kernel).fit(empty_first).predict(empty_first)) == 7
    edgeless = replace(graphs, edge_index=graphs.edge_index[:, :0], edge_ptr=torch.zeros_like(graphs.edge_ptr))
    assert np.isfinite(kernel_matrix(edgeless, kernel)).all()
    with pytest.raises(InputError, match="none of the graphs has a node"):
        kernel_matrix(empty_first[[0]], kernel)


def test_majority():
    graphs = replace(planted(9, seed=0), y=torch.tensor([0, 1, 1, 0, 1, 1, 0, 1, 1]))
    majority = MajorityClass().fit(graphs)
    assert majority.predict(graphs).tolist() == [1] * 9
    assert majority.score(graphs) == pytest.approx(6 / 9)


def test_few_or_equal_labels():
    gram = np.eye(3)
    assert fit_svm(gram, np.array([1, 1, 1])).predict(gram).tolist() == [1, 1, 1]
    assert fit_svm(gram, np.array([0, 1, 1])).predict(gram).shape == (3,)


def test_wrong_input_is_explained(monkeypatch):
    graphs = planted(4, seed=0)
    with pytest.raises(InputError, match=r"no graph kernel 'rbf'. Choose one of wl, sp"):
        kernel_matrix(graphs, "rbf")
    with pytest.raises(InputError, match="planted has no labels"):
        MajorityClass().fit(replace(graphs, y=None))
    real_import = builtins.__import__

    def without_grakel(name, *args, **kwargs):
        if name.startswith("grakel"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_grakel)
    with pytest.raises(InputError, match=r"A graph kernel needs grakel: pip install 'ssread\[kernels\]'."):
        kernel_matrix(graphs)
