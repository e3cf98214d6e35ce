"""The metric of one training's test predictions."""

from __future__ import annotations

from ssread.metrics import METRICS, check_metric, evaluate
from ssread.train.runs import RunResult

__all__ = ["METRICS", "score"]


def score(result: RunResult, metric: str = "accuracy") -> float:
    """Returns a metric of one training's test predictions; NaN if the training failed or predicted nothing."""
    import numpy as np

    check_metric(metric)
    predictions = np.asarray(result.test_predictions)
    if result.failed or len(predictions) == 0 or not np.isfinite(predictions).all():
        return float("nan")
    return evaluate(metric, np.asarray(result.test_targets), predictions)
