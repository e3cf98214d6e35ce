"""Learning curves of many trainings as one line with a band."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["band"]

#: Longer curves are thinned out: no screen shows more.
MOST_POINTS = 250


def band(name: str, curves: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, Any]:
    """The mean and the standard deviation after every pass, over the trainings that got so far.

    Args:
        name: What was trained.
        curves: Of every training the values after each pass, by measure.
    """
    measures = {}
    for measure in ("valid_accuracy", "train_loss"):
        values = [np.asarray(curve[measure], dtype=float) for curve in curves if len(curve.get(measure, ()))]
        if not values:
            continue
        table = np.full((len(values), max(map(len, values))), np.nan)
        for row, value in zip(table, values, strict=True):
            row[: len(value)] = value
        passes = np.arange(table.shape[1])[:: -(-table.shape[1] // MOST_POINTS)]
        table = np.where(np.isfinite(table[:, passes]), table[:, passes], np.nan)
        known = np.isfinite(table).any(axis=0)
        table, passes = table[:, known], passes[known]
        measures[measure] = {
            "pass": (passes + 1).tolist(),
            "mean": np.nanmean(table, axis=0).round(4).tolist(),
            "sd": np.nanstd(table, axis=0).round(4).tolist(),
            "left": np.isfinite(table).sum(axis=0).tolist(),
        }
    return {"name": name, "runs": len(curves), "measures": measures}
