"""What a training is, and its result: plain data that can be sent to other processes and stored."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["OBJECTIVES", "Run", "RunResult", "Training"]

#: What a model may learn from (:attr:`Run.learn`), with the version of its numerics. The first needs classes, the
#: others use no labels. The version is part of the key of every stored training: increase it when a code change
#: changes the result of a training, so that earlier results are not mistaken for current ones.
OBJECTIVES = {"supervised": 1, "graphcl": 1, "infograph": 1}


@dataclass(frozen=True)
class Training:
    """How models are trained; the defaults are the paper's (section V-A) and its public code's.

    Attributes:
        epochs: The maximum number of epochs (passes over the training data).
        patience: Training stops after this many epochs without a better validation accuracy (ties: loss).
        batch_size: Graphs per step.
        learning_rate: The learning rate of Adam.
        weight_decay: The weight decay of Adam.
        schedule: How the learning rate changes: ``constant``, or ``cosine``, which falls to 0 at the last epoch.
        averaging: The weights that are evaluated and kept, batch-norm statistics included, are averaged over this
            share of the epochs so far; 0 for no averaging.
        selection: How the epoch is chosen: ``accuracy`` or another metric (:mod:`ssread.metrics`) on the validation
            part (ties by loss), ``loss`` there, or ``seen``, the accuracy on training and validation parts together, as
            the authors' public code does.
        recipe: The name of the recipe that these settings come from: see :mod:`ssread.train.recipes`.
        precision: The precision of matrix products on a GPU: ``float32``, or ``tf32``, which rounds factors to 11 bits.
    """

    epochs: int = 500
    patience: int = 50
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    precision: str = "float32"
    schedule: str = "constant"
    averaging: float = 0.0
    selection: str = "accuracy"
    recipe: str = "paper"

    def learning_rate_at(self, epoch: int) -> float:
        """Returns the learning rate of an epoch, counted from 1.

        >>> Training(epochs=100, schedule="cosine", learning_rate=0.1).learning_rate_at(51)
        0.05
        """
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * (1 + math.cos(math.pi * (epoch - 1) / self.epochs)) / 2

    def averaging_weight(self, epoch: int) -> float:
        """Returns the fraction by which the averaged weights move towards those of an epoch, counted from 1."""
        return 1 / max(1.0, self.averaging * epoch)


@dataclass(frozen=True)
class Run:
    """One training of the protocol.

    Attributes:
        model: Arguments of :func:`ssread.models.model_for`: ``name``, ``readout``, ``aggr``, ``num_positions``, ...
        seed: Determines the folds, the initial weights, the order of graphs and dropout.
        fold: Which fold is the test part, from 0.
        num_folds: The number of folds.
        learn: What the model learns from: the classes (``supervised``), or no labels at all (``graphcl``,
            ``infograph``); then a linear classifier on the graph vectors is evaluated on the test part.
        task: What is predicted: the ``class``, or a graph column of whole numbers, by a linear classifier.
        balanced: Whether all classes count the same in the loss, whatever their number of graphs.
        split: How folds are drawn: see :mod:`ssread.data.cross_validation`.
    """

    model: dict[str, Any]
    seed: int
    fold: int
    num_folds: int = 10
    learn: str = "supervised"
    task: str = "class"
    balanced: bool = False
    split: str = "random"


@dataclass(frozen=True, eq=False)
class RunResult:
    """The result of one training.

    Attributes:
        run: The training.
        best_epoch: The epoch whose weights were kept, from 1; see :attr:`Training.selection`.
        epochs: The number of epochs trained.
        valid_accuracy: Accuracy of the kept weights on the validation part; NaN where no class is predicted.
        valid_loss: Cost of the kept weights' predictions on the validation part: see :mod:`ssread.train.costs`.
        test_ids: The graphs of the test part, [n].
        test_targets: Their classes, [n], or their labels or numbers, [n, T].
        test_predictions: Predictions for the test part by the kept weights, computed once, at the end: probabilities of
            the classes, [n, C], or of the labels, [n, T], or numbers, [n, T].
        curves: One value per epoch of ``train_loss``, ``alignment_loss``, ``valid_accuracy`` and ``valid_loss``, and
            ``valid_score`` where another metric than accuracy chooses the epoch.
        seconds: The time this training took.
        failed: Why there is no result (a loss that is not a number, and at which epoch), or an empty string.
        test_accuracy: The accuracy on the test part of a training that comes from a CSV file, which has neither its
            predictions nor its curves; None where they are there.
    """

    run: Run
    best_epoch: int
    epochs: int
    valid_accuracy: float
    valid_loss: float
    test_ids: np.ndarray
    test_targets: np.ndarray
    test_predictions: np.ndarray
    curves: dict[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0
    failed: str = ""
    test_accuracy: float | None = None

    @property
    def complete(self) -> bool:
        """Whether predictions and curves are there."""
        return self.test_accuracy is None

    @property
    def valid_score(self) -> float:
        """The metric that chose the epoch, on the validation part; the accuracy there if there are no curves."""
        scores = self.curves.get("valid_score")
        return scores[self.best_epoch - 1] if scores and not self.failed else self.valid_accuracy
