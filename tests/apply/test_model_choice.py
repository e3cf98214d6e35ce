"""Choosing a classifier: by held-out accuracy alone, its accuracy from the test folds."""

import math

import numpy as np
import pytest
from helpers.small_models import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.apply.model_choice import DROPOUT, candidates, choose
from ssread.errors import InputError
from ssread.evaluate import Store
from ssread.train.runs import RunResult, Training

FOLDS = 2
DATA = graphs(20)


class Scripted:
    """A runner whose results are given: the held-out accuracy of every model, and whether its trainings fail.

    All models answer class 0 for every test graph.
    """

    device = "cpu"

    def __init__(self, accuracies, failing=()):
        self.accuracies, self.failing, self.trained = accuracies, failing, 0

    def train(self, data, runs, training):
        for run in runs:
            self.trained += 1
            ids = np.arange(run.fold, len(data), FOLDS)
            failed = run.model["name"] in self.failing
            accuracy = math.nan if failed else self.accuracies[run.model["name"]]
            probabilities = np.tile(np.array([[0.9, 0.1]], dtype=np.float32), (len(ids), 1))
            yield RunResult(
                run, 1, 1, accuracy, 0.5, ids, data.y[ids].numpy(), probabilities, failed="not a number" * failed
            )


def chosen(runner, folder, names=("gcn", "gin")):
    models = [{"name": name, "readout": "global"} for name in names]
    settings = {"folds": FOLDS, "seed": 0, "balanced": False}
    with Store(folder / "results.sqlite") as store:
        return choose(DATA, models, Training(epochs=1), **settings, runner=runner, store=store)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 10), min_size=3, max_size=3))
def test_the_best_held_out_accuracy_wins(tmp_path_factory, scores):
    names = ("gcn", "gin", "dgcnn")
    runner = Scripted({name: score / 10 for name, score in zip(names, scores, strict=True)})
    choice = chosen(runner, tmp_path_factory.mktemp("choice"), names)
    assert choice.model["name"] == names[int(np.argmax(scores))], "ties: the first"
    found = choice.cross_validation
    assert [candidate["valid_accuracy"] for candidate in found["candidates"]] == [score / 10 for score in scores]
    assert sum(candidate["chosen"] for candidate in found["candidates"]) == 1


def test_the_accuracy_is_that_of_the_test_folds(tmp_path):
    found = chosen(Scripted({"gcn": 1.0, "gin": 0.2}), tmp_path).cross_validation
    share = float((DATA.y == 0).float().mean())
    assert found["graphs"] == 20
    assert found["accuracy"] == pytest.approx(share)
    assert found["interval"][0] < share < found["interval"][1]
    assert found["recall"] == dict(zip(DATA.class_names, (1.0, 0.0), strict=True))
    assert found["majority"] == max(share, 1 - share)


def test_a_classifier_that_failed_is_not_chosen(tmp_path):
    accuracies = {"gcn": 1.0, "gin": 0.1}
    choice = chosen(Scripted(accuracies, failing=("gcn",)), tmp_path)
    assert choice.model["name"] == "gin"
    with pytest.raises(InputError, match="Every training on planted failed: not a number"):
        chosen(Scripted(accuracies, failing=("gcn", "dgcnn")), tmp_path, ("gcn", "dgcnn"))


def test_what_the_store_has_is_not_trained_again(tmp_path):
    accuracies = {"gcn": 0.5, "gin": 0.6}
    first, again = Scripted(accuracies), Scripted(accuracies)
    assert chosen(first, tmp_path) == chosen(again, tmp_path)
    assert (first.trained, again.trained) == (4, 0)


def test_what_is_named_is_fixed_and_the_rest_varies():
    usual = candidates(None, None, None, 4)
    assert [(model["name"], model["readout"]) for model in usual] == [
        (name, readout) for name in ("gcn", "gin") for readout in ("global", "ssread")
    ]
    assert candidates("gunet", "ssread", ["max", "mean"], 8) == [
        {
            "name": "gunet",
            "readout": "ssread",
            "aggr": ["max", "mean"],
            "num_positions": 8,
            "dropout": DROPOUT,
            "normalize": True,
        }
    ]
