"""Metrics: one number from the true classes and the predicted probabilities of a test part.

Checking the name of a metric needs neither NumPy nor scikit-learn: they are imported where they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ssread.errors import InputError
from ssread.train.runs import RunResult

if TYPE_CHECKING:
    import numpy as np

    Metric = Callable[[np.ndarray, np.ndarray], float]

__all__ = ["METRICS", "accuracy", "macro_f1", "roc_auc", "score"]


def accuracy(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the share of graphs whose most probable class is the true one (ties: the first class).

    Args:
        labels: The true classes [n].
        probabilities: The probability of each class [n, C].

    >>> import numpy as np
    >>> accuracy(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    0.5
    """
    return float((probabilities.argmax(axis=1) == labels).mean())


def roc_auc(labels: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns the area under the ROC curve: of class 1 if there are two, else the mean over one class against the rest.

    The mean is over the classes that occur in ``labels``; NaN if only one does.

    >>> import numpy as np
    >>> roc_auc(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]]))
    0.5
    """
    import numpy as np
    from sklearn.metrics import roc_auc_score

    present = np.unique(labels)
    if len(present) < 2:
        return float("nan")
    if probabilities.shape[1] == 2:
        present = np.array([1])
    return float(np.mean([roc_auc_score(labels == label, probabilities[:, label]) for label in present]))


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


#: Metrics by their names on the command line (``--metric``).
METRICS: dict[str, Metric] = {"accuracy": accuracy, "roc_auc": roc_auc, "macro_f1": macro_f1}


def score(result: RunResult, metric: str = "accuracy") -> float:
    """Returns a metric of one training's test predictions; NaN if the training failed or predicted nothing."""
    import numpy as np

    if metric not in METRICS:
        raise InputError(f"There is no metric {metric!r}. Choose one of {', '.join(METRICS)}.")
    probabilities = np.asarray(result.test_probabilities)
    if result.failed or len(probabilities) == 0 or not np.isfinite(probabilities).all():
        return float("nan")
    return METRICS[metric](np.asarray(result.test_labels), probabilities)
