"""The columns of a table of predictions, for every task."""

import math
from typing import Any, NamedTuple

import numpy as np
import pyarrow
import torch
from torch import Tensor

from ssread import segment
from ssread.apply.output_tables import OUTSIDE
from ssread.apply.trained_model import TrainedModel
from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION

__all__ = ["Evaluated", "prediction_columns"]

#: Values of the usable rows, and their type.
Column = tuple[Any, pyarrow.DataType]

#: The columns of every table, which no prediction may be named like.
TAKEN = ("id", "smiles", OUTSIDE, "problem")


class Evaluated(NamedTuple):
    """What a model computes for graphs.

    Attributes:
        of_members: Every member's predictions, [members, n, outputs].
        shares: The share of nodes in each structural position, [n, K]; ``None`` with a global readout.
        distances: The distance to the training graphs, [n]; ``None`` for a model that keeps none.
    """

    of_members: Tensor
    shares: Tensor | None
    distances: Tensor | None

    @classmethod
    def of(cls, model: TrainedModel, graphs: GraphSet | None) -> "Evaluated":
        """Evaluates a model; ``None`` stands for no graphs."""
        positions = model.num_positions
        of_members = [torch.empty(len(model.models), 0, len(model.output_names))]
        shares, distances = [torch.empty(0, positions)], [torch.empty(0)]
        for ids, outputs in model.run(graphs) if graphs is not None else ():
            of_members.append(model.of_members(outputs).cpu())
            if graphs is not None and positions:
                position, sizes = model.node_positions(outputs).cpu(), graphs.node_counts.cpu()[ids]
                shares.append(_position_shares(position, sizes, positions))
            if model.reference is not None:
                distances.append(model.reference.distances(outputs[0].vectors).cpu())
        return cls(
            torch.cat(of_members, dim=1),
            torch.cat(shares) if positions else None,
            None if model.reference is None else torch.cat(distances),
        )


def prediction_columns(model: TrainedModel, found: Evaluated, coverage: float | None = None) -> dict[str, Column]:
    """The columns between ``id`` and ``problem``, as :func:`ssread.apply.predict` describes them."""
    columns = _Columns()
    predicted = model.together(found.of_members)
    spread = found.of_members.numpy().std(axis=0, ddof=1) if len(model.models) > 1 else None
    of_task = {CLASSIFICATION: _classes, MULTILABEL: _labels, REGRESSION: _numbers}[model.task]
    of_task(columns, model, predicted, spread, coverage)
    if found.distances is not None:
        columns.add("distance", found.distances)
    if found.shares is not None:
        for number, (name, share) in enumerate(zip(model.position_names, found.shares.T, strict=True)):
            columns.add(name if name == f"position {number}" else f"share({name})", share)
    return columns.by_name


class _Columns:
    """Columns in order, each under a name of its own."""

    def __init__(self) -> None:
        self.by_name: dict[str, Column] = {}

    def add(self, name: str, values: Any, kind: pyarrow.DataType | None = None) -> None:
        while name in self.by_name or name in TAKEN:
            name += " (predicted)"
        values = values.numpy() if isinstance(values, Tensor) else values
        self.by_name[name] = values, kind or pyarrow.float32()


def _classes(
    columns: _Columns, model: TrainedModel, predicted: Tensor, spread: np.ndarray | None, coverage: float | None
) -> None:
    names = np.array(model.output_names, dtype=object)
    chosen = predicted.argmax(dim=-1).numpy()
    columns.add("class", names[chosen], pyarrow.string())
    for number, name in enumerate(model.output_names):
        columns.add(f"p({name})", predicted[:, number])
    entropy = -torch.special.xlogy(predicted, predicted).sum(dim=-1)
    columns.add("uncertainty", entropy / math.log(max(predicted.size(-1), 2)))
    if spread is not None:
        columns.add("spread", spread[np.arange(len(chosen)), chosen])
    if coverage is not None:
        assert model.calibration is not None
        columns.add("set", _joined(model.calibration.sets(predicted, coverage), names), pyarrow.string())


def _labels(
    columns: _Columns, model: TrainedModel, predicted: Tensor, spread: np.ndarray | None, coverage: float | None
) -> None:
    for number, name in enumerate(model.output_names):
        columns.add(name, (predicted[:, number] > 0.5).to(torch.int8), pyarrow.int8())
        columns.add(f"p({name})", predicted[:, number])
        if spread is not None:
            columns.add(f"spread({name})", spread[:, number])
        if coverage is not None:
            assert model.calibration is not None
            members = model.calibration.sets(predicted, coverage)[:, number]
            columns.add(f"set({name})", _joined(members, np.array(["0", "1"])), pyarrow.string())


def _numbers(
    columns: _Columns, model: TrainedModel, predicted: Tensor, spread: np.ndarray | None, coverage: float | None
) -> None:
    for number, name in enumerate(model.output_names):
        columns.add(name, predicted[:, number])
        if spread is not None:
            columns.add(f"spread({name})", spread[:, number])
        if coverage is not None:
            assert model.calibration is not None
            low, high = model.calibration.intervals(predicted, coverage)
            columns.add(f"low({name})", low[:, number])
            columns.add(f"high({name})", high[:, number])


def _joined(members: Tensor, names: np.ndarray) -> list[str]:
    """The names of the members of every row's set, as one text."""
    return ["; ".join(names[row]) for row in members.numpy()]


def _position_shares(position: Tensor, sizes: Tensor, num_positions: int) -> Tensor:
    """The share of nodes in each position, [B, K], for graphs of these sizes [B]; zeros for a graph without nodes.

    Nodes that pooling dropped do not count.
    """
    num_graphs = len(sizes)
    graph = torch.arange(num_graphs).repeat_interleave(sizes)
    pair = torch.where(position >= 0, graph * num_positions + position, num_graphs * num_positions)
    counts = segment.count(pair, num_graphs * num_positions + 1)[:-1].view(num_graphs, num_positions)
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
