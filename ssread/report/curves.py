"""Learning curves of several trainings, summarized for a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["summarize_curves"]

#: Longer curves are thinned out to at most this many points.
MAX_POINTS = 250


def summarize_curves(name: str, curves: Sequence[Mapping[str, Sequence[float]]], metric: str = "") -> dict[str, Any]:
    """The mean and the standard deviation at every epoch, over the trainings that reached it.

    Args:
        name: The name in the legend.
        curves: For every training, the values of each measure after every epoch.
        metric: The metric that ``valid_score`` is, in words.
    """
    measures = {}
    for measure in ("valid_accuracy", "valid_score", "train_loss"):
        values = [np.asarray(curve[measure], dtype=float) for curve in curves if len(curve.get(measure, ()))]
        if not values:
            continue
        table = np.full((len(values), max(map(len, values))), np.nan)
        for row, value in zip(table, values, strict=True):
            row[: len(value)] = value
        step = -(-table.shape[1] // MAX_POINTS)
        epochs, table = np.arange(1, table.shape[1] + 1)[::step], table[:, ::step]
        table = np.where(np.isfinite(table), table, np.nan)
        known = np.isfinite(table).any(axis=0)
        if not known.any():
            continue
        measures[measure] = {
            "epoch": epochs[known].tolist(),
            "mean": np.nanmean(table[:, known], axis=0).round(4).tolist(),
            "sd": np.nanstd(table[:, known], axis=0).round(4).tolist(),
        }
    return {"name": name, "runs": len(curves), "metric": metric, "measures": measures}
