"""How good a model is: metrics over the test folds of a cross-validation, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t

from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, REGRESSION
from ssread.evaluate.statistics import compare
from ssread.metrics import METRICS, each, evaluate
from ssread.train.runs import RunResult

__all__ = [
    "FoldPredictions",
    "compare_methods",
    "fold_predictions",
    "out_of_fold",
    "quality",
    "scores",
    "together",
]


class FoldPredictions(NamedTuple):
    """The test part of a fold: its graphs [n], what is true of them and what was predicted."""

    ids: np.ndarray
    targets: np.ndarray
    predictions: np.ndarray


def fold_predictions(results: Sequence[RunResult]) -> list[FoldPredictions]:
    """Returns the test predictions of every fold."""
    return [
        FoldPredictions(np.asarray(r.test_ids), np.asarray(r.test_targets), np.asarray(r.test_predictions))
        for r in results
    ]


def out_of_fold(graphs: GraphSet, folds: Sequence[FoldPredictions]) -> pd.DataFrame:
    """Returns a row for every test graph: its id, the fold that it was tested in, what is true, what was predicted.

    Predictions are probabilities of the classes or labels, ``p(NAME)``, or numbers, ``predicted NAME``.
    """
    ids = np.concatenate([fold.ids for fold in folds])
    targets, predicted = together(folds)
    table: dict[str, Any] = {
        "id": [graphs.ids[number] for number in ids.tolist()],
        "fold": np.repeat(np.arange(len(folds)), [len(fold.ids) for fold in folds]),
    }
    if graphs.task == CLASSIFICATION:
        table["true"] = np.array(graphs.class_names, dtype=object)[targets]
    else:
        table |= {f"true {name}": targets[:, column] for column, name in enumerate(graphs.target_names)}
    form = "predicted {}" if graphs.task == REGRESSION else "p({})"
    table |= {form.format(name): predicted[:, column] for column, name in enumerate(graphs.output_names)}
    return pd.DataFrame(table).iloc[np.argsort(ids, kind="stable")]


def together(folds: Sequence[FoldPredictions]) -> tuple[np.ndarray, np.ndarray]:
    """Returns what is true of the graphs of all folds, and what was predicted."""
    return np.concatenate([fold.targets for fold in folds]), np.concatenate([fold.predictions for fold in folds])


def scores(metric: str, folds: Sequence[FoldPredictions]) -> np.ndarray:
    """Returns a metric of every fold; NaN where it cannot be computed."""
    return np.array([evaluate(metric, fold.targets, fold.predictions) for fold in folds])


def quality(graphs: GraphSet, folds: Sequence[FoldPredictions], metric: str) -> dict[str, Any]:
    """Returns every metric of the task with its 95 % interval over the folds, as plain data.

    Also: the share of every class that is recognised, or the chosen metric of every label or number.
    """
    fitting = [name for name, known in METRICS.items() if graphs.task in known.tasks]
    targets, predicted = together(folds)
    found: dict[str, Any] = {
        "metric": metric,
        "graphs": len(targets),
        "metrics": {name: _with_interval(scores(name, folds), name) for name in fitting},
    }
    if graphs.task == CLASSIFICATION:
        correct = predicted.argmax(axis=1) == targets
        counts = np.bincount(targets, minlength=graphs.num_classes)
        names = enumerate(graphs.class_names)
        found["recall"] = {name: float(correct[targets == c].mean()) for c, name in names if counts[c] > 0}
        found["majority"] = float(counts.max() / counts.sum())
    else:
        by_fold = np.array([each(metric, fold.targets, fold.predictions) for fold in folds])
        found["each"] = {
            name: _with_interval(by_fold[:, column], metric)["mean"] for column, name in enumerate(graphs.target_names)
        }
    return found


def compare_methods(metric: str, usual: Sequence[FoldPredictions], ours: Sequence[FoldPredictions]) -> dict[str, Any]:
    """Returns the quality of a usual method on the same folds, and a finding: ``better`` if ours is, ``worse``, or
    ``undecided`` (corrected resampled t-test, 5 %)."""
    before, after = scores(metric, usual), scores(metric, ours)
    sign = 1 if METRICS[metric].higher_is_better else -1
    comparison = compare([sign * before], [sign * after])
    finding = "undecided"
    if comparison.corrected_p <= 0.05:
        finding = "better" if comparison.difference > 0 else "worse"
    known = ~np.isnan(before) & ~np.isnan(after)
    return {
        **_with_interval(before, metric),
        "difference": float((after - before)[known].mean()) if known.any() else None,
        "p": _plain(comparison.corrected_p),
        "finding": finding,
    }


def _with_interval(values: np.ndarray, metric: str) -> dict[str, Any]:
    """Returns the mean and its 95 % interval over the folds where the metric could be computed; None where none.

    The interval ends where the metric does.
    """
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return {"mean": None, "low": None, "high": None}
    mean = float(values.mean())
    if len(values) == 1:
        return {"mean": mean, "low": None, "high": None}
    half = float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5)
    low, high = max(mean - half, METRICS[metric].lowest), min(mean + half, METRICS[metric].highest)
    return {"mean": mean, "low": low, "high": high}


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
