"""The best epoch of every model in training, with its weights."""

import math

import torch
from torch import Tensor

from ssread.train.engine import Engine, State

__all__ = ["BestEpoch"]


class BestEpoch:
    """The best epoch of every model so far, with its weights.

    Args:
        models: The number of models.
        selection: ``loss``, or any other rule for the accuracy passed to :meth:`update` (ties by loss).
    """

    def __init__(self, models: int, selection: str = "accuracy"):
        self._by_loss = selection == "loss"
        self.epoch = torch.zeros(models, dtype=torch.long)
        self.accuracy = torch.full((models,), -math.inf)
        self.loss = torch.full((models,), math.inf)
        self.state: State = {}

    def update(self, engine: Engine, epoch: int, accuracy: Tensor, loss: Tensor, valid: Tensor) -> None:
        """Records an epoch; keeps the weights of the ``valid`` [R] models that are better than in all epochs before."""
        lower = loss < self.loss
        tie = accuracy == self.accuracy
        better = valid & (lower if self._by_loss else (accuracy > self.accuracy) | (tie & lower))
        if not bool(better.any()):
            return
        self.epoch = torch.where(better, epoch, self.epoch)
        self.accuracy = torch.where(better, accuracy, self.accuracy)
        self.loss = torch.where(better, loss, self.loss)
        self.state = engine.better_state(better, self.state)

    def logits(self, engine: Engine, models: Tensor, ids: Tensor) -> Tensor:
        """Returns the class scores of some models at their best epochs."""
        return engine.logits(ids, {name: value[models.to(value.device)] for name, value in self.state.items()})

    def keep(self, models: Tensor) -> None:
        """Keeps only some of the models."""
        self.epoch, self.accuracy, self.loss = self.epoch[models], self.accuracy[models], self.loss[models]
        self.state = {name: value[models.to(value.device)] for name, value in self.state.items()}
