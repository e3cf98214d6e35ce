"""The calibration of a final model, from the test folds of a cross-validation.

The models of the folds learnt from fewer graphs than the final ones: their errors are larger, and they may be less
sure, or surer. What the final members predict of the graphs that were held out of their training tells by how much.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit, softmax

from ssread.apply.calibration import LABEL_LEAST, LEAST, Calibration
from ssread.apply.quality import FoldPredictions, together
from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, REGRESSION

__all__ = ["calibration_of"]

#: Intervals are made smaller by no more than the first factor, spreads of scores changed by no more than the second.
SMALLEST, LARGEST = 0.5, 5.0

#: The quantiles whose distance is the spread of scores: a standard deviation would follow a few extreme ones.
LOW, HIGH = 0.1, 0.9

#: So many held-out graphs count half against what their errors show, and what their scores show, which vary less.
FEW_ERRORS, FEW_SCORES = 20, 5


def calibration_of(
    graphs: GraphSet, folds: Sequence[FoldPredictions], held_out: Sequence[FoldPredictions] = ()
) -> Calibration:
    """Learns from the test predictions how far predictions can be trusted.

    Args:
        graphs: The training set.
        folds: The test predictions of the cross-validation.
        held_out: What every final member predicts of the graphs that were held out of its training. Intervals of
            numbers become as much smaller as its errors are; scores of classes and labels are moved and stretched until
            their median and spread are its own.
    """
    targets, predicted = together(folds)
    row_of = {graph: row for row, graph in enumerate(np.concatenate([fold.ids for fold in folds]).tolist())}
    pairs = [
        (row_of[graph], values)
        for part in held_out
        for graph, values in zip(part.ids.tolist(), part.predictions, strict=True)
        if graph in row_of
    ]
    if not pairs:
        return Calibration.fit(graphs.task, targets, predicted)
    rows, final = [row for row, _ in pairs], np.stack([values for _, values in pairs]).astype(np.float64)
    if graphs.task == REGRESSION:
        before, after = (np.abs(targets[rows] - values) for values in (predicted[rows], final))
        return Calibration.fit(graphs.task, targets, predicted, _shrinkage(before, after))
    return Calibration.fit(graphs.task, targets, _as_final(graphs.task, predicted, rows, final))


def _shrinkage(before: np.ndarray, after: np.ndarray) -> list[float]:
    """Returns how large errors are compared to those before, [n, T] each with NaN for unknown numbers.

    It is the ratio of the means, for every number, at most 1; where few graphs tell, nearer to 1.
    """
    known = ~np.isnan(before) & ~np.isnan(after)
    count = known.sum(axis=0)
    ratio = np.where(known, after, 0).sum(axis=0) / np.maximum(np.where(known, before, 0).sum(axis=0), 1e-30)
    ratio = np.clip(np.where(count > 0, ratio, 1.0), SMALLEST, 1.0)
    return [float(value) for value in ratio ** (count / (count + FEW_ERRORS))]


def _as_final(task: str, predicted: np.ndarray, rows: Sequence[int], final: np.ndarray) -> np.ndarray:
    """Returns probabilities as the final members would give them, [G, outputs].

    The scores of every output get the median and the spread that those of ``final`` have, on the same graphs
    (``rows``); where these are few, less of the difference. Graphs whose probabilities are not finite stay as they are.
    """
    finite = np.isfinite(predicted[rows]).all(axis=1) & np.isfinite(final).all(axis=1)
    count = int(finite.sum())
    if count == 0:
        return predicted
    scores, others = _scores(task, predicted.astype(np.float64)), _scores(task, final[finite])
    (low, center, high), (new_low, new_center, new_high) = (
        np.quantile(values, [LOW, 0.5, HIGH], axis=0) for values in (scores[rows][finite], others)
    )
    weight = count / (count + FEW_SCORES)
    ratio = np.clip((new_high - new_low) / np.maximum(high - low, 1e-6), 1 / LARGEST, LARGEST) ** weight
    moved = center + weight * (new_center - center) + ratio * (scores - center)
    return softmax(moved, axis=1) if task == CLASSIFICATION else expit(moved)


def _scores(task: str, probabilities: np.ndarray) -> np.ndarray:
    """The logarithms of the odds of labels; of classes those of the probabilities, less their mean."""
    if task == CLASSIFICATION:
        logarithms = np.log(np.maximum(probabilities, LEAST))
        return logarithms - logarithms.mean(axis=1, keepdims=True)
    return logit(np.clip(probabilities, LABEL_LEAST, 1 - LABEL_LEAST))
