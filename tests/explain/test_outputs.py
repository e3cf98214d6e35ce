"""What a model predicts, for every task, and what is known of graphs in the order of its outputs."""

from dataclasses import replace

import pytest
import torch
from helpers.labelled_graphs import NAMES, labelled
from helpers.small_models import untrained

from ssread.data import planted
from ssread.explain.outputs import Outputs, outputs_of, predictions
from ssread.models import model_for

GRAPHS = planted(6, seed=3, feature_noise=0.3)


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
@pytest.mark.parametrize("members", [1, 3])
def test_predictions_are_those_of_the_whole_trained_model(task, members, tmp_path):
    graphs = GRAPHS if task == "classification" else labelled(task)
    model = untrained(graphs, members)
    expected = model.predictions(graphs)
    assert torch.allclose(predictions(model, graphs), expected, atol=1e-5)
    model.save(tmp_path / "model")
    assert torch.allclose(predictions(tmp_path / "model", replace(graphs, y=None)), expected, atol=1e-5)
    assert predictions(model, graphs[:0]).shape == (0, 2)


def test_a_bare_classifier_predicts_what_the_graphs_are_labelled_with():
    graphs = labelled("multilabel")
    model = model_for(graphs, "gcn").eval()
    scores = model(graphs.batch(slice(None)))
    assert outputs_of(model, graphs) == Outputs("multilabel", NAMES)
    assert torch.allclose(predictions(model, graphs), scores.sigmoid(), atol=1e-5)
    without = replace(GRAPHS, y=None, class_names=())
    assert outputs_of(model_for(GRAPHS, "gcn"), without).texts == ["class 0", "class 1"]


def test_known_values_are_in_the_order_of_the_model():
    classes = replace(GRAPHS, y=torch.tensor([0, 1, 2, 0, 1, 2]), class_names=("b", "new", "a"))
    outputs = Outputs("classification", ("a", "b"))
    assert outputs.known(classes).tolist() == [1, -1, 0, 1, -1, 0]
    assert outputs.foreign(classes) == ["new"]
    graphs = labelled("regression")
    known = Outputs("regression", ("weight in kg", "height")).known(graphs)
    assert torch.equal(known[:, 0].nan_to_num(-1), graphs.y[:, 1].nan_to_num(-1))
    assert known[:, 1].isnan().all()
    assert Outputs("regression", ("weight in kg", "height")).foreign(graphs) == ["house"]
    assert outputs.known(graphs) is outputs.known(replace(GRAPHS, y=None)) is None
    assert outputs.foreign(graphs) == list(NAMES)
