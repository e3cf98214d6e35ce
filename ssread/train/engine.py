"""One training step for one model, or for many models as one.

:class:`Alone` trains a single model and is the fastest way on a CPU; :class:`Lifted` stacks the weights of R models and
lifts the model's code over the stack with ``torch.func.vmap``, which is what fills a GPU. Given the same seeds, and
without dropout, they give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from ssread.data.batch import PaddedBatch
from ssread.data.graphset import GraphSet
from ssread.models.classifier import GraphClassifier
from ssread.models.graphs import Graphs
from ssread.train.learning import objective_for
from ssread.train.objective import Objective
from ssread.train.runs import Run, Training

__all__ = ["Alone", "Engine", "Lifted", "State", "Stream", "initial_objective", "seeded"]

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
        return objective_for(graphs, run)


class Engine(Protocol):
    """Models in training, and the one way to step them, to look at them and to let them go."""

    def step(self, ids: Tensor) -> Tensor:
        """One step on the graphs ``ids`` [R, B] (-1 pads); gives both losses of every model, [2, R]."""

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """Class scores [R, n, C] of the graphs ``ids`` [R, n] (-1 pads), by the current weights or given ones."""

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """Graph vectors [R, n, D], as :meth:`logits`."""

    def state(self) -> State:
        """The current weights and statistics; a copy where they may change under the caller."""

    def keep(self, models: Tensor) -> None:
        """Goes on with the models numbered ``models`` alone."""


class Alone:
    """A single model: no padding, no lifting, torch's own kernels."""

    def __init__(self, graphs: GraphSet, run: Run, training: Training, device: str = "cpu"):
        self._graphs = graphs
        self._objective = initial_objective(graphs, run).to(device)
        self._model = self._objective.model
        self._optimizer = _adam(list(self._objective.parameters()), training)
        self._evaluated: dict[tuple[int, ...], Graphs] = {}  # the same parts are looked at after every pass
        torch.manual_seed(seeded(run, Stream.DROPOUT))

    def step(self, ids: Tensor) -> Tensor:
        """See :class:`Engine`."""
        batch = self._graphs.batch(ids[0][ids[0] >= 0])
        self._objective.train()
        self._optimizer.zero_grad()
        losses = self._objective(batch.y, None, batch)
        losses.sum().backward()
        self._optimizer.step()
        return losses.detach().unsqueeze(1)

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`Engine`."""
        return self._outputs("logits", ids, state)

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`Engine`."""
        return self._outputs("vectors", ids, state)

    def state(self) -> State:
        """See :class:`Engine`."""
        return {name: value.detach().clone().unsqueeze(0) for name, value in self._model.state_dict().items()}

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
        look = _Look(self._model, name)
        weights = look.state_dict() if state is None else {f"model.{n}": value[0] for n, value in state.items()}
        batches = (self._evaluation_batch(part) for part in ids[0].split(EVALUATION_BATCH))
        return torch.cat([functional_call(look, weights, (batch,)) for batch in batches]).unsqueeze(0)

    def _evaluation_batch(self, ids: Tensor) -> Graphs:
        key = tuple(ids.tolist())
        if key not in self._evaluated:
            self._evaluated[key] = Graphs.of(self._graphs.batch(ids[ids >= 0]))
        return self._evaluated[key]


class Lifted:
    """R models of equal shape as one, every tensor with a leading dimension R."""

    def __init__(self, graphs: GraphSet, runs: Sequence[Run], training: Training, device: str):
        self._graphs = graphs.to(device)
        self._training = training
        objectives = [initial_objective(graphs, run).to(device) for run in runs]
        self._objective = objectives[0]
        self._parameters, self._buffers = stack_module_state(objectives)
        self._optimizer = _adam(list(self._parameters.values()), training)
        torch.manual_seed(seeded(runs[0], Stream.DROPOUT))

    def step(self, ids: Tensor) -> Tensor:
        """See :class:`Engine`."""
        ids = ids.to(self._graphs.device)
        has_graphs = (ids >= 0).any(dim=1)
        before = None if bool(has_graphs.all()) else self._snapshot()
        self._objective.train()
        self._optimizer.zero_grad()
        losses = self._losses_of(self._graphs.padded_batch(ids, self._graphs.bounds(ids)))
        losses.sum().backward()
        self._optimizer.step()
        if before is not None:
            self._undo(before, ~has_graphs)
        return losses.detach().T

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`Engine`."""
        return self._outputs("logits", ids, state)

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`Engine`."""
        return self._outputs("vectors", ids, state)

    def state(self) -> State:
        """See :class:`Engine`."""
        return {name: value.detach().clone() for name, value in self._weights().items()}

    def keep(self, models: Tensor) -> None:
        """See :class:`Engine`."""
        models = models.to(self._graphs.device)
        moments = [self._optimizer.state[p] for p in self._parameters.values()]
        with torch.no_grad():
            self._parameters = {n: p[models].requires_grad_() for n, p in self._parameters.items()}
            self._buffers = {n: b[models] for n, b in self._buffers.items()}
        self._optimizer = _adam(list(self._parameters.values()), self._training)
        for parameter, old in zip(self._parameters.values(), moments, strict=True):
            self._optimizer.state[parameter] = {n: v if v.dim() == 0 else v[models] for n, v in old.items()}

    @torch.no_grad()
    def _outputs(self, name: str, ids: Tensor, state: State | None) -> Tensor:
        ids = ids.to(self._graphs.device)
        weights = {f"model.{n}": value for n, value in (self._weights() if state is None else state).items()}
        self._objective.eval()
        look = _Look(self._objective.model, name)
        parts = []
        for part in ids.split(EVALUATION_BATCH, dim=1):
            batch = self._graphs.padded_batch(part, self._graphs.bounds(part))

            def output(weights: State, *tensors: Tensor, batch: PaddedBatch = batch) -> Tensor:
                return functional_call(look, weights, _arguments(tensors, batch))[:-1]

            parts.append(vmap(output, randomness="different")(weights, *_tensors(batch)))
        return torch.cat(parts, dim=1)

    def _losses_of(self, batch: PaddedBatch) -> Tensor:
        """Both losses of every model, [R, 2]."""

        def losses(state: State, y: Tensor | None, real: Tensor, *tensors: Tensor) -> Tensor:
            return functional_call(self._objective, state, (y, real, *_arguments(tensors, batch)))

        state = {**self._parameters, **self._buffers}
        tensors = _tensors(batch)
        in_dims = (0, None if batch.y is None else 0, *[0] * (1 + len(tensors)))  # unlabelled graphs have no y
        return vmap(losses, in_dims, randomness="different")(state, batch.y, batch.graph_mask, *tensors)

    def _weights(self) -> State:
        """The models' own weights and statistics, without what else their objectives have."""
        every = {**self._parameters, **self._buffers}
        return {name.removeprefix("model."): value for name, value in every.items() if name.startswith("model.")}

    def _snapshot(self) -> list[Tensor]:
        return [tensor.detach().clone() for tensor in self._stepped()]

    def _undo(self, before: list[Tensor], models: Tensor) -> None:
        """Takes a step back for models that had no graph in it: Adam would have moved them all the same."""
        with torch.no_grad():
            for tensor, old in zip(self._stepped(), before, strict=True):
                tensor[models] = old[models]

    def _stepped(self) -> list[Tensor]:
        tensors = [*self._parameters.values(), *self._buffers.values()]
        for parameter in self._parameters.values():
            state = self._optimizer.state[parameter]
            tensors += [value for value in state.values() if value.dim() > 0]
        return tensors


class _Look(nn.Module):
    """One part of a model's output, by name, as a module: the form in which ``functional_call`` takes it."""

    def __init__(self, model: GraphClassifier, name: str):
        super().__init__()
        self.model, self._name = model, name

    def forward(self, *graphs: Any) -> Tensor:
        return getattr(self.model.run(*graphs), self._name)


def _tensors(batch: PaddedBatch) -> tuple[Tensor, ...]:
    """What of a padded batch has a leading dimension to lift over."""
    tensors = (batch.x, batch.edge_index, batch.batch, batch.node_mask)
    return tensors if batch.edge_attr is None else (*tensors, batch.edge_attr)


def _arguments(tensors: tuple[Tensor, ...], batch: PaddedBatch) -> tuple[Any, ...]:
    """The arguments of a model in order: x, edge_index, batch, edge_attr, batch_size, mask."""
    x, edge_index, index, mask, *edge_attr = tensors
    return x, edge_index, index, edge_attr[0] if edge_attr else None, batch.batch_size, mask


def _adam(parameters: list[Tensor], training: Training) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, lr=training.learning_rate, weight_decay=training.weight_decay, fused=True)
