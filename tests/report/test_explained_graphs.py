"""The data of a page: the numbers of the model, within the limits of a page."""

import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.labelled_graphs import NAMES, labelled
from helpers.small_models import untrained

from ssread.apply.reference import Reference
from ssread.data import from_smiles, planted
from ssread.explain import activation, consensus, positions, predictions
from ssread.explain.meanings import describe_positions
from ssread.metrics import each
from ssread.models import ARCHITECTURES, model_for
from ssread.report import explain_graphs, explained_graphs
from ssread.report.explained_graphs import sample_graphs

GRAPHS = planted(5, seed=0, feature_noise=0.2)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_records_hold_the_numbers_of_the_model(name):
    model = model_for(GRAPHS, name)
    explained = explain_graphs(model, GRAPHS)
    sizes = GRAPHS.node_counts.tolist()
    scores = model.eval()(GRAPHS.batch(slice(None))).detach()
    aligned, activations = positions(model, GRAPHS).position.split(sizes), activation(model, GRAPHS).split(sizes)
    for number, record in enumerate(explained.graphs):
        assert record["id"] == GRAPHS.ids[number]
        assert record["known"] == [GRAPHS.y[number]]
        assert record["predicted"] == [predictions(model, GRAPHS)[number].argmax()]
        assert record["probabilities"] == (1000 * predictions(model, GRAPHS)[number]).round().int().tolist()
        assert record["positions"] == aligned[number].tolist()
        assert len(record["coordinates"]) == 2 * sizes[number]
        assert len(record["bonds"]) == 3 * int(GRAPHS.edge_counts[number]) // 2
        largest = torch.tensor(record["largest_activation"])
        scaled = torch.tensor(record["activations"]).T * largest / 1000
        assert torch.allclose(scaled, activations[number], atol=0.0006 * float(largest.max()))
        assert torch.allclose(torch.tensor(record["terms"]).sum(dim=1), scores[number], rtol=1e-3, atol=1e-4)
    assert explained.total == len(explained.graphs) == 5
    assert len(explained.levels[0]["cards"]) == len(explained.map["prototypes"]) // 2 == 4
    assert [len(set(level["groups"])) for level in explained.levels] == [4, 3, 2]
    for level in explained.levels:
        assert len(set(level["colours"])) == len({card["name"] for card in level["cards"]}) == len(level["cards"])


def test_points_of_the_map_are_nodes_of_graphs_on_the_page():
    explained = explain_graphs(model_for(GRAPHS, "gcn"), GRAPHS)
    points = list(zip(explained.map["graph"], explained.map["node"], strict=True))
    assert points == [(graph, node) for graph, size in enumerate(GRAPHS.node_counts.tolist()) for node in range(size)]


def test_accuracy_is_that_of_each_part():
    model = model_for(GRAPHS, "gcn")
    correct = (predictions(model, GRAPHS).argmax(dim=1) == GRAPHS.y).double()

    def text(ids):
        return [f"accuracy {100 * float(correct[ids].mean()):.1f} %"]

    assert explain_graphs(model, GRAPHS).success == {"all graphs": text(slice(None))}
    parts = {"training": torch.tensor([0, 3, 4]), "validation": torch.tensor([], dtype=torch.long)}
    explained = explain_graphs(model, GRAPHS, parts={**parts, "test": torch.tensor([1])})
    assert explained.success == {"training": text([0, 3, 4]), "test": text([1])}
    assert [record["part"] for record in explained.graphs] == [0, 2, -1, 0, 0]


def test_a_model_with_the_global_readout_shows_activations_and_a_note():
    explained = explain_graphs(model_for(GRAPHS, "gcn", readout="global"), GRAPHS)
    assert explained.levels == []
    assert explained.term_names == ["all nodes", "rest"]
    assert "no positions" in explained.notes[0]
    assert "positions" not in explained.graphs[0]
    assert len(explained.graphs[0]["activations"]) == 2


def test_without_labels_there_is_no_accuracy_and_without_graphs_a_note():
    model = model_for(GRAPHS, "gcn")
    explained = explain_graphs(model, replace(GRAPHS, y=None))
    assert explained.success == {}
    assert all(record["known"] == [] for record in explained.graphs)
    explained = explain_graphs(model, GRAPHS[:0])
    assert explained.graphs == []
    assert explained.notes == ["The dataset has no graphs."]


def test_labels_are_shown_with_their_probabilities_and_unknown_ones_as_unknown():
    graphs = labelled("multilabel", 12)
    model = untrained(graphs)
    explained = explain_graphs(model, graphs)
    probabilities = predictions(model, graphs)
    assert explained.task == "multilabel"
    assert explained.output_names == list(NAMES)
    for number, record in enumerate(explained.graphs):
        assert record["known"] == [graphs.y[number, 0], None if number % 3 == 0 else graphs.y[number, 1]]
        assert record["predicted"] == (probabilities[number] > 0.5).int().tolist()
    accuracy = each("accuracy", graphs.y.numpy(), probabilities.numpy())
    for text, share in zip(explained.success["all graphs"], accuracy, strict=True):
        assert f"accuracy {100 * share:.1f} %" in text


@pytest.mark.parametrize(("aggr", "adds_up"), [("sum", True), ("mean", True), ("attention", True), ("set2set", False)])
def test_numbers_are_shown_in_their_unit(aggr, adds_up):
    graphs = labelled("regression", 12)
    model = untrained(graphs, 2, aggr=aggr)
    for member in model.models:
        member.head[-1].mean.copy_(torch.tensor([-0.5, 170.0]))
        member.head[-1].scale.copy_(torch.tensor([0.5, 12.0]))
    explained = explain_graphs(model, graphs)
    predicted = predictions(model, graphs)
    sizes = graphs.node_counts.tolist()
    for record, numbers, activations in zip(
        explained.graphs, predicted, activation(model, graphs).split(sizes), strict=True
    ):
        assert record["predicted"] == pytest.approx(numbers.tolist(), rel=1e-4)
        assert record["largest_activation"] == pytest.approx(activations.abs().amax(0).tolist(), rel=1e-4)
        assert max(map(max, np.abs(record["activations"]))) == 1000
        assert sum(record["terms"][1]) == pytest.approx(float(numbers[1]), abs=0.01)
        if adds_up:
            rest = float(numbers[1]) - explained.same_rest[1]
            assert float(activations[:, 1].sum()) == pytest.approx(rest, abs=0.01)
    assert len(explained.same_rest) == 2 * adds_up
    assert bool(explained.left_over) == (not adds_up)
    (error,) = [text for text in explained.success["all graphs"][1].split(", ") if "mean absolute" in text]
    assert float(error.split()[-1]) == pytest.approx(each("mae", graphs.y.numpy(), predicted.numpy())[1], rel=1e-2)


def test_an_ensemble_is_explained_as_a_whole():
    model = untrained(GRAPHS, members=3)
    explained = explain_graphs(model, GRAPHS)
    assert [record["predicted"][0] for record in explained.graphs] == model.predictions(GRAPHS).argmax(dim=1).tolist()
    assert any("the mean over 3 models; a node has the position that most of them" in note for note in explained.notes)
    aligned = consensus(model, GRAPHS)
    assert [k for record in explained.graphs for k in record["positions"]] == aligned.position.tolist()
    assert not explain_graphs(untrained(GRAPHS), GRAPHS).notes


def test_classes_that_are_called_by_numbers_are_spelt_out():
    numbered = replace(GRAPHS, class_names=("0", "1"))
    assert explain_graphs(model_for(GRAPHS, "gcn"), numbered).output_names == ["class 0", "class 1"]


def test_labels_of_another_kind_are_not_compared():
    model = untrained(GRAPHS)
    explained = explain_graphs(model, replace(GRAPHS, class_names=("tree", "house")))
    assert [record["known"] for record in explained.graphs] == [[None if y == 0 else 0] for y in GRAPHS.y.tolist()]
    assert any("does not predict tree" in note for note in explained.notes)


@pytest.mark.parametrize("hops", [None, 0, 2])
def test_the_page_knows_where_positions_come_from(hops):
    settings = {} if hops is None else {"position_hops": hops}
    assert explain_graphs(model_for(GRAPHS, "gcn", **settings), GRAPHS[:3]).position_hops == hops


def test_meanings_of_positions_come_from_the_model_where_it_has_them():
    model = untrained(GRAPHS)
    assert not explain_graphs(model, GRAPHS[:3]).stored_meanings
    model.summary |= describe_positions(model, GRAPHS)
    explained = explain_graphs(model, GRAPHS[:3])
    assert explained.stored_meanings
    for card, meaning in zip(explained.levels[0]["cards"], model.summary["positions"], strict=True):
        assert (card["name"], list(card["activations"])) == (meaning["name"], meaning["activations"])


def test_the_nearest_training_graphs_are_shown_with_what_is_known_of_them():
    pytest.importorskip("rdkit")
    molecules = from_smiles(["CCO", "CCCO", "c1ccccc1", "c1ccccc1C", "CCN"], ["yes", "yes", "no", "no", "yes"])
    model = untrained(molecules)
    assert explain_graphs(model, molecules).references == []
    model.reference = Reference.of(model, molecules)
    explained = explain_graphs(model, molecules)
    _, numbers = model.reference.nearest(torch.cat([o[0].vectors for _, o in model.run(molecules)]), 5)
    for graph, record in enumerate(explained.graphs):
        near = [explained.references[number]["id"] for number in record["nearest"][::2]]
        expected = [molecules.ids[number] for number in numbers[graph].tolist() if number != graph]
        assert near == expected[:3]
        assert record["nearest"][1::2] == sorted(record["nearest"][1::2])
    assert {reference["known"] for reference in explained.references} == {"yes", "no"}
    assert all(reference["picture"]["molecule"] for reference in explained.references)


@pytest.mark.slow
def test_many_graphs_are_sampled_at_random(monkeypatch):
    monkeypatch.setattr(explained_graphs, "MAX_GRAPHS", 500)
    graphs = planted(2_000, seed=0)
    ids = sample_graphs(graphs)
    assert torch.equal(ids, sample_graphs(graphs))
    assert not torch.equal(ids, sample_graphs(graphs, seed=1))
    assert len(ids.unique()) == 500
    explained = explain_graphs(model_for(graphs, "gcn", hidden_channels=8), graphs)
    assert [record["id"] for record in explained.graphs] == [graphs.ids[number] for number in ids.tolist()]
    assert explained.total == 2_000


def test_the_limits_are_graphs_nodes_and_what_drawing_takes(monkeypatch):
    graphs = planted(40, nodes=20, noise=0.0)
    assert torch.equal(sample_graphs(graphs), torch.arange(40))
    sizes = graphs.node_counts
    for limit, costs in (("MAX_GRAPHS", sizes * 0 + 1), ("MAX_NODES", sizes), ("MAX_PAIRS", sizes**2)):
        with monkeypatch.context() as patched:
            patched.setattr(explained_graphs, limit, int(costs.sum()) // 2)
            ids = sample_graphs(graphs)
            assert 15 <= len(ids) <= 20
            assert int(costs[ids].sum()) <= int(costs.sum()) // 2
            assert torch.equal(ids, ids.sort().values)


@pytest.mark.slow
def test_of_large_graphs_fewer_are_sampled(monkeypatch):
    monkeypatch.setattr(explained_graphs, "MAX_NODES", 40_000)
    graphs = planted(12, nodes=5000, noise=0.0)
    started = time.perf_counter()
    explained = explain_graphs(model_for(graphs, "gcn", hidden_channels=8), graphs)
    assert len(explained.graphs) == 40_000 // 5000
    assert time.perf_counter() - started < 60
