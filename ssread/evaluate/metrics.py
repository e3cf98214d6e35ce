"""The metric of one training's test predictions."""

from __future__ import annotations

from ssread.errors import InputError
from ssread.metrics import METRICS, check_metric, evaluate
from ssread.train.runs import RunResult

__all__ = ["METRICS", "score"]


def score(result: RunResult, metric: str = "accuracy") -> float:
    """Returns a metric of one training's test predictions; NaN if the training failed or predicted nothing.

    Of a training without predictions only the accuracy is known: see :attr:`ssread.train.RunResult.test_accuracy`.
    """
    import numpy as np

    check_metric(metric)
    if result.test_accuracy is not None and not result.failed:
        if metric == "accuracy":
            return result.test_accuracy
        raise InputError(
            f"{metric} needs test predictions, but a training (seed {result.run.seed}, fold {result.run.fold}) comes "
            "from a CSV file, which has accuracies alone: add the results.sqlite that it was exported from."
        )
    predictions = np.asarray(result.test_predictions)
    if result.failed or len(predictions) == 0 or not np.isfinite(predictions).all():
        return float("nan")
    return evaluate(metric, np.asarray(result.test_targets), predictions)
