"""The interface between the training loop and its models: one (:mod:`.single`) or a stack (:mod:`.cohort`)."""

from __future__ import annotations

from collections.abc import Sequence
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
    """R models in training. Without dropout, all engines compute the same numbers from the same seeds."""

    def train_epoch(self, plan: Tensor) -> Tensor:
        """Takes a step on every batch of ``plan`` [steps, R, B] (-1 pads); returns mean losses over graphs, [2, R]."""

    def learn_from(self, parts: Sequence[Tensor]) -> None:
        """Takes from every model's training part what its loss needs: see :meth:`Objective.learnt_from`."""

    def set_learning_rate(self, values: Tensor) -> None:
        """Sets the learning rate of every model, [R]."""

    def average(self, weight: float) -> None:
        """Moves the averaged weights, which are evaluated and kept, towards the current ones by a fraction."""

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """Returns class scores [R, n, C] of graphs ``ids`` [R, n] (-1 pads), by default by the averaged weights."""

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """Returns graph vectors [R, n, D]; otherwise as :meth:`logits`."""

    def state(self) -> State:
        """Returns a copy of the averaged weights and statistics; of the current ones if nothing is averaged."""

    def better_state(self, better: Tensor, best: State) -> State:
        """Returns the averaged weights where ``better`` [R] is true, else ``best``, which may be overwritten."""

    def keep(self, models: Tensor) -> None:
        """Keeps only the models with the numbers ``models``."""

    def snapshot(self) -> dict[str, Tensor]:
        """Returns all that the next steps depend on: weights, optimizer moments, states of random generators."""

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Restores what :meth:`snapshot` returned; training then continues with the same numbers."""


def initial_objective(graphs: GraphSet, run: Run) -> Objective:
    """Makes the objective of a run, on the CPU, with the initial weights that its seed determines."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeded(run, Stream.WEIGHTS))
        return make_objective(graphs, run)


class OutputPart(nn.Module):
    """One part of a model's output, by name, as a module, since ``functional_call`` takes a module."""

    def __init__(self, model: GraphClassifier, name: str):
        super().__init__()
        self.model, self._name = model, name

    def forward(self, *graphs: Any) -> Tensor:
        """Returns this part of the output."""
        return getattr(self.model.run(*graphs), self._name)


def better_state(better: Tensor, current: State, best: State) -> State:
    """Returns the current weights of the models where ``better`` [R] is true, the best ones of the others."""
    if not best:
        return current
    return {name: torch.where(_broadcast(better, value), value, best[name]) for name, value in current.items()}


def move_towards(averaged: State, current: State, weight: float) -> None:
    """Moves averaged weights and statistics towards the current ones, in place; copies counters."""
    for name, value in averaged.items():
        if value.is_floating_point():
            value.lerp_(current[name], weight)
        else:
            value.copy_(current[name])


def _broadcast(models: Tensor, value: Tensor) -> Tensor:
    """Reshapes one entry per model [R] to broadcast with values [R, ...]."""
    return models.to(value.device).view(-1, *[1] * (value.dim() - 1))
