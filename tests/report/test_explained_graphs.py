"""The data of a page: the numbers of the model, within the limits of a page."""

import time
from dataclasses import replace

import pytest
import torch

from ssread.data import planted
from ssread.explain import activation, positions, probabilities
from ssread.models import ARCHITECTURES, model_for
from ssread.report import explain_graphs
from ssread.report.explained_graphs import MAX_GRAPHS, MAX_NODES, sample_graphs

GRAPHS = planted(5, seed=0, feature_noise=0.2)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_records_hold_the_numbers_of_the_model(name):
    model = model_for(GRAPHS, name)
    explained = explain_graphs(model, GRAPHS)
    sizes = GRAPHS.node_counts.tolist()
    aligned, activations = positions(model, GRAPHS).position.split(sizes), activation(model, GRAPHS).split(sizes)
    for number, record in enumerate(explained.graphs):
        assert record["id"] == GRAPHS.ids[number]
        assert record["class"] == GRAPHS.y[number]
        assert record["probabilities"] == (1000 * probabilities(model, GRAPHS)[number]).round().int().tolist()
        assert record["positions"] == aligned[number].tolist()
        assert len(record["coordinates"]) == 2 * sizes[number]
        assert len(record["bonds"]) == 3 * int(GRAPHS.edge_counts[number]) // 2
        scaled = torch.tensor(record["activations"]).T * record["largest_activation"] / 100
        assert torch.allclose(scaled, activations[number], atol=0.006 * record["largest_activation"])
    assert explained.total == len(explained.graphs) == 5
    assert len(explained.atlas) == len(explained.colours) == len(explained.map["prototypes"]) // 2 == 4


def test_points_of_the_map_are_nodes_of_graphs_on_the_page():
    explained = explain_graphs(model_for(GRAPHS, "gcn"), GRAPHS)
    points = list(zip(explained.map["graph"], explained.map["node"], strict=True))
    assert points == [(graph, node) for graph, size in enumerate(GRAPHS.node_counts.tolist()) for node in range(size)]


def test_accuracy_is_that_of_each_part():
    model = model_for(GRAPHS, "gcn")
    correct = (probabilities(model, GRAPHS).argmax(dim=1) == GRAPHS.y).double()
    assert explain_graphs(model, GRAPHS).accuracy == {"all graphs": pytest.approx(float(correct.mean()))}
    parts = {"training": torch.tensor([0, 3, 4]), "validation": torch.tensor([], dtype=torch.long)}
    explained = explain_graphs(model, GRAPHS, parts={**parts, "test": torch.tensor([1])})
    assert explained.accuracy == {"training": pytest.approx(float(correct[[0, 3, 4]].mean())), "test": correct[1]}
    assert [record["part"] for record in explained.graphs] == [0, 2, -1, 0, 0]


def test_a_model_with_the_global_readout_shows_activations_and_a_note():
    explained = explain_graphs(model_for(GRAPHS, "gcn", readout="global"), GRAPHS)
    assert explained.atlas == explained.colours == []
    assert "no positions" in explained.notes[0]
    assert "positions" not in explained.graphs[0]
    assert len(explained.graphs[0]["activations"]) == 2


def test_without_labels_there_is_no_accuracy_and_without_graphs_a_note():
    model = model_for(GRAPHS, "gcn")
    explained = explain_graphs(model, replace(GRAPHS, y=None))
    assert explained.accuracy == {}
    assert {record["class"] for record in explained.graphs} == {-1}
    explained = explain_graphs(model, GRAPHS[:0])
    assert explained.graphs == []
    assert explained.notes == ["The dataset has no graphs."]


@pytest.mark.slow
@pytest.mark.alone
def test_many_graphs_are_sampled_at_random():
    graphs = planted(10_000, seed=0)
    ids = sample_graphs(graphs)
    assert torch.equal(ids, sample_graphs(graphs))
    assert not torch.equal(ids, sample_graphs(graphs, seed=1))
    assert len(ids.unique()) == MAX_GRAPHS
    explained = explain_graphs(model_for(graphs, "gcn", hidden_channels=8), graphs)
    assert [record["id"] for record in explained.graphs] == [graphs.ids[number] for number in ids.tolist()]
    assert explained.total == 10_000


@pytest.mark.slow
@pytest.mark.alone
def test_of_large_graphs_fewer_are_sampled():
    graphs = planted(12, nodes=5000, noise=0.0)
    started = time.perf_counter()
    explained = explain_graphs(model_for(graphs, "gcn", hidden_channels=8), graphs)
    assert len(explained.graphs) == MAX_NODES // 5000
    assert time.perf_counter() - started < 60
