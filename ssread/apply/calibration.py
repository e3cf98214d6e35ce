"""How far a model's predictions can be trusted, learnt from predictions of graphs that it was not trained on.

Temperatures correct probabilities (Guo et al. 2017, https://arxiv.org/abs/1706.04599). Conformal prediction
(Angelopoulos and Bates 2021, https://arxiv.org/abs/2107.07511) turns a prediction into a set of classes, or an
interval, that holds the truth as often as asked for. Sets do so for every class on its own (Vovk 2012,
https://arxiv.org/abs/1209.2673): where one graph in twenty is toxic, sets that are right for the others alone would be
right often enough.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from torch import Tensor

from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION

__all__ = ["Calibration"]

#: Scores that are kept of every output.
MOST_SCORES = 200

#: The logarithm of a temperature lies between minus this and this.
WIDEST = math.log(20)

#: Probabilities next to 0 and, for labels, next to 1 are moved here, so that they have a logarithm.
LEAST, LABEL_LEAST = 1e-37, 1e-7


@dataclass(frozen=True)
class Calibration:
    """Temperatures and conformal scores of a model; plain data.

    There is one temperature for all classes together, or for every label, and one list of scores for every class, or
    for the values 0 and 1 of every label; numbers have one list of scores each, but no temperatures. Models of earlier
    versions have one list for all classes, or for both values of a label.

    Attributes:
        task: See :data:`ssread.data.task_names.TASKS`.
        temperatures: What the logarithms of the odds are divided by; above 1 for a model that was too sure.
        counts: The number of graphs that each list of scores was computed from.
        scores: How wrong the predictions were, ascending: 1 - p(truth), or the absolute error in the numbers' unit. Of
            more than 200, 200 evenly spread quantiles.
    """

    task: str
    temperatures: tuple[float, ...]
    counts: tuple[int, ...]
    scores: tuple[tuple[float, ...], ...]

    @classmethod
    def fit(
        cls, task: str, y: ArrayLike, predictions: ArrayLike, shrinkage: Sequence[float] | None = None
    ) -> "Calibration":
        """Learns from out-of-fold predictions: of every graph, by a model that was not trained on it.

        The sets and intervals of a model trained on all graphs then hold the truth about as often as asked for, if new
        graphs are like those of training.

        Args:
            task: See :data:`ssread.data.task_names.TASKS`.
            y: What is true: class numbers [G], or labels or numbers [G, T], NaN where they are not known.
            predictions: Probabilities of the classes, [G, C], of the labels, [G, T], or numbers, [G, T]: test
                predictions of cross-validation (:attr:`ssread.train.RunResult.test_predictions`) in the order of ``y``.
                Graphs whose predictions are not finite are left out.
            shrinkage: How large errors of the model in use are, compared to those of the predictions, for every number.
        """
        true, predicted = np.asarray(y), np.asarray(predictions, dtype=np.float64)
        usable = np.isfinite(predicted).all(axis=1)
        true, predicted = true[usable], predicted[usable]
        if task == CLASSIFICATION:
            columns = [(true.astype(np.int64), predicted)]
        else:
            known = ~np.isnan(true)
            columns = [(true[known[:, t], t], predicted[known[:, t], t]) for t in range(true.shape[1])]
        temperatures = [] if task == REGRESSION else [_temperature(task, *column) for column in columns]
        scores = []
        for number, (truth, values) in enumerate(columns):
            if task == REGRESSION:
                factor = 1.0 if shrinkage is None else shrinkage[number]
                scores.append(np.sort(factor * np.abs(truth - values)))
                continue
            tempered = _tempered(task, torch.from_numpy(values), temperatures[number]).numpy()
            wrong = 1 - _of_truth(task, truth, tempered)
            classes = range(predicted.shape[1] if task == CLASSIFICATION else 2)
            scores += [np.sort(wrong[truth == value]) for value in classes]
        counts = tuple(len(column) for column in scores)
        return cls(task, tuple(temperatures), counts, tuple(map(_quantiles, scores)))

    def calibrated(self, predictions: Tensor) -> Tensor:
        """Corrects probabilities by the temperatures, [n, outputs]; the order of classes stays. Numbers stay."""
        if self.task == REGRESSION:
            return predictions
        temperature = torch.tensor(self.temperatures, dtype=predictions.dtype, device=predictions.device)
        return _tempered(self.task, predictions, temperature)

    def largest_scores(self, coverage: float) -> list[float]:
        """The score that the truth of a new graph exceeds at most as often as 1 - ``coverage``, of every list.

        Infinite where there were too few graphs to say: below 1 / (1 - coverage) - 1.
        """
        found = []
        for count, scores in zip(self.counts, self.scores, strict=True):
            needed = max(1, math.ceil((count + 1) * coverage - 1e-9))  # the + 1 corrects for finite samples
            index = math.ceil(needed * len(scores) / max(count, 1))
            found.append(scores[index - 1] if needed <= count else math.inf)
        return found

    def sets(self, predictions: Tensor, coverage: float) -> Tensor:
        """Which values belong to the set of every graph: classes, [n, C]; of labels the values 0 and 1, [n, T, 2].

        Args:
            predictions: What :meth:`calibrated` returned.
            coverage: How often the truth shall be in the set, whichever it is. A set may be empty. A class with too few
                graphs to promise that is in every set.
        """
        if self.task == MULTILABEL:
            predictions = torch.stack([1 - predictions, predictions], dim=-1)
        largest = torch.tensor(self.largest_scores(coverage), dtype=torch.float64, device=predictions.device)
        if self.task == MULTILABEL:
            largest = largest.view(predictions.size(-2), -1)
        return 1 - predictions.double() <= largest + 1e-6  # probabilities are float32

    def intervals(self, predictions: Tensor, coverage: float) -> tuple[Tensor, Tensor]:
        """The ends of intervals around numbers that hold the truth as often as ``coverage`` says, [n, T] each."""
        largest = torch.tensor(self.largest_scores(coverage), dtype=predictions.dtype, device=predictions.device)
        return predictions - largest, predictions + largest

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for :meth:`from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], task: str, outputs: int) -> "Calibration":
        """Rebuilds what :meth:`as_dict` returned; raises a ``ValueError`` if it does not fit a model."""
        temperatures, counts = tuple(data["temperatures"]), tuple(data["counts"])
        scores = tuple(map(tuple, data["scores"]))
        columns = 1 if task == CLASSIFICATION else outputs
        lists = {CLASSIFICATION: (outputs, 1), MULTILABEL: (2 * outputs, outputs), REGRESSION: (outputs,)}[task]
        fits = len(temperatures) == (0 if task == REGRESSION else columns) and len(counts) == len(scores)
        if data["task"] != task or not fits or len(scores) not in lists:
            raise ValueError("its calibration is that of another model")
        for count, column in zip(counts, scores, strict=True):
            as_many = min(count, 1) <= len(column) <= count  # how many are kept may change
            if not as_many or list(column) != sorted(column):
                raise ValueError("the scores of its calibration are not as many ascending numbers as they should be")
        return cls(task, temperatures, counts, scores)


def _tempered(task: str, probabilities: Tensor, temperature: Tensor | float) -> Tensor:
    if task == MULTILABEL:
        return (torch.logit(probabilities, LABEL_LEAST) / temperature).sigmoid()
    return (probabilities.clamp(min=LEAST).log() / temperature).softmax(dim=-1)


def _temperature(task: str, true: NDArray[Any], probabilities: NDArray[np.float64]) -> float:
    """The temperature of the least log loss; where few graphs decide, nearer to 1 (a normal prior of its logarithm)."""
    given = torch.from_numpy(probabilities)

    def cost(logarithm: float) -> float:
        of_truth = _of_truth(task, true, _tempered(task, given, math.exp(logarithm)).numpy())
        return float(-np.log(np.maximum(of_truth, LEAST)).sum() + logarithm**2 / 2)

    best = minimize_scalar(cost, bounds=(-WIDEST, WIDEST), method="bounded").x
    return math.exp(best) if cost(best) < cost(0.0) else 1.0


def _of_truth(task: str, true: NDArray[Any], probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of what is true, [n]."""
    if task == CLASSIFICATION:
        return probabilities[np.arange(len(true)), true]
    return np.where(true > 0, probabilities, 1 - probabilities)


def _quantiles(scores: NDArray[np.float64]) -> tuple[float, ...]:
    """Ascending scores, or evenly spread ones of them, the largest included, in seven digits."""
    kept: Sequence[float] = scores.tolist()
    if len(scores) > MOST_SCORES:
        kept = scores[np.ceil(np.arange(1, MOST_SCORES + 1) * len(scores) / MOST_SCORES).astype(int) - 1].tolist()
    return tuple(float(f"{score:.7g}") for score in kept)
