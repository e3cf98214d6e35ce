"""Metrics: one number from what is true and what was predicted.

Targets are class numbers [n] with predicted probabilities [n, C]; labels [n, T] of 0, 1 and NaN for unknown with
probabilities [n, T]; or numbers [n, T], NaN for unknown, with numbers [n, T]. Of several labels or numbers a metric is
the mean over those that it can be computed for. Checking the name of a metric needs neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION
from ssread.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    Function = Callable[[np.ndarray, np.ndarray], float]

__all__ = ["METRICS", "Metric", "check_metric", "default_metric", "evaluate"]

#: Below this share of graphs outside the largest class, accuracy hides what happens to the others.
RARE = 0.3

#: Bins of the calibration error.
BINS = 10


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
        about: What it is, in a few words.
        tasks: The tasks that it fits.
        function: Computes it for classes, for one label with probabilities [n, 2], or for one number [n].
        higher_is_better: Whether more is better.
        share: Whether it is shown in percent.
        lowest: The lowest value that it can have.
        highest: The highest value that it can have.
    """

    about: str
    tasks: tuple[str, ...]
    function: Function
    higher_is_better: bool = True
    share: bool = False
    lowest: float = 0.0
    highest: float = 1.0

    def quality(self, value: float) -> float:
        """Returns a value of which more is better; minus infinity for a metric that could not be computed."""
        if math.isnan(value):
            return -math.inf
        return value if self.higher_is_better else -value

    def number(self, value: float) -> str:
        """Returns a value in the usual number of digits; a share in percent."""
        return f"{100 * value:.1f}" if self.share else f"{value:.3f}"

    def text(self, value: float) -> str:
        """Returns a value as people read it."""
        return "unknown" if math.isnan(value) else f"{self.number(value)}{' %' if self.share else ''}"


def accuracy(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the share of graphs whose most probable class is the true one (ties: the first class).

    >>> import numpy as np
    >>> accuracy(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    0.5
    """
    return float((probabilities.argmax(axis=1) == labels).mean())


def balanced_accuracy(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the mean over the classes that occur of the share of their graphs that is recognised.

    >>> import numpy as np
    >>> balanced_accuracy(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.6, 0.4], [0.8, 0.2]]))
    0.5
    """
    import numpy as np

    right = probabilities.argmax(axis=1) == labels
    return float(np.mean([right[labels == label].mean() for label in np.unique(labels)]))


def roc_auc(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the area under the ROC curve: of class 1 if there are two, else the mean over one class against the rest.

    The mean is over the classes that occur in ``labels``; NaN if only one does.

    >>> import numpy as np
    >>> roc_auc(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]]))
    0.5
    """
    from sklearn.metrics import roc_auc_score

    return _one_against_rest(roc_auc_score, labels, probabilities)


def pr_auc(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the average precision, which is the area under the precision-recall curve, as :func:`roc_auc` does.

    >>> import numpy as np
    >>> pr_auc(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]]))
    0.5
    """
    from sklearn.metrics import average_precision_score

    return _one_against_rest(average_precision_score, labels, probabilities)


def _one_against_rest(area: Callable[[Any, Any], float], labels: np.ndarray, probabilities: np.ndarray) -> float:
    import numpy as np

    present = np.unique(labels)
    if len(present) < 2:
        return math.nan
    if probabilities.shape[1] == 2:
        present = np.array([1])
    return float(np.mean([area(labels == label, probabilities[:, label]) for label in present]))


def macro_f1(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the mean F1 score of the classes that occur in ``labels``, unweighted.

    >>> import numpy as np
    >>> macro_f1(np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    1.0
    """
    import numpy as np
    from sklearn.metrics import f1_score

    predicted = probabilities.argmax(axis=1)
    return float(f1_score(labels, predicted, labels=np.unique(labels), average="macro", zero_division=0.0))


def mcc(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns Matthews' correlation coefficient of the true and the most probable classes."""
    import warnings

    from sklearn.metrics import matthews_corrcoef

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a part has one class only; it is 0 then
        return float(matthews_corrcoef(labels, probabilities.argmax(axis=1)))


def log_loss(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the mean negative logarithm of the true class's probability."""
    import numpy as np

    true = probabilities[np.arange(len(labels)), labels.astype(int)]
    return float(-np.log(np.clip(true, 1e-7, None)).mean())


def brier(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the mean squared distance of the probability of class 1 from 0 or 1; of more classes, their sum.

    >>> import numpy as np
    >>> round(brier(np.array([0, 1]), np.array([[0.9, 0.1], [0.5, 0.5]])), 3)
    0.13
    """
    import numpy as np

    true = np.eye(probabilities.shape[1])[labels.astype(int)]
    squared = ((probabilities - true) ** 2).sum(axis=1).mean()
    return float(squared / 2 if probabilities.shape[1] == 2 else squared)


def calibration_error(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns how far the most probable class's probability is from how often it is right, over ten bins of it.

    >>> import numpy as np
    >>> round(calibration_error(np.array([0, 1]), np.array([[0.75, 0.25], [0.75, 0.25]])), 3)
    0.25
    """
    import numpy as np

    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    bins = np.minimum((BINS * confidence).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=right - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(labels))


def rmse(targets: np.ndarray, predictions: np.ndarray) -> float:
    """Returns the root of the mean squared error, in the unit of the targets.

    >>> import numpy as np
    >>> rmse(np.array([0.0, 0.0]), np.array([3.0, -3.0]))
    3.0
    """
    return float(((targets - predictions) ** 2).mean() ** 0.5)


def mae(targets: np.ndarray, predictions: np.ndarray) -> float:
    """Returns the mean absolute error, in the unit of the targets."""
    return float(abs(targets - predictions).mean())


def r2(targets: np.ndarray, predictions: np.ndarray) -> float:
    """Returns the share of the variance that is explained; NaN if the targets do not vary."""
    variance = targets.var()
    return float(1 - ((targets - predictions) ** 2).mean() / variance) if variance > 0 else math.nan


def spearman(targets: np.ndarray, predictions: np.ndarray) -> float:
    """Returns the rank correlation; NaN if either does not vary."""
    from scipy.stats import spearmanr

    if targets.std() == 0 or predictions.std() == 0:
        return math.nan
    return float(spearmanr(targets, predictions).statistic)


LABELS = (CLASSIFICATION, MULTILABEL)

#: Metrics by their names on the command line (``--metric``).
METRICS: dict[str, Metric] = {
    "accuracy": Metric("share of graphs predicted correctly", LABELS, accuracy, share=True),
    "balanced_accuracy": Metric("mean share recognised of every class", LABELS, balanced_accuracy, share=True),
    "roc_auc": Metric("area under the ROC curve", LABELS, roc_auc),
    "pr_auc": Metric("area under the precision-recall curve", LABELS, pr_auc),
    "macro_f1": Metric("mean F1 score of the classes", LABELS, macro_f1),
    "mcc": Metric("Matthews' correlation coefficient", LABELS, mcc, lowest=-1),
    "log_loss": Metric(
        "mean negative logarithm of the true class's probability", LABELS, log_loss, False, highest=math.inf
    ),
    "brier": Metric("Brier score", LABELS, brier, False, highest=2),
    "calibration_error": Metric("distance of probabilities from frequencies", LABELS, calibration_error, False),
    "rmse": Metric("root of the mean squared error", (REGRESSION,), rmse, False, highest=math.inf),
    "mae": Metric("mean absolute error", (REGRESSION,), mae, False, highest=math.inf),
    "r2": Metric("share of the variance explained", (REGRESSION,), r2, lowest=-math.inf),
    "spearman": Metric("rank correlation", (REGRESSION,), spearman, lowest=-1),
}


def check_metric(metric: str, task: str | None = None) -> None:
    """Raises an ``InputError`` unless there is a metric of this name that fits the task."""
    fitting = [name for name, known in METRICS.items() if task is None or task in known.tasks]
    if metric not in fitting:
        fits = "" if metric not in METRICS else f" for {task}"
        raise InputError(f"There is no metric {metric!r}{fits}. Choose one of {', '.join(fitting)}.")


def default_metric(task: str, class_counts: Mapping[str, int] | None = None, balanced: bool = False) -> str:
    """Returns the metric to judge a task by unless another is asked for.

    Accuracy where no class is rare; not where every class is to count the same (``balanced``), since it would choose an
    epoch at which the rare ones do not count.

    >>> default_metric("classification", {"no": 90, "yes": 10}), default_metric("regression")
    ('roc_auc', 'rmse')
    """
    if task == REGRESSION:
        return "rmse"
    if task == MULTILABEL:
        return "roc_auc"
    counts = [count for count in (class_counts or {}).values() if count > 0]
    if not counts or 1 - max(counts) / sum(counts) >= RARE:
        return "balanced_accuracy" if balanced else "accuracy"
    return "roc_auc" if len(counts) == 2 else "balanced_accuracy"


def evaluate(metric: str, targets: np.ndarray, predictions: np.ndarray) -> float:
    """Returns a metric; of several labels or numbers, the mean over those that it can be computed for.

    >>> import numpy as np
    >>> evaluate("mae", np.array([[1.0, np.nan], [2.0, 5.0]]), np.array([[1.0, 1.0], [3.0, 5.0]]))
    0.25
    """
    import numpy as np

    if targets.ndim == 1:
        return METRICS[metric].function(targets, predictions)
    values = each(metric, targets, predictions)
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def each(metric: str, targets: np.ndarray, predictions: np.ndarray) -> list[float]:
    """Returns a metric of every label or number; NaN where it cannot be computed."""
    import numpy as np

    found = []
    for true, predicted in zip(targets.T, predictions.T, strict=True):
        known = ~np.isnan(true)
        true, predicted = true[known], predicted[known]
        if METRICS[metric].tasks != (REGRESSION,):
            true, predicted = true.astype(int), np.stack([1 - predicted, predicted], axis=1)
        found.append(METRICS[metric].function(true, predicted) if len(true) else math.nan)
    return found
