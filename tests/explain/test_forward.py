"""Forward passes: rows and nodes, any number of graphs at once, and the classifier inside other objects."""

import pytest
import torch
from helpers.explained_models import in_double
from helpers.small_models import untrained

from ssread import SSReadClassifier, segment
from ssread.data import planted
from ssread.errors import InputError
from ssread.explain import forward
from ssread.explain.forward import classifier, forward_passes, node_vectors
from ssread.explain.outputs import predictions
from ssread.models import ARCHITECTURES, model_for

GRAPHS = planted(6, seed=3, feature_noise=0.3)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_values_of_kept_rows_are_distributed_over_the_nodes_without_loss(name):
    graphs = in_double(GRAPHS)
    (single_pass,) = forward_passes(model_for(graphs, name, readout="global").double(), graphs)
    rows = single_pass.encoding
    values = torch.randn(len(rows.x), 2, dtype=torch.double)
    nodes = single_pass.rows_to_nodes(values)
    assert nodes.shape == (len(graphs.x), 2)
    by_graph = segment.reduce_sum(nodes, single_pass.batch.batch, len(graphs))
    expected = segment.reduce_sum(values, rows.batch, len(graphs) + 1)[: len(graphs)]  # dropped rows come last
    assert torch.allclose(by_graph, expected)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_node_has_a_row_of_its_own_graph_or_none(name):
    (single_pass,) = forward_passes(model_for(GRAPHS, name), GRAPHS)
    row = single_pass.node_to_row()
    kept = row >= 0
    assert torch.equal(single_pass.encoding.batch[row[kept]], single_pass.batch.batch[kept])
    assert bool(kept.all()) == (name != "sagpool")  # the only one that drops nodes for good
    assert single_pass.rows_to_nodes(torch.ones(len(single_pass.encoding.x)))[~kept].eq(0).all()


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_number_of_graphs_per_pass_makes_no_difference(name, monkeypatch):
    model = model_for(GRAPHS, name)
    at_once = predictions(model, GRAPHS), node_vectors(model, GRAPHS)
    monkeypatch.setattr(forward, "NODES_PER_PASS", 1)
    assert len(list(forward_passes(model, GRAPHS))) == len(GRAPHS)
    one_by_one = predictions(model, GRAPHS), node_vectors(model, GRAPHS)
    for one, other in zip(at_once, one_by_one, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_predictions_and_vectors_are_those_of_the_model():
    model = model_for(GRAPHS, "gcn").eval()
    batch = GRAPHS.batch(range(len(GRAPHS)))
    assert torch.allclose(predictions(model, GRAPHS), model(batch).softmax(dim=1), atol=1e-6)
    assert torch.allclose(node_vectors(model, GRAPHS), model.encode(batch), atol=1e-6)


def test_without_graphs_the_results_are_empty():
    model = model_for(GRAPHS, "gcn", hidden_channels=8)
    assert predictions(model, GRAPHS[:0]).shape == (0, 2)
    assert node_vectors(model, GRAPHS[:0]).shape == (0, 8)


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_in_evaluation_mode_only_during_the_passes(training):
    model = model_for(GRAPHS, "gcn").train(training)
    passes = forward_passes(model, GRAPHS)
    next(passes)
    assert not model.training
    passes.close()
    assert model.training == training


def test_a_classifier_is_found_in_trained_models_their_folders_and_estimators(tmp_path):
    ensemble = untrained(GRAPHS, members=2)
    assert classifier(ensemble) is classifier(ensemble.models[0]) is ensemble.models[0]
    ensemble.save(tmp_path / "model")
    assert torch.equal(predictions(tmp_path / "model", GRAPHS), predictions(ensemble, GRAPHS))
    estimator = SSReadClassifier()
    estimator.model_ = ensemble
    assert classifier(estimator) is ensemble.models[0]


def test_anything_else_is_refused_with_a_sentence():
    with pytest.raises(InputError, match="A graph classifier, a trained model or its folder is needed, but 42"):
        classifier(42)
    with pytest.raises(InputError, match="nowhere"):
        classifier("nowhere")
