"""Small trainings on planted graphs, and what it means that two of them gave the same."""

import numpy as np

from ssread.data import GraphSet
from ssread.train import Run, RunResult, Training
from ssread.train.cohort import Cohort
from ssread.train.fit import fit, fold_of_run

SHORT = Training(epochs=6, patience=3, batch_size=16)


def runs(folds: int = 4, **model: object) -> list[Run]:
    arguments = {"name": "gcn", "hidden_channels": 12, "num_positions": 3, "dropout": 0.0, **model}
    return [Run(arguments, seed=fold % 2, fold=fold, num_folds=5) for fold in range(folds)]


def cohort_of(graphs: GraphSet, which: list[Run], training: Training, device: str = "cpu") -> list[RunResult]:
    folds = [fold_of_run(graphs, run) for run in which]
    return fit(Cohort(graphs, which, training, device), graphs, which, folds, training)


def assert_same(one: RunResult, other: RunResult, exact: bool = True) -> None:
    assert (one.run, one.best_epoch, one.epochs) == (other.run, other.best_epoch, other.epochs)
    tolerance = 0 if exact else 1e-6
    for name in one.curves:
        np.testing.assert_allclose(one.curves[name], other.curves[name], atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(one.test_predictions, other.test_predictions, atol=tolerance, rtol=tolerance)
    np.testing.assert_array_equal(one.test_ids, other.test_ids)
