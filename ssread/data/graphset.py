"""GraphSet: all graphs of a dataset in a few flat tensors."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ssread.common.checking import shorten
from ssread.data import batch as batching
from ssread.data import storage
from ssread.data.check import check
from ssread.data.skipped import SkippedRow
from ssread.data.task_names import CLASSIFICATION, MULTILABEL
from ssread.errors import InputError

Selection = slice | Sequence[int] | Tensor


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """A graph set: all graphs of a dataset as flat columns. Treat it as immutable.

    Graph ``g`` has the rows ``node_ptr[g]:node_ptr[g + 1]`` of every node column and the columns
    ``edge_ptr[g]:edge_ptr[g + 1]`` of ``edge_index``. A graph may have 0 nodes. Every reader of the package builds
    its graph set with :func:`ssread.data.assemble.assemble`.

    Args:
        name: The name of the dataset.
        x: Node features ``[N, F]``, float32.
        node_ptr: Where each graph's nodes begin ``[G + 1]``, int64.
        edge_index: Directed edges ``[2, E]`` with node ids within the graph, sorted by (graph, row, column), without
            duplicates, int64.
        edge_ptr: Where each graph's edges begin ``[G + 1]``, int64.
        edge_attr: Edge features ``[E, D]``, float32, or ``None``.
        graph_attr: Features of whole graphs ``[G, D]``, float32, NaN where one is not known, or ``None``.
        y: Class index of each graph ``[G]``, int64; for other tasks what is to be predicted ``[G, T]``, float32, NaN
            where it is not known; ``None`` without labels.
        class_names: Name of each class.
        node_feature_names: Name of each column of ``x``.
        edge_feature_names: Name of each column of ``edge_attr``.
        graph_feature_names: Name of each column of ``graph_attr``.
        ids: The id of each graph in its source; row numbers by default.
        undirected: Whether every edge has its reverse.
        repairs: The repairs made while reading, and how often each was needed.
        node_columns: Further tensors with one row per node, such as a known position.
        graph_columns: Further tensors with one row per graph.
        graph_texts: Further texts, one per graph, such as SMILES.
        task: What ``y`` holds: a class (``classification``), labels that are each 0 or 1 (``multilabel``), or numbers
            (``regression``).
        target_names: Name of each label or number of ``y``; of classes there are none.
        skipped: The rows of the source that could not be used and were left out.
    """

    name: str
    x: Tensor
    node_ptr: Tensor
    edge_index: Tensor
    edge_ptr: Tensor
    edge_attr: Tensor | None = None
    y: Tensor | None = None
    class_names: tuple[str, ...] = ()
    node_feature_names: tuple[str, ...] = ()
    edge_feature_names: tuple[str, ...] = ()
    ids: Sequence[str] = ()
    undirected: bool = True
    repairs: Mapping[str, int] = field(default_factory=dict)
    node_columns: Mapping[str, Tensor] = field(default_factory=dict)
    graph_columns: Mapping[str, Tensor] = field(default_factory=dict)
    graph_texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    task: str = CLASSIFICATION
    target_names: tuple[str, ...] = ()
    skipped: Sequence[SkippedRow] = ()
    graph_attr: Tensor | None = None
    graph_feature_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.ids) == 0 and len(self) > 0:
            object.__setattr__(self, "ids", RowNumbers(range(len(self))))

    # -- size ------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.node_ptr.numel() - 1

    @property
    def num_classes(self) -> int:
        """Number of classes; 0 without labels."""
        return len(self.class_names)

    @property
    def output_names(self) -> tuple[str, ...]:
        """What a model of these graphs predicts, by name: a score for each class, or each label or number."""
        return self.class_names or self.target_names

    @property
    def num_node_features(self) -> int:
        """Number of columns of ``x``."""
        return self.x.size(1)

    @property
    def num_edge_features(self) -> int:
        """Number of columns of ``edge_attr``; 0 without edge features."""
        return 0 if self.edge_attr is None else self.edge_attr.size(1)

    @property
    def num_graph_features(self) -> int:
        """Number of columns of ``graph_attr``; 0 without features of whole graphs."""
        return 0 if self.graph_attr is None else self.graph_attr.size(1)

    @property
    def node_counts(self) -> Tensor:
        """Number of nodes of each graph ``[G]``."""
        return self.node_ptr.diff()

    @property
    def edge_counts(self) -> Tensor:
        """Number of directed edges of each graph ``[G]``."""
        return self.edge_ptr.diff()

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return self.x.device

    def statistics(self) -> dict[str, Any]:
        """Returns the size of the dataset in the terms of the paper's Table I.

        If the graphs are undirected, ``mean_edges`` counts the two directions of an edge as one edge and a self-loop
        as one edge. Otherwise it counts every directed edge.
        """
        num_loops = int((self.edge_index[0] == self.edge_index[1]).sum())
        num_edges = self.edge_index.size(1)
        if self.undirected:
            num_edges = (num_edges + num_loops) // 2
        classes: list[int] = []
        if self.y is not None and self.task == CLASSIFICATION:
            classes = torch.bincount(self.y, minlength=self.num_classes).tolist()
        return {
            "graphs": len(self),
            "mean_nodes": self.x.size(0) / max(len(self), 1),
            "mean_edges": num_edges / max(len(self), 1),
            "max_nodes": int(self.node_counts.max()) if len(self) else 0,
            "classes": self.num_classes,
            "class_counts": dict(zip(self.class_names, classes, strict=False)),
            **({"targets": targets} if (targets := self._target_statistics()) else {}),
            "node_features": self.num_node_features,
            "edge_features": self.num_edge_features,
        }

    def _target_statistics(self) -> dict[str, dict[str, float]]:
        """Returns how often every label or number is known, with its mean, smallest and largest value."""
        if self.y is None or self.task == CLASSIFICATION:
            return {}
        described = {}
        for name, column in zip(self.target_names, self.y.T, strict=True):
            known = column[~column.isnan()]
            lowest, highest = (float(known.min()), float(known.max())) if len(known) else (math.nan, math.nan)
            mean = float(known.double().mean())
            described[name] = {"known": len(known), "mean": mean, "lowest": lowest, "highest": highest}
        return described

    def __repr__(self) -> str:
        numbers = self.statistics()
        parts = [
            f"{numbers['graphs']} graphs",
            f"{numbers['mean_nodes']:.2f} nodes and {numbers['mean_edges']:.2f} edges on average",
            f"{numbers['node_features']} node features",
        ]
        if self.edge_attr is not None:
            parts.append(f"{numbers['edge_features']} edge features")
        if self.graph_attr is not None:
            parts.append(f"{self.num_graph_features} features of whole graphs")
        parts += [_describe(self.task, name, values) for name, values in numbers.get("targets", {}).items()]
        if self.class_names and self.y is not None:
            counts = ", ".join(f"{name!r}: {count}" for name, count in numbers["class_counts"].items())
            parts.append(f"{self.num_classes} classes {{{counts}}}")
        parts += [f"{count} {what}" for what, count in self.repairs.items()]
        return f"GraphSet({self.name!r}, {', '.join(parts)})"

    # -- selection -------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, which: int) -> Data: ...

    @overload
    def __getitem__(self, which: Selection) -> GraphSet: ...

    def __getitem__(self, which: int | Selection) -> Data | GraphSet:
        """Returns one graph as PyG ``Data`` for an int, a smaller GraphSet for a slice, numbers or a boolean mask.

        A slice of step 1 shares its memory with this set. Other selections copy the selected graphs.
        """
        if isinstance(which, (int, np.integer)) or (isinstance(which, Tensor) and which.dim() == 0):
            return self._as_data(range(len(self))[int(which)])
        if isinstance(which, slice):
            chosen = range(len(self))[which]
            if chosen.step == 1:
                return self._slice(chosen.start, max(chosen.start, chosen.stop))
            which = list(chosen)
        ids = batching.as_ids(self, which)
        nodes = batching.select_rows(self.node_ptr, ids)
        edges = batching.select_rows(self.edge_ptr, ids)
        numbers = ids.tolist()
        return replace(
            self,
            x=self.x.index_select(0, nodes.source),
            node_ptr=nodes.ptr,
            edge_index=self.edge_index.index_select(1, edges.source),
            edge_ptr=edges.ptr,
            edge_attr=None if self.edge_attr is None else self.edge_attr.index_select(0, edges.source),
            y=None if self.y is None else self.y[ids],
            graph_attr=None if self.graph_attr is None else self.graph_attr[ids],
            ids=tuple(self.ids[number] for number in numbers),
            node_columns={name: column[nodes.source] for name, column in self.node_columns.items()},
            graph_columns={name: column[ids] for name, column in self.graph_columns.items()},
            graph_texts={n: tuple(texts[i] for i in numbers) for n, texts in self.graph_texts.items()},
        )

    def _slice(self, start: int, stop: int) -> GraphSet:
        """Returns the graphs ``start:stop`` as views of this set's memory."""
        node_ptr, edge_ptr = self.node_ptr[start : stop + 1], self.edge_ptr[start : stop + 1]
        nodes = slice(int(node_ptr[0]), int(node_ptr[-1]))
        edges = slice(int(edge_ptr[0]), int(edge_ptr[-1]))
        return replace(
            self,
            x=self.x[nodes],
            node_ptr=node_ptr - nodes.start,
            edge_index=self.edge_index[:, edges],
            edge_ptr=edge_ptr - edges.start,
            edge_attr=None if self.edge_attr is None else self.edge_attr[edges],
            y=None if self.y is None else self.y[start:stop],
            graph_attr=None if self.graph_attr is None else self.graph_attr[start:stop],
            ids=self.ids[start:stop],
            node_columns={name: column[nodes] for name, column in self.node_columns.items()},
            graph_columns={name: column[start:stop] for name, column in self.graph_columns.items()},
            graph_texts={name: texts[start:stop] for name, texts in self.graph_texts.items()},
        )

    def _as_data(self, number: int) -> Data:
        graph = self._slice(number, number + 1)
        columns = {**graph.node_columns, **graph.graph_columns}
        if graph.graph_attr is not None:
            columns["graph_attr"] = graph.graph_attr
        return Data(x=graph.x, edge_index=graph.edge_index, edge_attr=graph.edge_attr, y=graph.y, **columns)

    def __iter__(self) -> Iterator[Data]:
        return (self._as_data(number) for number in range(len(self)))

    def to_pyg(self) -> list[Data]:
        """Returns every graph as PyG ``Data``, ready for a PyG ``DataLoader``."""
        return list(self)

    # -- batches ---------------------------------------------------------------------------------------

    def batch(self, ids: Selection) -> batching.GraphBatch:
        """Returns the graphs ``ids`` as one disconnected graph that any PyG model accepts."""
        return batching.batch(self, ids)

    def padded_batch(self, ids: Tensor, bounds: batching.Bounds) -> batching.PaddedBatch:
        """Returns the graphs ``ids[R, B]`` (-1 pads) as R batches of the same fixed size."""
        return batching.padded_batch(self, ids, bounds)

    def bounds(self, ids: Tensor, batch_size: int | None = None) -> batching.Bounds:
        """Returns sizes that suffice for every batch of ``ids``; see :func:`ssread.data.batch.bounds`."""
        return batching.bounds(self, ids, batch_size)

    def batches(
        self, batch_size: int, ids: Selection | None = None, generator: torch.Generator | None = None
    ) -> Iterator[batching.GraphBatch]:
        """Yields the batches of one epoch over ``ids`` (all graphs by default), shuffled if a generator is given."""
        return batching.batches(self, batch_size, ids, generator)

    # -- the whole set ---------------------------------------------------------------------------------

    def to(self, device: torch.device | str) -> GraphSet:
        """Returns the set with every tensor on ``device``."""
        return self._map(lambda tensor: tensor.to(device))

    def _map(self, function: Callable[[Tensor], Tensor]) -> GraphSet:
        """Returns the set with ``function`` applied to every tensor."""
        changed: dict[str, Any] = {}
        for column in fields(self):
            value = getattr(self, column.name)
            if isinstance(value, Tensor):
                changed[column.name] = function(value)
            elif column.name in ("node_columns", "graph_columns"):
                changed[column.name] = {name: function(tensor) for name, tensor in value.items()}
        return replace(self, **changed)

    def validate(self) -> GraphSet:
        """Checks that the columns are as described above; returns the set, or raises an ``InputError``."""
        check(self)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the set to one safetensors file, atomically."""
        storage.write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GraphSet:
        """Reads a set that :meth:`save` wrote, and validates it."""
        columns = storage.read(path)
        try:
            return cls(**columns).validate()
        except (TypeError, ValueError, IndexError, RuntimeError, AttributeError) as error:
            reason = shorten(str(error), 300)
            raise InputError(f"{path} is damaged ({reason}): load the data from its source again.") from None


def _describe(task: str, name: str, values: Mapping[str, float]) -> str:
    """Returns a label or number and its values in a few words."""
    if task == MULTILABEL:
        positive = round(values["mean"] * values["known"]) if values["known"] else 0
        return f"{name!r} 1 for {positive} of {values['known']}"
    return f"{name!r} from {values['lowest']:g} to {values['highest']:g} for {values['known']}"


class RowNumbers(Sequence[str]):
    """The texts "0", "1", ... of a range, created on access: a million graphs need no million strings."""

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, which: int) -> str: ...

    @overload
    def __getitem__(self, which: slice) -> RowNumbers: ...

    def __getitem__(self, which: int | slice) -> str | RowNumbers:
        if isinstance(which, slice):
            return RowNumbers(self.numbers[which])
        return str(self.numbers[which])
