"""Models in training: one alone, the fastest way on a CPU, or many as one (:mod:`ssread.train.cohort`) on a GPU.

Given the same seeds, and without dropout, both give the same numbers.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from ssread.data.graphset import GraphSet
from ssread.models.classifier import GraphClassifier
from ssread.models.graphs import Graphs
from ssread.train.make_objective import make_objective
from ssread.train.objective import Objective
from ssread.train.runs import Run, Training

__all__ = ["Engine", "Look", "Single", "State", "Stream", "adam", "better_state", "initial_objective", "seeded"]

#: Weights and statistics of R models by name, each tensor with a leading dimension R.
State = dict[str, Tensor]

#: Graphs evaluated at a time.
EVALUATION_BATCH = 512


class Stream:
    """What the random numbers of a run are for; each purpose has a stream of its own."""

    WEIGHTS, ORDER, DROPOUT = range(3)


def seeded(run: Run, stream: int) -> int:
    """A seed for one purpose of one run. Either readout gets the same: they differ in nothing but themselves."""
    return int(np.random.SeedSequence([run.seed, run.fold, stream]).generate_state(1, np.uint64)[0] >> 1)


def initial_objective(graphs: GraphSet, run: Run) -> Objective:
    """The objective of a run around a model with the initial weights of its seed, on the CPU."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeded(run, Stream.WEIGHTS))
        return make_objective(graphs, run)


class Engine(Protocol):
    """Models in training, and the one way to train them, to look at them and to let them go."""

    def one_pass(self, plan: Tensor) -> Tensor:
        """A step on every batch of ``plan`` [steps, R, B] (-1 pads); the mean losses over its graphs, [2, R]."""

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """Class scores [R, n, C] of the graphs ``ids`` [R, n] (-1 pads), by the current weights or given ones."""

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """Graph vectors [R, n, D], as :meth:`logits`."""

    def state(self) -> State:
        """A copy of the current weights and statistics."""

    def better_state(self, better: Tensor, best: State) -> State:
        """The current weights where ``better`` [R] says so, those of ``best`` elsewhere; ``best`` is used up."""

    def keep(self, models: Tensor) -> None:
        """Goes on with the models numbered ``models`` alone."""


class Single:
    """A single model: no padding, no lifting, torch's own kernels."""

    def __init__(self, graphs: GraphSet, run: Run, training: Training, device: str = "cpu"):
        self._graphs = graphs
        self._objective = initial_objective(graphs, run).to(device)
        self._model = self._objective.model
        self._optimizer = adam(list(self._objective.parameters()), training)
        self._evaluated: dict[tuple[int, ...], Graphs] = {}  # the same parts are looked at after every pass
        torch.manual_seed(seeded(run, Stream.DROPOUT))

    def one_pass(self, plan: Tensor) -> Tensor:
        """See :class:`Engine`."""
        total, count = torch.zeros(2), 0
        for ids in plan[:, 0]:
            ids = ids[ids >= 0]
            if len(ids) > 0:
                total += self._step(ids).cpu() * len(ids)
                count += len(ids)
        return (total / count).unsqueeze(1)

    def _step(self, ids: Tensor) -> Tensor:
        batch = self._graphs.batch(ids)
        self._objective.train()
        self._optimizer.zero_grad()
        losses = self._objective(batch.y, None, batch)
        losses.sum().backward()
        self._optimizer.step()
        return losses.detach()

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`Engine`."""
        return self._outputs("logits", ids, state)

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`Engine`."""
        return self._outputs("vectors", ids, state)

    def state(self) -> State:
        """See :class:`Engine`."""
        return {name: value.detach().clone().unsqueeze(0) for name, value in self._model.state_dict().items()}

    def better_state(self, better: Tensor, best: State) -> State:
        """See :class:`Engine`."""
        return better_state(better, self.state(), best)

    def keep(self, models: Tensor) -> None:
        """See :class:`Engine`; there is nothing to leave out."""

    def snapshot(self) -> dict[str, Tensor]:
        """All that the next steps depend on: weights, the optimizer's moments, the state of the random numbers."""
        tensors = {f"objective/{name}": value for name, value in self._objective.state_dict().items()}
        for number, moments in self._optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{number}/{name}": value for name, value in moments.items()}
        return {name: value.detach().clone() for name, value in (tensors | {"random": torch.get_rng_state()}).items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Goes on from where :meth:`snapshot` was taken, to the same numbers."""
        own = {n.removeprefix("objective/"): value for n, value in tensors.items() if n.startswith("objective/")}
        self._objective.load_state_dict(own)
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("optimizer/"):
                _, number, moment = name.split("/")
                moments.setdefault(int(number), {})[moment] = value
        self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": moments})
        torch.set_rng_state(tensors["random"])

    @torch.no_grad()
    def _outputs(self, name: str, ids: Tensor, state: State | None) -> Tensor:
        self._objective.eval()
        look = Look(self._model, name)
        weights = look.state_dict() if state is None else {f"model.{n}": value[0] for n, value in state.items()}
        batches = (self._evaluation_batch(part) for part in ids[0].split(EVALUATION_BATCH))
        return torch.cat([functional_call(look, weights, (batch,)) for batch in batches]).unsqueeze(0)

    def _evaluation_batch(self, ids: Tensor) -> Graphs:
        key = tuple(ids.tolist())
        if key not in self._evaluated:
            self._evaluated[key] = Graphs.of(self._graphs.batch(ids[ids >= 0]))
        return self._evaluated[key]


class Look(nn.Module):
    """One part of a model's output, by name, as a module: the form in which ``functional_call`` takes it."""

    def __init__(self, model: GraphClassifier, name: str):
        super().__init__()
        self.model, self._name = model, name

    def forward(self, *graphs: Any) -> Tensor:
        """That part of the output."""
        return getattr(self.model.run(*graphs), self._name)


def better_state(better: Tensor, current: State, best: State) -> State:
    """The current weights of the models that ``better`` [R] names, the best ones of the others."""
    if not best:
        return current
    return {name: torch.where(_beside(better, value), value, best[name]) for name, value in current.items()}


def _beside(models: Tensor, value: Tensor) -> Tensor:
    """One entry per model [R] in a shape that goes with values [R, ...]."""
    return models.to(value.device).view(-1, *[1] * (value.dim() - 1))


def adam(parameters: list[Tensor], training: Training) -> torch.optim.Adam:
    """The optimizer, as a GPU can capture it where the parameters are on one."""
    on_gpu = any(parameter.is_cuda for parameter in parameters)
    return torch.optim.Adam(
        parameters, lr=training.learning_rate, weight_decay=training.weight_decay, fused=True, capturable=on_gpu
    )
