"""Random results of trainings, and what it means that two are the same."""

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ssread.evaluate import DatasetId
from ssread.train.runs import Run, RunResult

DATASET = DatasetId("MUTAG", "0" * 64)
CURVES = ("train_loss", "alignment_loss", "valid_accuracy", "valid_loss")


def make_result(seed: int = 0, fold: int = 0, failed: str = "", **model: Any) -> RunResult:
    """What a training might have given; the same arguments give the same values."""
    rng = np.random.default_rng([seed, fold])
    count, epochs = (0, 3) if failed else (int(rng.integers(1, 40)), int(rng.integers(1, 30)))
    run = Run({"name": "gcn", "readout": "ssread", "aggr": "sum", "num_positions": 4} | model, seed, fold)
    return RunResult(
        run,
        best_epoch=0 if failed else int(rng.integers(1, epochs + 1)),
        epochs=epochs,
        valid_accuracy=math.nan if failed else rng.random(),
        valid_loss=math.nan if failed else rng.random(),
        test_ids=rng.permutation(200)[:count],
        test_targets=rng.integers(0, 2, count),
        test_predictions=rng.dirichlet([1.0, 1.0], count).astype(np.float32).reshape(count, 2),
        curves={name: [*rng.random(epochs - 1).tolist(), math.nan if failed else 0.5] for name in CURVES},
        seconds=rng.random(),
        failed=failed,
    )


results = st.builds(
    make_result,
    seed=st.integers(0, 1000),
    fold=st.integers(0, 9),
    failed=st.sampled_from(["", "The loss was not a number in epoch 3."]),
    aggr=st.sampled_from(["sum", ["max", "mean"], None]),
    readout=st.sampled_from(["ssread", "global"]),
    num_positions=st.sampled_from([2, 4, 8, 16]),
    gamma=st.floats(0.001, 1),
)


def assert_same(one: RunResult, other: RunResult) -> None:
    assert one.run == other.run
    assert (one.best_epoch, one.epochs, one.seconds, one.failed) == (
        other.best_epoch,
        other.epochs,
        other.seconds,
        other.failed,
    )
    np.testing.assert_array_equal(
        [one.valid_accuracy, one.valid_loss], [other.valid_accuracy, other.valid_loss], strict=True
    )
    for name in ("test_ids", "test_targets", "test_predictions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    assert one.curves.keys() == other.curves.keys()
    for name, values in one.curves.items():
        np.testing.assert_array_equal(values, other.curves[name])
