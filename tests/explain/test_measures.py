"""Measures against slow oracles, and the scores of a trained model."""

import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from helpers.explained_models import trained
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from ssread.data import planted
from ssread.explain import activation, predictions
from ssread.explain.measures import agreement, average_precision, fidelity, induced_subgraphs, localisation
from ssread.models import model_for

nodes = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4), st.booleans()), min_size=2, max_size=25
)


@given(nodes)
def test_localisation_is_the_auc_of_every_graph(rows):
    graph, scores, _, truth = (torch.tensor(column) for column in zip(*rows, strict=True))
    auc = localisation(scores.float(), truth, graph, 4)
    for number in range(4):
        own = graph == number
        if truth[own].any() and not truth[own].all():
            assert auc[number].item() == pytest.approx(roc_auc_score(truth[own], scores[own]))
        else:
            assert auc[number].isnan()


@given(nodes)
def test_average_precision_is_that_of_every_graph(rows):
    graph, scores, _, truth = (torch.tensor(column) for column in zip(*rows, strict=True))
    precision = average_precision(scores.float(), truth, graph, 4)
    for number in range(4):
        own = graph == number
        if truth[own].any():
            assert precision[number].item() == pytest.approx(average_precision_score(truth[own], scores[own]))
        else:
            assert precision[number].isnan()


@given(nodes)
def test_consistency_counts_pairs_of_nodes_in_different_graphs(rows):
    graph, role, cluster, _ = (torch.tensor(column) for column in zip(*rows, strict=True))
    pairs = [(a, b) for a, b in itertools.combinations(range(len(rows)), 2) if graph[a] != graph[b]]
    rates, weights = [], []
    for number in range(4):
        own = [(a, b) for a, b in pairs if role[a] == number and role[b] == number]
        if own:
            rates.append(np.mean([bool(cluster[a] == cluster[b]) for a, b in own]))
            weights.append(int((role == number).sum()))
    consistency = agreement(cluster, role, graph).consistency
    if not rates:
        assert np.isnan(consistency)
        return
    chance = np.mean([bool(cluster[a] == cluster[b]) for a, b in pairs])
    expected = (np.average(rates, weights=weights) - chance) / (1 - chance) if chance < 1 else 0.0
    assert consistency == pytest.approx(expected, abs=1e-9)


def test_equal_partitions_agree_and_unknown_roles_are_ignored():
    role = torch.tensor([0, 1, 2, 0, 1, 2, -1])
    graph = torch.tensor([0, 0, 0, 1, 1, 1, 1])
    equal = agreement(torch.tensor([2, 0, 1, 2, 0, 1, 5]), role, graph)
    assert equal.mutual_information == pytest.approx(1)
    assert equal.purity == 1
    assert equal.consistency == pytest.approx(1)
    assert np.isnan(agreement(role, torch.full((7,), -1), graph).purity)


def test_induced_subgraphs_are_those_of_networkx():
    graphs = planted(5, seed=2)
    kept = torch.rand(graphs.x.size(0)) < 0.5
    smaller = induced_subgraphs(graphs, kept)
    smaller.validate()
    for number, part in enumerate(kept.split(graphs.node_counts.tolist())):
        whole = nx.Graph(graphs[number].edge_index.T.tolist())
        whole.add_nodes_from(range(int(graphs.node_counts[number])))
        expected = whole.subgraph(part.nonzero().squeeze(1).tolist())
        assert smaller[number].num_nodes == expected.number_of_nodes()
        assert smaller[number].edge_index.size(1) == 2 * expected.number_of_edges()


def test_fidelity_compares_the_whole_graph_with_an_empty_one_when_all_nodes_are_on_top():
    graphs = planted(4, seed=2)
    model = model_for(graphs, "gcn").eval()
    scores = torch.rand(graphs.x.size(0))
    target = torch.zeros(4, dtype=torch.long)
    whole = predictions(model, graphs)[:, 0]
    empty = predictions(model, induced_subgraphs(graphs, torch.zeros(graphs.x.size(0), dtype=torch.bool)))[:, 0]
    every = fidelity(model, graphs, scores, target, graphs.node_counts)
    assert torch.allclose(every.plus, whole - empty)
    assert torch.allclose(every.minus, torch.zeros(4), atol=1e-6)


@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_a_trained_model_finds_the_deciding_motif(readout):
    model, test = trained(readout)
    graph = torch.arange(len(test)).repeat_interleave(test.node_counts)
    truth = test.node_columns["deciding"].bool()
    scores = activation(model, test, test.y)
    assert localisation(scores, truth, graph, len(test)).mean() > 0.95
    sizes = torch.bincount(graph[truth], minlength=len(test))
    by_activation = fidelity(model, test, scores, test.y, sizes)
    by_chance = fidelity(model, test, torch.rand(len(graph)), test.y, sizes)
    assert by_activation.plus.mean() > by_chance.plus.mean() + 0.2
    assert by_activation.minus.mean() < by_chance.minus.mean()
