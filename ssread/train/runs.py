"""What a training is, and what comes out of it: plain data that travels to other processes and into the store."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["OBJECTIVES", "Run", "RunResult", "Training"]

#: What a model may learn from (:attr:`Run.learn`), with the version of its numerics. The first needs classes, the
#: others read no label. The version is part of the key of every stored training: raise it when a change of the code
#: changes what a training gives, so that results from before are not mistaken for today's.
OBJECTIVES = {"supervised": 1, "graphcl": 1, "infograph": 1}


@dataclass(frozen=True)
class Training:
    """How models are trained; the defaults are the paper's (section V-A) and its public code's.

    Attributes:
        epochs: The most passes over the training part.
        patience: Training stops after this many passes without a better validation accuracy (ties: loss).
        batch_size: Graphs per step.
        learning_rate: Of Adam.
        weight_decay: Of Adam.
        schedule: How the learning rate changes: ``constant``, or ``cosine``, which falls to 0 at the last epoch.
        averaging: The weights that are judged and kept are averaged over this share of the epochs so far, batch-norm
            statistics included; 0 takes those of the last step.
        selection: What chooses the epoch: ``accuracy`` on the validation part (ties by loss), ``loss`` there, or
            ``seen``, the accuracy on training and validation parts together, as the authors' public code does.
        recipe: The name of the recipe that these settings come from: see :mod:`ssread.train.recipes`.
        precision: Of a GPU's matrix products: ``float32``, or ``tf32``, which rounds their factors to 11 bits.
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
        """The learning rate of an epoch, counted from 1.

        >>> Training(epochs=100, schedule="cosine", learning_rate=0.1).learning_rate_at(51)
        0.05
        """
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * (1 + math.cos(math.pi * (epoch - 1) / self.epochs)) / 2

    def averaging_weight(self, epoch: int) -> float:
        """By how much the averaged weights move towards those of an epoch, counted from 1."""
        return 1 / max(1.0, self.averaging * epoch)


@dataclass(frozen=True)
class Run:
    """One training of the protocol.

    Attributes:
        model: Arguments of :func:`ssread.models.model_for`: ``name``, ``readout``, ``aggr``, ``num_positions``, ...
        seed: Decides the folds, the initial weights, the order of graphs and dropout.
        fold: Which fold is the test part, from 0.
        num_folds: Into how many the set is cut.
        learn: What the model learns from: the classes (``supervised``), or no label at all (``graphcl``,
            ``infograph``); then a linear classifier on the graph vectors is what the test part judges.
        task: What is predicted: the ``class``, or a graph column of whole numbers, by a linear classifier.
        balanced: Whether every class counts the same in the loss, however many graphs it has.
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
    """What one training gave.

    Attributes:
        run: The training.
        best_epoch: The pass whose weights were kept, from 1; chosen on the validation part.
        epochs: How many passes were made.
        valid_accuracy: Accuracy of the kept weights on the validation part.
        valid_loss: Cross entropy of the kept weights on the validation part.
        test_ids: The graphs of the test part, [n].
        test_labels: Their classes, [n].
        test_probabilities: The kept weights' class probabilities of the test part, [n, C]; computed once, at the end.
        curves: One value per pass of ``train_loss``, ``alignment_loss``, ``valid_accuracy`` and ``valid_loss``.
        seconds: Time this training took.
        failed: Why there is no result (a loss that is not a number, and at which pass), or an empty string.
    """

    run: Run
    best_epoch: int
    epochs: int
    valid_accuracy: float
    valid_loss: float
    test_ids: np.ndarray
    test_labels: np.ndarray
    test_probabilities: np.ndarray
    curves: dict[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0
    failed: str = ""
