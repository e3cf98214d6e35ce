"""All graphs of a dataset as a handful of flat tensors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from ssread.data import batch as batching
from ssread.data import storage
from ssread.data.check import check
from ssread.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

Selection = slice | Sequence[int] | Tensor


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """All graphs of a dataset as flat columns, immutable in use.

    Graph ``g`` owns the rows ``node_ptr[g]:node_ptr[g + 1]`` of every node column and the columns
    ``edge_ptr[g]:edge_ptr[g + 1]`` of ``edge_index``. A graph may have 0 nodes. Made by
    :func:`ssread.data.assemble.assemble`, which every reader of the package ends in.

    Args:
        name: What the dataset is called.
        x: Node features ``[N, F]``, float32.
        node_ptr: Where each graph's nodes begin ``[G + 1]``, int64.
        edge_index: Directed edges ``[2, E]`` with node ids local to the graph, sorted by
            (graph, row, column), without duplicates, int64.
        edge_ptr: Where each graph's edges begin ``[G + 1]``, int64.
        edge_attr: Edge features ``[E, D]``, float32, or ``None``.
        y: Class index of each graph ``[G]``, int64, or ``None``.
        class_names: Name of each class.
        node_feature_names: Name of each column of ``x``.
        edge_feature_names: Name of each column of ``edge_attr``.
        ids: What each graph is called where it came from; row numbers by default.
        undirected: Whether every edge is there in both directions.
        repairs: What was mended while reading, and how often.
        node_columns: Further tensors with one row per node (e.g. a known position).
        graph_columns: Further tensors with one row per graph.
        graph_texts: Further texts, one per graph (e.g. SMILES).
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

    def __post_init__(self) -> None:
        if len(self.ids) == 0 and len(self) > 0:
            object.__setattr__(self, "ids", RowNumbers(range(len(self))))

    # -- size ------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.node_ptr.numel() - 1

    @property
    def num_classes(self) -> int:
        """Number of classes; 0 where the graphs carry no labels."""
        return len(self.class_names)

    @property
    def num_node_features(self) -> int:
        """Columns of ``x``."""
        return self.x.size(1)

    @property
    def num_edge_features(self) -> int:
        """Columns of ``edge_attr``; 0 where there are none."""
        return 0 if self.edge_attr is None else self.edge_attr.size(1)

    @property
    def node_counts(self) -> Tensor:
        """Nodes of each graph ``[G]``."""
        return self.node_ptr.diff()

    @property
    def edge_counts(self) -> Tensor:
        """Directed edges of each graph ``[G]``."""
        return self.edge_ptr.diff()

    @property
    def device(self) -> torch.device:
        """Where the tensors live."""
        return self.x.device

    def statistics(self) -> dict[str, Any]:
        """Size of the dataset in the terms of the paper's Table I.

        ``mean_edges`` counts an edge between two nodes once where the set is undirected (a self-loop is
        one edge), and every directed edge otherwise.
        """
        num_loops = int((self.edge_index[0] == self.edge_index[1]).sum())
        num_edges = self.edge_index.size(1)
        if self.undirected:
            num_edges = (num_edges + num_loops) // 2
        classes = [] if self.y is None else torch.bincount(self.y, minlength=self.num_classes).tolist()
        return {
            "graphs": len(self),
            "mean_nodes": self.x.size(0) / max(len(self), 1),
            "mean_edges": num_edges / max(len(self), 1),
            "max_nodes": int(self.node_counts.max()) if len(self) else 0,
            "classes": self.num_classes,
            "class_counts": dict(zip(self.class_names, classes, strict=False)),
            "node_features": self.num_node_features,
            "edge_features": self.num_edge_features,
        }

    def __repr__(self) -> str:
        numbers = self.statistics()
        parts = [
            f"{numbers['graphs']} graphs",
            f"{numbers['mean_nodes']:.2f} nodes and {numbers['mean_edges']:.2f} edges on average",
            f"{numbers['node_features']} node features",
        ]
        if self.edge_attr is not None:
            parts.append(f"{numbers['edge_features']} edge features")
        if self.y is not None:
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
        """One graph as PyG ``Data`` (an int), or a smaller GraphSet (a slice, ids, or a boolean mask).

        A slice of neighbouring graphs shares all memory with this set; other selections copy what they
        select and nothing else.
        """
        if isinstance(which, (int, np.integer)) or (isinstance(which, Tensor) and which.dim() == 0):
            return self._as_data(range(len(self))[int(which)])
        if isinstance(which, slice):
            chosen = range(len(self))[which]
            if chosen.step == 1:
                return self._neighbours(chosen.start, max(chosen.start, chosen.stop))
            which = list(chosen)
        ids = batching.as_ids(self, which)
        nodes = batching.expand(self.node_ptr, ids)
        edges = batching.expand(self.edge_ptr, ids)
        numbers = ids.tolist()
        return replace(
            self,
            x=self.x.index_select(0, nodes.source),
            node_ptr=nodes.ptr,
            edge_index=self.edge_index.index_select(1, edges.source),
            edge_ptr=edges.ptr,
            edge_attr=None if self.edge_attr is None else self.edge_attr.index_select(0, edges.source),
            y=None if self.y is None else self.y[ids],
            ids=tuple(self.ids[number] for number in numbers),
            node_columns={name: column[nodes.source] for name, column in self.node_columns.items()},
            graph_columns={name: column[ids] for name, column in self.graph_columns.items()},
            graph_texts={n: tuple(texts[i] for i in numbers) for n, texts in self.graph_texts.items()},
        )

    def _neighbours(self, start: int, stop: int) -> GraphSet:
        """The graphs ``start:stop`` as views of this set's memory."""
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
            ids=self.ids[start:stop],
            node_columns={name: column[nodes] for name, column in self.node_columns.items()},
            graph_columns={name: column[start:stop] for name, column in self.graph_columns.items()},
            graph_texts={name: texts[start:stop] for name, texts in self.graph_texts.items()},
        )

    def _as_data(self, number: int) -> Data:
        graph = self._neighbours(number, number + 1)
        columns = {**graph.node_columns, **graph.graph_columns}
        return Data(x=graph.x, edge_index=graph.edge_index, edge_attr=graph.edge_attr, y=graph.y, **columns)

    def __iter__(self) -> Iterator[Data]:
        return (self._as_data(number) for number in range(len(self)))

    def to_pyg(self) -> list[Data]:
        """Every graph as PyG ``Data``, ready for a PyG ``DataLoader``."""
        return list(self)

    # -- batches ---------------------------------------------------------------------------------------

    def batch(self, ids: Selection) -> batching.GraphBatch:
        """The graphs ``ids`` as one disconnected graph that any PyG model takes."""
        return batching.batch(self, ids)

    def padded_batch(self, ids: Tensor, bounds: batching.Bounds) -> batching.PaddedBatch:
        """The graphs ``ids[R, B]`` (-1 pads) as R batches of the same fixed size."""
        return batching.padded_batch(self, ids, bounds)

    def bounds(self, ids: Tensor, batch_size: int | None = None) -> batching.Bounds:
        """Sizes that hold every batch of ``ids``; see :func:`ssread.data.batch.bounds`."""
        return batching.bounds(self, ids, batch_size)

    def batches(
        self, batch_size: int, ids: Selection | None = None, generator: torch.Generator | None = None
    ) -> Iterator[batching.GraphBatch]:
        """One epoch of batches over ``ids`` (all graphs by default), shuffled where a generator is given."""
        return batching.batches(self, batch_size, ids, generator)

    # -- the whole set ---------------------------------------------------------------------------------

    def to(self, device: torch.device | str) -> GraphSet:
        """The same set with every tensor on ``device``."""
        return self._map(lambda tensor: tensor.to(device))

    def _map(self, function: Callable[[Tensor], Tensor]) -> GraphSet:
        changed: dict[str, Any] = {}
        for column in fields(self):
            value = getattr(self, column.name)
            if isinstance(value, Tensor):
                changed[column.name] = function(value)
            elif column.name in ("node_columns", "graph_columns"):
                changed[column.name] = {name: function(tensor) for name, tensor in value.items()}
        return replace(self, **changed)

    def validate(self) -> GraphSet:
        """Check every promise of the class docstring; returns the set, or raises an ``InputError``."""
        check(self)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to one safetensors file, all or nothing."""
        storage.write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GraphSet:
        """Read a set that :meth:`save` wrote, and validate it."""
        columns = storage.read(path)
        try:
            return cls(**columns).validate()
        except (TypeError, ValueError, IndexError, RuntimeError, AttributeError) as error:
            raise InputError(f"{path} is damaged ({error}): load the data anew.") from None


class RowNumbers(Sequence[str]):
    """The texts "0", "1", ... of a range, made when asked for: a million graphs need no million strings."""

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
