"""How much is left and how long it will take: counted once, measured where possible, unknown where not."""

from pathlib import Path

import numpy as np
import pytest

from ssread.evaluate import DatasetId, Store
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.protocol import trainings
from ssread.evaluate.runners import CPURunner
from ssread.paper.remaining import Remaining, remaining
from ssread.paper.stored_results import StoredResults
from ssread.train.runs import Run, RunResult

SETTINGS = {"folds": 2, "seeds": 1, "positions": 2, "dropout": 0.0}
GCN, GIN = Experiment.of({"arch": "gcn", **SETTINGS}), Experiment.of({"arch": "gin", **SETTINGS})


class Cluster:
    device = "cpu"


def add(store: Store, dataset: str, runs: list[Run], seconds: float, device: str = "cpu") -> None:
    labels, vectors = np.zeros(2, dtype=int), np.eye(2, dtype=np.float32)
    for run in runs:
        result = RunResult(run, 1, 1, 0.5, 0.5, np.arange(2), labels, vectors, seconds=seconds)
        store.add(DatasetId(dataset, "0" * 64), result, GCN.training, device)


def left(path: Path, wanted: list[tuple[str, Experiment]], runner: object) -> Remaining:
    with Store(path) as store:
        rows = store.table()
    return remaining([StoredResults(rows, *pair) for pair in wanted], runner)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results.sqlite")


def test_without_a_training_the_time_is_unknown(store):
    found = left(store.path, [("MUTAG", GCN)], CPURunner(2))
    assert found == Remaining(0, 4, None)
    assert str(found).startswith("0 trainings done, 4 to come, time unknown")


def test_the_time_is_that_of_the_same_dataset_and_architecture(store):
    add(store, "MUTAG", trainings(GCN, "gcn", "sum", None), 10.0)
    add(store, "NCI1", trainings(GCN, "gcn", "sum", None), 1000.0)
    found = left(store.path, [("MUTAG", GCN)], CPURunner(2))
    assert found == Remaining(2, 2, 2 * 10.0 / 2), "two trainings, two workers"
    assert "about 10 seconds" in str(found)


def test_what_was_never_measured_takes_the_average(store):
    add(store, "MUTAG", trainings(GCN, "gcn", "sum", None), 10.0)
    add(store, "NCI1", trainings(GCN, "gcn", "sum", None), 1000.0)
    found = left(store.path, [("MUTAG", GCN), ("NCI1", GCN), ("NCI1", GIN)], CPURunner(1))
    assert found == Remaining(4, 8, 2 * 10.0 + 2 * 1000.0 + 4 * 505.0, unmeasured=4)
    assert str(found).endswith("about 67 minutes, 4 of them by the average of all so far")


def test_another_kind_of_device_tells_nothing(store):
    add(store, "MUTAG", trainings(GCN, "gcn", "sum", None), 0.1, device="cuda")
    assert left(store.path, [("MUTAG", GCN)], CPURunner(2)).seconds is None


def test_a_cluster_may_change_its_size(store):
    add(store, "MUTAG", trainings(GCN, "gcn", "sum", None), 10.0)
    found = left(store.path, [("MUTAG", GCN)], Cluster())
    assert found.seconds is None
    assert "on a cluster" in str(found)


def test_a_training_that_two_experiments_need_counts_once(store):
    add(store, "MUTAG", trainings(GCN, "gcn", "sum", None), 10.0)
    assert left(store.path, [("MUTAG", GCN), ("MUTAG", GCN)], CPURunner(1)) == Remaining(2, 2, 20.0)
    add(store, "MUTAG", trainings(GCN, "gcn", "sum", 2), 10.0)
    assert left(store.path, [("MUTAG", GCN), ("MUTAG", GCN)], CPURunner(1)) == Remaining(4, 0, 0.0)


def test_folds_that_share_an_encoder_take_its_time_once(store):
    encoders = Experiment.of({"learn": "graphcl", "folds": 5, "seeds": 1, "positions": 2, "epochs": 150})
    runs = trainings(encoders, "gin", "sum", None)
    with store:
        for run in runs:
            result = RunResult(run, 1, 1, 0.5, 0.5, np.arange(1), np.zeros(1, dtype=int), np.ones((1, 2)), seconds=7.0)
            store.add(DatasetId("MUTAG", "0" * 64), result, encoders.training, "cpu")
    assert left(store.path, [("MUTAG", encoders)], CPURunner(1)) == Remaining(5, 5, 7.0)


def test_all_that_is_to_come_is_counted_whatever_is_not_chosen_yet(store):
    for settings in ({}, {"positions": 4}, {"dropout": 0.0}, {"positions": 4, "dropout": 0.0}):
        experiment = Experiment.of({"arch": "gcn", "aggr": "sum,max", "folds": 2, "seeds": 1, **settings})
        result = StoredResults(store.table(), "MUTAG", experiment)
        assert len(result.to_come()) == result.progress()[1]
