"""The input (Graphs) and the output (Encoding) of an encoder, and its base class."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ssread.errors import InputError
from ssread.neighbours import Neighbours

__all__ = ["Encoder", "Encoding", "Graphs"]


@dataclass(frozen=True, eq=False, repr=False)
class Graphs:
    """A checked batch of graphs as one disconnected graph.

    Attributes:
        x: Node features, [N, F].
        edge_index: Edges from ``source`` to ``target``, [2, E].
        edge_attr: Edge features, [E, D], or None.
        batch: The graph of every node, [N], in any order.
        batch_size: The number of graphs B; graphs without nodes are allowed anywhere.
        mask: 1 for real nodes and 0 for padding, [N, 1], or None if all are real.
        neighbours: The edges, prepared for sums over neighbours.
        ptr: Where each graph's nodes begin, [B + 1], if nodes are known to be in the order of their graphs; else None.
            If the last graph is a dummy for padding, its nodes may come after the end of ``ptr``.
        graph_attr: Features of whole graphs, [B, D], NaN where one is not known, or None.
    """

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor | None
    batch: Tensor
    batch_size: int
    mask: Tensor | None
    neighbours: Neighbours
    ptr: Tensor | None = None
    graph_attr: Tensor | None = None

    @classmethod
    def of(
        cls,
        x: Any,
        edge_index: Tensor | None = None,
        batch: Tensor | None = None,
        edge_attr: Tensor | None = None,
        batch_size: int | None = None,
        mask: Tensor | None = None,
        graph_attr: Tensor | None = None,
    ) -> "Graphs":
        """Builds it from tensors, or from a PyG ``Data`` or ``Batch`` or a :class:`ssread.data.batch.GraphBatch` alone.

        Without ``batch`` all nodes form one graph. Without ``batch_size``, the largest number in ``batch`` determines
        it: that waits for the device and misses empty graphs at the end.
        """
        if isinstance(x, Graphs):
            return x
        if not isinstance(x, Tensor):
            return cls.of(**_fields(x))
        if edge_index is None or edge_index.dim() != 2 or edge_index.size(0) != 2:
            found = "is missing" if edge_index is None else f"has shape {[*edge_index.shape]}"
            raise InputError(f"edge_index must have two rows, the sources and the targets of the edges; it {found}.")
        if x.dim() != 2 or not x.is_floating_point():
            raise InputError(
                f"x must have one row of floating-point features per node, but it is {x.dtype} {[*x.shape]}."
            )
        if edge_attr is not None and edge_attr.dim() == 1:
            edge_attr = edge_attr.unsqueeze(-1)
        if edge_attr is not None and edge_attr.size(0) != edge_index.size(1):
            raise InputError(f"edge_attr has {edge_attr.size(0)} rows, but there are {edge_index.size(1)} edges.")
        if batch is None:
            batch, batch_size = torch.zeros(x.size(0), dtype=torch.long, device=x.device), batch_size or 1
        if batch.shape != x.shape[:1]:
            raise InputError(f"batch must be the graph of each of the {x.size(0)} nodes, but it is {[*batch.shape]}.")
        if batch_size is None:
            batch_size = int(batch.max()) + 1 if batch.numel() else 0
        if mask is not None:
            mask = mask.to(x.dtype).view(-1, 1)
        neighbours = Neighbours(edge_index[0], edge_index[1], x.size(0))
        if graph_attr is not None and (graph_attr.dim() != 2 or graph_attr.size(0) != batch_size):
            raise InputError(f"graph_attr has the shape {[*graph_attr.shape]}, but there are {batch_size} graphs.")
        return cls(x, edge_index, edge_attr, batch, batch_size, mask, neighbours, graph_attr=graph_attr)

    @property
    def source(self) -> Tensor:
        """The source node of every edge, [E]."""
        return self.edge_index[0]

    @property
    def target(self) -> Tensor:
        """The target node of every edge, [E]; it receives the message, as in PyG."""
        return self.edge_index[1]

    @property
    def num_nodes(self) -> int:
        """The number of nodes N, including padding."""
        return self.x.size(0)


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """The output of an encoder for a batch of graphs.

    Attributes:
        x: One vector per node, [M, d]; pooling may have replaced the input nodes by others.
        batch: The graph of every row, [M]. Rows dropped by pooling stay in place and have ``batch_size`` here.
        losses: Auxiliary losses of the encoder by name, one value per graph, [B].
        dropped: Whether some rows may have been dropped.
        ptr: Where each graph's rows begin at a pooling level, [B + 1], if rows are known to be in the order of their
            graphs, dropped ones among them; else None.
        heights: The number of pooling levels at which a graph is read out; the results are summed. The rows of all
            levels follow each other, the same number for each.
        row: The row of every node, [N], where rows are not nodes but clusters; else None.
    """

    x: Tensor
    batch: Tensor
    losses: dict[str, Tensor] = field(default_factory=dict)
    dropped: bool = False
    ptr: Tensor | None = None
    heights: int = 1
    row: Tensor | None = None

    def node_rows(self, batch_size: int) -> Tensor:
        """The row of every node, [N]: its own, or that of its largest cluster; -1 for a node that pooling dropped.

        A node read at several heights has its first row, the vector that includes all its neighbours.
        """
        if self.row is not None:
            return self.row
        batch = self.batch if self.heights == 1 else self.batch.unflatten(0, (self.heights, -1))[0]
        rows = torch.arange(batch.size(0), device=batch.device)
        return torch.where(batch < batch_size, rows, -1) if self.dropped else rows

    def groups(self, size: int) -> Tensor:
        """Returns the group that every row is read in, [M]: its graph plus ``size`` times its pooling level."""
        if self.heights == 1:
            return self.batch
        heights = torch.arange(self.heights, device=self.batch.device).unsqueeze(1)
        return (self.batch.view(self.heights, -1) + size * heights).flatten()

    def starts(self) -> Tensor | None:
        """Returns where the rows of every group of :meth:`groups` begin, with the end of all; None if not known."""
        if self.ptr is None or (self.heights == 1 and not self.dropped):
            return self.ptr
        # Rows after the last graph are in the range of the dropped ones, where there is a group for these.
        rows = self.batch.size(0) // self.heights
        ends = [self.ptr[: None if self.dropped else -1] + rows * height for height in range(self.heights)]
        return torch.cat([*ends, self.ptr.new_full((1,), self.batch.size(0))])

    def added_up(self, values: Tensor) -> Tensor:
        """Sums values of groups [heights * size, ...] over the pooling levels, [size, ...]."""
        return values if self.heights == 1 else values.unflatten(0, (self.heights, -1)).sum(dim=0)

    def __repr__(self) -> str:
        losses = "".join(f", {name}" for name in self.losses)
        return f"Encoding(x={list(self.x.shape)}{', some rows dropped' if self.dropped else ''}{losses})"


class Encoder(nn.Module):
    """Base class of encoders, which map graphs to node vectors; subclasses implement :meth:`encode`.

    Args:
        in_channels: Number of node features.
        out_channels: Width of the node vectors.
        edge_channels: Number of edge features that the encoder uses; 0 if it ignores them.
    """

    def __init__(self, in_channels: int, out_channels: int, edge_channels: int = 0):
        super().__init__()
        for name, value, least in (("in_channels", in_channels, 1), ("edge_channels", edge_channels, 0)):
            if value < least:
                raise InputError(f"{name} must be {least} or more, but {value} was given.")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.edge_channels = edge_channels

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the node vectors of checked graphs."""
        raise NotImplementedError

    def forward(self, *given: Any, **named: Any) -> Encoding:
        """Returns node vectors; takes the arguments of :meth:`Graphs.of`."""
        graphs = Graphs.of(*given, **named)
        if graphs.x.size(1) != self.in_channels:
            raise InputError(f"The model was built for {self.in_channels} node features, but x has {graphs.x.size(1)}.")
        if self.edge_channels and (graphs.edge_attr is None or graphs.edge_attr.size(1) != self.edge_channels):
            found = "is missing" if graphs.edge_attr is None else f"has {graphs.edge_attr.size(1)}"
            raise InputError(f"The model was built for {self.edge_channels} edge features, but edge_attr {found}.")
        return self.encode(graphs)


def _fields(data: Any) -> dict[str, Any]:
    """Returns the arguments of :meth:`Graphs.of` from an object with the attributes of a PyG batch."""
    if not hasattr(data, "edge_index") or getattr(data, "x", None) is None:
        raise InputError(
            f"A model takes tensors (x, edge_index, ...) or a PyG Data or Batch with x and edge_index, not {data!r}."
        )
    batch = getattr(data, "batch", None)
    return {
        "x": data.x,
        "edge_index": data.edge_index,
        "batch": batch,
        "edge_attr": getattr(data, "edge_attr", None),
        "batch_size": None if batch is None else getattr(data, "num_graphs", None),
        "mask": getattr(data, "node_mask", None),
        "graph_attr": getattr(data, "graph_attr", None),
    }
