"""Choosing a model: by held-out scores alone, its quality from the test folds."""

import math

import numpy as np
import pytest
from helpers.small_models import graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.apply.model_choice import choose
from ssread.apply.search import Candidate, num_trainings
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

    def __init__(self, accuracies, failing=(), folds=FOLDS):
        self.accuracies, self.failing, self.folds, self.trained = accuracies, failing, folds, 0

    def train(self, data, runs, training):
        for run in runs:
            self.trained += 1
            ids = np.arange(run.fold, len(data), self.folds)
            failed = run.model["name"] in self.failing
            accuracy = math.nan if failed else self.accuracies[run.model["name"]]
            probabilities = np.tile(np.array([[0.9, 0.1]], dtype=np.float32), (len(ids), 1))
            yield RunResult(
                run, 1, 1, accuracy, 0.5, ids, data.y[ids].numpy(), probabilities, failed="not a number" * failed
            )


def chosen(runner, folder, names=("gcn", "gin"), folds=FOLDS):
    tried = [Candidate({"name": name, "readout": "global", "dropout": 0.0}, 0.001) for name in names]
    settings = {"folds": folds, "seed": 0, "balanced": False, "split": "random"}
    with Store(folder / "results.sqlite") as store:
        return choose(DATA, tried, Training(epochs=1), **settings, runner=runner, store=store)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 10), min_size=3, max_size=3))
def test_the_best_held_out_score_wins(tmp_path_factory, scores):
    names = ("gcn", "gin", "dgcnn")
    runner = Scripted({name: score / 10 for name, score in zip(names, scores, strict=True)})
    choice = chosen(runner, tmp_path_factory.mktemp("choice"), names)
    assert choice.candidate.model["name"] == names[int(np.argmax(scores))], "ties: the first"
    found = choice.cross_validation
    assert [candidate["score"] for candidate in found["candidates"]] == [score / 10 for score in scores]
    assert sum(candidate["chosen"] for candidate in found["candidates"]) == 1


def test_the_quality_is_that_of_the_test_folds(tmp_path):
    choice = chosen(Scripted({"gcn": 1.0, "gin": 0.2}), tmp_path)
    found = choice.cross_validation
    share = float((DATA.y == 0).float().mean())
    assert found["graphs"] == 20
    assert found["metrics"]["accuracy"]["mean"] == pytest.approx(share)
    assert found["recall"] == dict(zip(DATA.class_names, (1.0, 0.0), strict=True))
    assert found["majority"] == max(share, 1 - share)
    assert sorted(np.concatenate([fold.ids for fold in choice.folds])) == list(range(20))


def test_a_model_that_failed_is_not_chosen(tmp_path):
    accuracies = {"gcn": 1.0, "gin": 0.1}
    choice = chosen(Scripted(accuracies, failing=("gcn",)), tmp_path)
    assert choice.candidate.model["name"] == "gin"
    with pytest.raises(InputError, match="Every training on planted failed: not a number"):
        chosen(Scripted(accuracies, failing=("gcn", "dgcnn")), tmp_path, ("gcn", "dgcnn"))


def test_what_the_store_has_is_not_trained_again(tmp_path):
    accuracies = {"gcn": 0.5, "gin": 0.6}
    first, again = Scripted(accuracies), Scripted(accuracies)
    assert chosen(first, tmp_path).cross_validation == chosen(again, tmp_path).cross_validation
    assert (first.trained, again.trained) == (4, 0)


def test_worse_candidates_are_trained_on_fewer_folds(tmp_path):
    names = ("gcn", "gin", "dgcnn", "sagpool", "gunet", "structure_blind")
    runner = Scripted({name: number / 10 for number, name in enumerate(names)}, folds=4)
    choice = chosen(runner, tmp_path, names, folds=4)
    assert choice.candidate.model["name"] == "structure_blind"
    assert [one["folds"] for one in choice.cross_validation["candidates"]] == [1, 1, 1, 1, 4, 4]
    assert runner.trained == choice.cross_validation["trainings"] == num_trainings(6, 4) == 12
