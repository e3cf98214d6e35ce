"""A stack of models trained together, which keeps a GPU busy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap

from ssread import kernels
from ssread.data.batch import Bounds, PaddedBatch
from ssread.data.graphset import GraphSet
from ssread.models.graphs import Graphs
from ssread.neighbours import Neighbours
from ssread.train.cuda_graphs import Recorder
from ssread.train.engine import EVALUATION_BATCH, OutputPart, State, better_state, initial_objective, move_towards
from ssread.train.runs import Run, Training
from ssread.train.seeds import Stream, seeded
from ssread.train.stacked_adam import StackedAdam

__all__ = ["Cohort"]

#: The number of nodes of a padded batch is a power of this: some padding, but far fewer sizes to record a step for.
GRID = 1.05

#: Padded batches have this many times the most edges needed so far. Padding edges cost next to nothing.
SLACK = 1.1

#: With fewer models, kernel launches dominate the time of a step, so every batch is padded to the largest.
FEW = 8


class Cohort:
    """R models of equal shape, stacked: every tensor has a leading dimension R.

    The model's code is vmapped over the models. A step, from building the batch to the optimizer update, is recorded as
    a CUDA graph. Within an epoch nothing waits for the GPU.

    Args:
        graphs: The dataset.
        runs: The run of every model.
        training: How they are trained.
        device: ``cuda``, or ``cpu`` for the same computation without recording.
        say: Called with a sentence if the GPU cannot be used as intended.
    """

    def __init__(
        self,
        graphs: GraphSet,
        runs: Sequence[Run],
        training: Training,
        device: str,
        say: Callable[[str], None] = lambda _: None,
    ):
        self._say = say
        self._on_host, self._graphs = graphs.to("cpu"), graphs.to(device)
        self._symmetric = _is_symmetric(self._graphs)
        if self._graphs.x.is_cuda:
            torch.set_float32_matmul_precision("high" if training.precision == "tf32" else "highest")
        objectives = [initial_objective(graphs, run).to(device) for run in runs]
        self._objective = objectives[0]
        parameters, self._buffers = stack_module_state(objectives)
        self._optimizer = StackedAdam(parameters, training.learning_rate, training.weight_decay)
        self._recorder = Recorder(self._graphs.device, say)
        self._averaged: State = {}
        self._num_edges = 0
        self._ids = self._total = self._better = torch.empty(0)
        self._evaluated: _Evaluated | None = None
        torch.manual_seed(seeded(runs[0], Stream.DROPOUT))

    def learn_from(self, parts: Sequence[Tensor]) -> None:
        """See :class:`ssread.train.engine.Engine`."""
        assert self._on_host.y is not None
        features = self._on_host.graph_attr
        for number, part in enumerate(parts):
            of_graphs = None if features is None else features[part]
            learnt = self._objective.learnt_from(self._on_host.y[part], of_graphs)
            for name, value in (learnt | self._objective.placed_by(self._on_host, part)).items():
                self._buffers[name][number].copy_(value)

    def train_epoch(self, plan: Tensor) -> Tensor:
        """See :class:`ssread.train.engine.Engine`."""
        rooms = self.make_room(plan)
        self._objective.train()
        counts = (plan >= 0).sum(dim=2)
        for ids, count, room in zip(plan.to(self._graphs.device), counts, rooms, strict=True):
            self._ids.copy_(ids)
            self._train_on(room, guarded=bool((count == 0).any()))
        total = self._total.cpu() / counts.sum(dim=0)
        self._total.zero_()
        return total

    @property
    def parameters(self) -> State:
        """The weights of the models' objectives by name, each [R, ...]; values written to them take effect."""
        return self._optimizer.parameters

    def set_learning_rate(self, values: Tensor) -> None:
        """See :class:`ssread.train.engine.Engine`."""
        self._optimizer.set_learning_rate(values)

    @torch.no_grad()
    def average(self, weight: float) -> None:
        """See :class:`ssread.train.engine.Engine`."""
        if not self._averaged:
            self._averaged = {name: value.detach().clone() for name, value in self._weights().items()}
        move_towards(self._averaged, self._weights(), weight)

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`ssread.train.engine.Engine`."""
        return self._outputs("logits", ids, state)

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`ssread.train.engine.Engine`."""
        return self._outputs("vectors", ids, state)

    def state(self) -> State:
        """See :class:`ssread.train.engine.Engine`."""
        return {name: value.detach().clone() for name, value in self._judged().items()}

    def better_state(self, better: Tensor, best: State) -> State:
        """See :class:`ssread.train.engine.Engine`."""
        if not best:
            return self.state()
        if self._better.shape != better.shape:
            self._better = torch.zeros_like(better, device=self._graphs.device)
        self._better.copy_(better)

        def update() -> None:
            chosen = better_state(self._better, self._judged(), best)
            torch._foreach_copy_(list(best.values()), list(chosen.values()))

        with torch.no_grad():
            self._recorder.run(("better", id(best)), update)
        return best

    def keep(self, models: Tensor) -> None:
        """See :class:`ssread.train.engine.Engine`."""
        self._forget()
        models = models.to(self._graphs.device)
        self._buffers = {n: b[models] for n, b in self._buffers.items()}
        self._averaged = {n: value[models] for n, value in self._averaged.items()}
        self._optimizer = self._optimizer.select(models)

    def snapshot(self) -> dict[str, Tensor]:
        """See :class:`ssread.train.engine.Engine`."""
        tensors = {f"{group}/{name}": value for group, values in self._kept().items() for name, value in values.items()}
        tensors["random"], tensors["num_edges"] = torch.get_rng_state(), torch.tensor(self._num_edges)
        if self._graphs.x.is_cuda:
            tensors["random_on_gpu"] = torch.cuda.get_rng_state(self._graphs.device)
        return {name: value.detach().cpu().clone() for name, value in tensors.items()}

    @torch.no_grad()
    def restore(self, tensors: dict[str, Tensor]) -> None:
        """See :class:`ssread.train.engine.Engine`."""
        self._forget()
        if any(name.startswith("averaged/") for name in tensors):
            self._averaged = {name: value.detach().clone() for name, value in self._weights().items()}
        for group, values in self._kept().items():
            for name, value in values.items():
                value.copy_(tensors[f"{group}/{name}"])
        self._num_edges = int(tensors["num_edges"])
        torch.set_rng_state(tensors["random"])
        if self._graphs.x.is_cuda:
            torch.cuda.set_rng_state(tensors["random_on_gpu"], self._graphs.device)

    def _kept(self) -> dict[str, State]:
        """The tensors that the next steps depend on; they stay in place."""
        return {"optimizer": self._optimizer.state(), "buffers": self._buffers, "averaged": self._averaged}

    def make_room(self, plan: Tensor) -> list[Bounds]:
        """Returns the padded size of every step of a plan, and allocates the tensors that the steps read and write."""
        needed = [self._on_host.bounds(ids) for ids in plan]
        most = Bounds(*(max(numbers) for numbers in zip(*needed, strict=True)))
        if self._num_edges < most.num_edges or self._ids.shape != plan.shape[1:]:
            self._forget()
            self._num_edges = int(SLACK * max(most.num_edges, self._num_edges))
            self._ids = torch.full(plan.shape[1:], -1, device=self._graphs.device)
            self._total = torch.zeros(2, plan.size(1), device=self._graphs.device)
        few = plan.size(1) < FEW
        return [Bounds(_on_grid((most if few else room).num_nodes), self._num_edges) for room in needed]

    def _train_on(self, room: Bounds, guarded: bool) -> None:
        """Takes a step on the graphs ``self._ids``; falls back to plain torch code where Triton cannot compile."""

        def step() -> None:
            (self._guarded_step if guarded else self._step)(room)

        try:
            self._recorder.run(("step", room, guarded), step)
        except Exception as error:
            if not kernels.give_up(error):
                raise
            self._say("Triton cannot compile the fused kernels here: plain torch code does their work, more slowly.")
            self._recorder.forget()
            self._recorder.run(("step", room, guarded), step)

    def _forget(self) -> None:
        self._recorder.forget()
        self._evaluated = None
        self._ids = self._total = self._better = torch.empty(0)

    def _step(self, room: Bounds) -> None:
        """Takes one step on the graphs ``self._ids`` [R, B]."""
        self._optimizer.zero_grad()
        batch = self._graphs.padded_batch(self._ids, room)
        losses = self._losses_of(batch)
        losses.sum().backward()
        count = batch.graph_mask.sum(dim=1)
        self._optimizer.step(count > 0)
        self._total += torch.where(count > 0, losses.detach().T * count, 0)

    def _guarded_step(self, room: Bounds) -> None:
        """As :meth:`_step`, but models without a graph in this step keep their statistics as well as their weights."""
        before = {name: buffer.clone() for name, buffer in self._buffers.items()}
        self._step(room)
        stepped = (self._ids >= 0).any(dim=1)
        for name, buffer in better_state(stepped, self._buffers, before).items():
            self._buffers[name].copy_(buffer)

    def _losses_of(self, batch: PaddedBatch) -> Tensor:
        """Computes both losses of every model, [R, 2]."""

        def losses(state: State, y: Tensor | None, real: Tensor, *tensors: Tensor) -> Tensor:
            return functional_call(self._objective, state, (y, real, self._graphs_of(tensors, batch)))

        state = {**self.parameters, **self._buffers}
        tensors = self._tensors(batch)
        in_dims = (0, None if batch.y is None else 0, *[0] * (1 + len(tensors)))  # unlabelled graphs have no y
        return vmap(losses, in_dims, randomness="different")(state, batch.y, batch.graph_mask, *tensors)

    @torch.no_grad()
    def _outputs(self, name: str, ids: Tensor, state: State | None) -> Tensor:
        """Returns a part of the output for the graphs ``ids``; repeated calls with the current weights are recorded."""
        self._objective.eval()
        if state is not None:
            return self._output(name, self._parts(ids), state)
        last = self._evaluated
        if last is None or last.ids is not ids or last.name != name:
            parts = self._parts(ids)
            self._evaluated = _Evaluated(ids, name, parts, self._output(name, parts, self._judged()))
            return self._evaluated.output.clone()

        def evaluate_again() -> None:
            last.output.copy_(self._output(name, last.parts, self._judged()))

        self._recorder.run(("output", id(ids), name), evaluate_again)
        return last.output.clone()

    def _parts(self, ids: Tensor) -> list[tuple[Tensor, Bounds]]:
        """Splits graphs [R, n] into parts that are evaluated together, each with its padded size."""
        parts = ids.split(EVALUATION_BATCH, dim=1)
        return [(part.to(self._graphs.device), self._on_host.bounds(part)) for part in parts]

    def _output(self, name: str, parts: list[tuple[Tensor, Bounds]], state: State) -> Tensor:
        weights = {f"model.{n}": value for n, value in state.items()}
        part_of_output = OutputPart(self._objective.model, name)
        outputs = []
        for ids, room in parts:
            batch = self._graphs.padded_batch(ids, room)

            def output(weights: State, *tensors: Tensor, batch: PaddedBatch = batch) -> Tensor:
                return functional_call(part_of_output, weights, (self._graphs_of(tensors, batch),))[:-1]

            outputs.append(vmap(output, randomness="different")(weights, *self._tensors(batch)))
        return torch.cat(outputs, dim=1)

    def _tensors(self, batch: PaddedBatch) -> tuple[Tensor, ...]:
        """The tensors of a padded batch that have a leading dimension to vmap over."""
        node = torch.arange(batch.num_nodes + 1, device=batch.x.device).expand(len(batch.x), -1).contiguous()
        start = torch.searchsorted(batch.edge_index[:, 0].contiguous(), node)
        # Padding edges are loops on the last node, which is padding too. Leave them out: they would be one long row.
        start = torch.cat([start[:, :-1], start[:, -2:-1]], dim=1)
        # The dummy graph would be one long row, too. Padding nodes come after those of the last real graph.
        ptr = torch.cat([batch.ptr[:, :-1], batch.ptr[:, -2:-1]], dim=1)
        tensors = (batch.x, batch.edge_index, batch.batch, batch.node_mask, ptr, start)
        return (*tensors, *(further for further in (batch.edge_attr, batch.graph_attr) if further is not None))

    def _graphs_of(self, tensors: tuple[Any, ...], batch: PaddedBatch) -> Graphs:
        """The graphs of one model, inside the vmapped function."""
        x, edge_index, index, mask, ptr, start, *further = tensors
        neighbours = Neighbours(edge_index[0], edge_index[1], x.size(0), start, self._symmetric)
        mask = mask.to(x.dtype).view(-1, 1)
        edge_attr = None if batch.edge_attr is None else further.pop(0)
        graph_attr = further[0] if further else None
        return Graphs(x, edge_index, edge_attr, index, batch.batch_size, mask, neighbours, ptr, graph_attr)

    def _judged(self) -> State:
        """The averaged weights; the current ones if nothing is averaged."""
        return self._averaged or self._weights()

    def _weights(self) -> State:
        """The models' own weights and statistics, without those of the rest of their objectives."""
        tensors = {**self.parameters, **self._buffers}
        return {name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")}


class _Evaluated(NamedTuple):
    """The last evaluation; a repeated one changes only the values in ``output``."""

    ids: Tensor
    name: str
    parts: list[tuple[Tensor, Bounds]]
    output: Tensor


def _on_grid(number: int) -> int:
    """The next power of the grid, rounded up to a multiple of 16, which kernels read at once."""
    return 16 * math.ceil(GRID ** math.ceil(math.log(number, GRID)) / 16)


def _is_symmetric(graphs: GraphSet) -> bool:
    """Whether every edge has its reverse, with the same features; edges are sorted and unique."""
    source, target = graphs.edge_index
    graph = torch.repeat_interleave(graphs.edge_ptr.diff())
    offset = graphs.node_ptr[graph]
    reverse = ((target + offset) * graphs.x.size(0) + source + offset).argsort()
    same = bool((source[reverse] == target).all()) and bool((target[reverse] == source).all())
    return same and (graphs.edge_attr is None or torch.equal(graphs.edge_attr[reverse], graphs.edge_attr))
