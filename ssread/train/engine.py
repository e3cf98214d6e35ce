"""What the training loop asks of models in training: one model (:mod:`.single`) or a stack of them (:mod:`.cohort`)."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn

from ssread.data.graphset import GraphSet
from ssread.models.classifier import GraphClassifier
from ssread.train.make_objective import make_objective
from ssread.train.objective import Objective
from ssread.train.runs import Run
from ssread.train.seeds import Stream, seeded

__all__ = ["EVALUATION_BATCH", "Engine", "OutputPart", "State", "better_state", "initial_objective", "move_towards"]

#: Weights and statistics of R models by name, each tensor with a leading dimension R.
State = dict[str, Tensor]

#: Graphs evaluated at a time.
EVALUATION_BATCH = 512


class Engine(Protocol):
    """R models in training. Without dropout, every engine gives the same numbers for the same seeds."""

    def train_epoch(self, plan: Tensor) -> Tensor:
        """Takes a step on every batch of ``plan`` [steps, R, B] (-1 pads); returns mean losses over graphs, [2, R]."""

    def set_learning_rate(self, values: Tensor) -> None:
        """Sets the learning rate of every model, [R]."""

    def average(self, weight: float) -> None:
        """Moves the averaged weights towards the current ones by a share; judged and kept are the averaged ones."""

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """Class scores [R, n, C] of the graphs ``ids`` [R, n] (-1 pads), with the averaged weights or given ones."""

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """Graph vectors [R, n, D], as :meth:`logits`."""

    def state(self) -> State:
        """A copy of the averaged weights and statistics; those of the last step where nothing is averaged."""

    def better_state(self, better: Tensor, best: State) -> State:
        """The averaged weights where ``better`` [R] is true, else those of ``best``, which may be overwritten."""

    def keep(self, models: Tensor) -> None:
        """Continues with the models numbered ``models`` alone."""


def initial_objective(graphs: GraphSet, run: Run) -> Objective:
    """The objective of a run around a model with the initial weights of its seed, on the CPU."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeded(run, Stream.WEIGHTS))
        return make_objective(graphs, run)


class OutputPart(nn.Module):
    """One part of a model's output, by name, as a module: the form that ``functional_call`` takes."""

    def __init__(self, model: GraphClassifier, name: str):
        super().__init__()
        self.model, self._name = model, name

    def forward(self, *graphs: Any) -> Tensor:
        """Returns that part of the output."""
        return getattr(self.model.run(*graphs), self._name)


def better_state(better: Tensor, current: State, best: State) -> State:
    """The current weights of the models where ``better`` [R] is true, the best ones of the others."""
    if not best:
        return current
    return {name: torch.where(_broadcast(better, value), value, best[name]) for name, value in current.items()}


def move_towards(averaged: State, current: State, weight: float) -> None:
    """Moves averaged weights and statistics towards the current ones by a share, in place; counters are copied."""
    for name, value in averaged.items():
        if value.is_floating_point():
            value.lerp_(current[name], weight)
        else:
            value.copy_(current[name])


def _broadcast(models: Tensor, value: Tensor) -> Tensor:
    """One entry per model [R] in a shape that broadcasts with values [R, ...]."""
    return models.to(value.device).view(-1, *[1] * (value.dim() - 1))
