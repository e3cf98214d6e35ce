"""A single model in training: no padding, no vmap, torch's own kernels. This is the fastest way on a CPU."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.func import functional_call

from ssread.data.graphset import GraphSet
from ssread.models.graphs import Graphs
from ssread.train.engine import EVALUATION_BATCH, OutputPart, State, better_state, initial_objective, move_towards
from ssread.train.runs import Run, Training
from ssread.train.seeds import Stream, seeded

__all__ = ["Single"]


class Single:
    """One model and its optimizer; see :class:`ssread.train.engine.Engine`.

    Args:
        graphs: The dataset.
        run: The run of the model.
        training: How it is trained.
        device: The device to train on.
    """

    def __init__(self, graphs: GraphSet, run: Run, training: Training, device: str = "cpu"):
        self._graphs = graphs
        self._objective = initial_objective(graphs, run).to(device)
        self._model = self._objective.model
        self._optimizer = torch.optim.Adam(
            self._objective.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay, fused=True
        )
        self._averaged: State = {}
        self._evaluated: dict[tuple[int, ...], Graphs] = {}  # the same parts are evaluated after every epoch
        torch.manual_seed(seeded(run, Stream.DROPOUT))

    def learn_from(self, parts: Sequence[Tensor]) -> None:
        """See :class:`Engine`."""
        assert self._graphs.y is not None
        features = None if self._graphs.graph_attr is None else self._graphs.graph_attr[parts[0]]
        learnt = self._objective.learnt_from(self._graphs.y[parts[0]], features)
        for name, value in (learnt | self._objective.placed_by(self._graphs, parts[0])).items():
            self._objective.get_buffer(name).copy_(value)

    def train_epoch(self, plan: Tensor) -> Tensor:
        """See :class:`Engine`."""
        self._objective.train()
        total, count = torch.zeros(2), 0
        for ids in plan[:, 0]:
            ids = ids[ids >= 0]
            if len(ids) > 0:
                total += self._step(ids).cpu() * len(ids)
                count += len(ids)
        return (total / count).unsqueeze(1)

    def _step(self, ids: Tensor) -> Tensor:
        batch = self._graphs.batch(ids)
        self._optimizer.zero_grad()
        losses = self._objective(batch.y, None, batch)
        losses.sum().backward()
        self._optimizer.step()
        return losses.detach()

    def set_learning_rate(self, values: Tensor) -> None:
        """See :class:`Engine`."""
        for group in self._optimizer.param_groups:
            group["lr"] = float(values)

    @torch.no_grad()
    def average(self, weight: float) -> None:
        """See :class:`Engine`."""
        current = {name: value.unsqueeze(0) for name, value in self._model.state_dict().items()}
        if not self._averaged:
            self._averaged = {name: value.clone() for name, value in current.items()}
        move_towards(self._averaged, current, weight)

    def logits(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`Engine`."""
        return self._outputs("logits", ids, state)

    def vectors(self, ids: Tensor, state: State | None = None) -> Tensor:
        """See :class:`Engine`."""
        return self._outputs("vectors", ids, state)

    def state(self) -> State:
        """See :class:`Engine`."""
        return {name: value.clone() for name, value in self._judged().items()}

    def better_state(self, better: Tensor, best: State) -> State:
        """See :class:`Engine`."""
        return better_state(better, self.state(), best)

    def _judged(self) -> State:
        """The averaged weights; the current ones if nothing is averaged."""
        return self._averaged or {name: value.unsqueeze(0) for name, value in self._model.state_dict().items()}

    def keep(self, models: Tensor) -> None:
        """See :class:`Engine`; a single model always stays."""

    def snapshot(self) -> dict[str, Tensor]:
        """See :class:`Engine`."""
        tensors = {f"objective/{name}": value for name, value in self._objective.state_dict().items()}
        for number, moments in self._optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{number}/{name}": value for name, value in moments.items()}
        tensors |= {f"averaged/{name}": value for name, value in self._averaged.items()}
        return {name: value.detach().clone() for name, value in (tensors | {"random": torch.get_rng_state()}).items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """See :class:`Engine`."""
        own = {n.removeprefix("objective/"): value for n, value in tensors.items() if n.startswith("objective/")}
        self._objective.load_state_dict(own)
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("optimizer/"):
                _, number, moment = name.split("/")
                moments.setdefault(int(number), {})[moment] = value
        self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": moments})
        self._averaged = {n.removeprefix("averaged/"): v for n, v in tensors.items() if n.startswith("averaged/")}
        torch.set_rng_state(tensors["random"])

    @torch.no_grad()
    def _outputs(self, name: str, ids: Tensor, state: State | None) -> Tensor:
        self._objective.eval()
        part_of_output = OutputPart(self._model, name)
        state = self._judged() if state is None else state
        weights = {f"model.{n}": value[0] for n, value in state.items()}
        batches = (self._evaluation_batch(part) for part in ids[0].split(EVALUATION_BATCH))
        return torch.cat([functional_call(part_of_output, weights, (batch,)) for batch in batches]).unsqueeze(0)

    def _evaluation_batch(self, ids: Tensor) -> Graphs:
        key = tuple(ids.tolist())
        if key not in self._evaluated:
            self._evaluated[key] = Graphs.of(self._graphs.batch(ids[ids >= 0]))
        return self._evaluated[key]
