import dataclasses

import pytest
from helpers.planted_runs import runs
from helpers.run_results import make_result

from ssread.data import GraphSet, load
from ssread.evaluate import Store, export
from ssread.evaluate.trainer import Trainer
from ssread.train import Training

TRAINING = Training(epochs=2)


class Instant:
    """Returns made-up results at once, the last run first, and counts them."""

    device = "cpu"

    def __init__(self):
        self.trained = []

    def train(self, graphs, runs, training):
        for run in reversed(runs):
            self.trained.append((run, training))
            yield dataclasses.replace(make_result(run.seed, run.fold), run=run)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return load("planted", num_graphs=12, seed=1)


def test_a_training_that_is_stored_is_not_repeated(graphs, tmp_path):
    runner, several = Instant(), runs(4)
    with Store(tmp_path / "store.sqlite") as store:
        Trainer(graphs, runner, store).train([(run, TRAINING) for run in several[:2]])
        Trainer(graphs, runner, store).train([(run, TRAINING) for run in several])
    assert sorted(run.fold for run, _ in runner.trained) == [0, 1, 2, 3]


@pytest.mark.parametrize("only_accuracy", [True, False])
def test_trainings_from_a_csv_file_count_where_accuracies_are_enough(graphs, only_accuracy, tmp_path):
    """Not where predictions are needed, nor where the metric that chose the epoch is in the curves."""
    runner, (run,) = Instant(), runs(1)
    trainings = [(run, dataclasses.replace(TRAINING, selection=rule)) for rule in ("accuracy", "seen", "roc_auc")]
    with Store(tmp_path / "whole.sqlite") as whole, Store(tmp_path / "filled.sqlite") as filled:
        Trainer(graphs, runner, whole).train(trainings)
        export(whole, tmp_path / "runs.csv")
        filled.merge(tmp_path / "runs.csv")
        again, calls = Instant(), []
        trainer = Trainer(graphs, again, filled, lambda *call: calls.append(call[:2]), only_accuracy)
        trainer.train(trainings)
        assert again.trained == (trainings[2:] if only_accuracy else trainings)
        assert calls == ([(2, 3), (3, 3)] if only_accuracy else [(0, 3), (1, 3), (2, 3), (3, 3)])
        complete = [result.complete for _, training in trainings for result in trainer.results([run], training)]
        assert complete == [not only_accuracy, not only_accuracy, True]
        assert len(filled) == 3


def test_the_same_run_trained_in_another_way_is_another_training(graphs, tmp_path):
    runner, (run,) = Instant(), runs(1)
    longer = dataclasses.replace(TRAINING, epochs=3)
    with Store(tmp_path / "store.sqlite") as store:
        Trainer(graphs, runner, store).train([(run, TRAINING), (run, longer), (run, TRAINING)])
    assert runner.trained == [(run, TRAINING), (run, longer)]


def test_the_callback_counts_stored_and_later_trainings(graphs, tmp_path):
    calls, several = [], runs(4)
    with Store(tmp_path / "store.sqlite") as store:
        Trainer(graphs, Instant(), store).train([(several[0], TRAINING)])
        trainer = Trainer(graphs, Instant(), store, lambda done, total, result: calls.append((done, total, result)))
        trainer.train([(run, TRAINING) for run in several[:3]], later=1)
        trainer.train([(run, TRAINING) for run in several])
    assert [call[:2] for call in calls] == [(1, 4), (2, 4), (3, 4), (3, 4), (4, 4)]
    assert [result is None for _, _, result in calls] == [True, False, False, True, False]


def test_results_come_in_the_order_of_the_runs(graphs, tmp_path):
    several = runs(4)
    with Store(tmp_path / "store.sqlite") as store:
        trainer = Trainer(graphs, Instant(), store)
        trainer.train([(run, TRAINING) for run in several])
        assert [result.run for result in trainer.results(several[::-1], TRAINING)] == several[::-1]
