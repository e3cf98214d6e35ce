"""Batches of a GraphSet by index arithmetic on its pointers: no Python loop over graphs, no copy off the device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from ssread.errors import InputError

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet


@dataclass(frozen=True, eq=False, repr=False)
class GraphBatch:
    """Several graphs as one disconnected graph, with the attributes of a PyG batch.

    Args:
        x: Node features ``[N, F]``.
        edge_index: Edges ``[2, E]`` with node ids within the batch, sorted by row.
        edge_attr: Edge features ``[E, D]`` or ``None``.
        batch: The graph of each node ``[N]``.
        ptr: Where each graph's nodes begin ``[batch_size + 1]``.
        y: Class index of each graph, or ``None``.
        batch_size: Number of graphs, including those without nodes.
        ids: The number of each graph in the dataset.
        node_ids: The row of each node in the node columns of the dataset ``[N]``.
        graph_attr: Features of whole graphs ``[batch_size, D]``, NaN where one is not known, or ``None``.
    """

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor | None
    batch: Tensor
    ptr: Tensor
    y: Tensor | None
    batch_size: int
    ids: Tensor
    node_ids: Tensor
    graph_attr: Tensor | None = None

    @property
    def num_graphs(self) -> int:
        """Number of graphs, under the name that PyG uses."""
        return self.batch_size

    @property
    def num_nodes(self) -> int:
        """Total number of nodes."""
        return self.x.size(-2)

    def to(self, device: torch.device | str) -> Any:
        """Returns the batch with every tensor on ``device``."""
        columns = {column.name: getattr(self, column.name) for column in fields(self)}
        moved: dict[str, Any] = {n: v.to(device) for n, v in columns.items() if isinstance(v, Tensor)}
        return replace(self, **moved)

    def __repr__(self) -> str:
        shapes = ((f.name, getattr(self, f.name)) for f in fields(self))
        parts = [f"{name}={list(v.shape)}" for name, v in shapes if isinstance(v, Tensor)]
        return f"{type(self).__name__}(batch_size={self.batch_size}, {', '.join(parts)})"


@dataclass(frozen=True, eq=False, repr=False)
class PaddedBatch(GraphBatch):
    """R batches of the same fixed size, one per model of a stack; every tensor has a leading dimension R.

    Padding nodes have zero features and belong to a dummy graph with number B, after the real ones. Therefore
    ``batch_size`` is B + 1, and the caller cuts the last graph off. The last node is always a padding node, and
    padding edges are self-loops on it, so that rows stay sorted. Padding graphs (id -1) have no nodes and class -1.
    """

    @property
    def node_mask(self) -> Tensor:
        """True for real nodes ``[R, num_nodes]``."""
        return self.batch < self.batch_size - 1

    @property
    def graph_mask(self) -> Tensor:
        """True for real graphs ``[R, B]``."""
        return self.ids >= 0


class Bounds(NamedTuple):
    """Node and edge counts of a padded batch."""

    num_nodes: int
    num_edges: int


class SelectedRows(NamedTuple):
    """The rows of some graphs in a flat column."""

    ptr: Tensor  # where the rows of each selected graph begin in the result
    owner: Tensor  # the index in `ids` of the graph that each row belongs to
    source: Tensor  # the row of the flat column


def select_rows(pointer: Tensor, ids: Tensor) -> SelectedRows:
    """Lists the rows of the graphs ``ids`` in a flat column where graph ``g`` begins at ``pointer[g]``.

    >>> select_rows(torch.tensor([0, 2, 5]), torch.tensor([1, 0])).source
    tensor([2, 3, 4, 0, 1])
    """
    start = pointer[ids]
    counts = pointer[ids + 1] - start
    ptr = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
    owner = torch.repeat_interleave(counts)
    # On a CPU, index_select is several times faster than indexing with brackets.
    source = (start - ptr[:-1]).index_select(0, owner).add_(torch.arange(owner.numel(), device=pointer.device))
    return SelectedRows(ptr, owner, source)


def as_ids(graphs: GraphSet, which: slice | Sequence[int] | Tensor) -> Tensor:
    """Returns graph numbers as a tensor on the set's device, from a slice, numbers or a boolean mask.

    Negative numbers count from the end.
    """
    if isinstance(which, slice):
        which = range(len(graphs))[which]
    ids = torch.as_tensor(which, device=graphs.device)
    if ids.dtype == torch.bool:
        if tuple(ids.shape) != (len(graphs),):
            raise InputError(f"A mask of shape {list(ids.shape)} cannot select from {len(graphs)} graphs.")
        return ids.nonzero().squeeze(1)
    if ids.numel() == 0:
        return ids.reshape(-1).to(torch.int64)
    if ids.dim() != 1 or ids.is_floating_point():
        raise InputError(f"Graph numbers must be a list of integers, not {ids.dtype} {list(ids.shape)}.")
    ids = ids.to(torch.int64)
    if ids.device.type == "cpu":  # on a GPU, reading the values would wait for the device
        low, high = (int(bound) for bound in ids.aminmax())
        if low < -len(graphs) or high >= len(graphs):
            wrong = low if low < -len(graphs) else high
            raise InputError(f"There is no graph {wrong}: {graphs.name} has {len(graphs)} graphs.")
        if low >= 0:
            return ids
    return torch.where(ids < 0, ids + len(graphs), ids)


def batch(graphs: GraphSet, which: slice | Sequence[int] | Tensor) -> GraphBatch:
    """Returns the graphs ``which``, in that order, as one disconnected graph."""
    ids = as_ids(graphs, which)
    nodes, edges = select_rows(graphs.node_ptr, ids), select_rows(graphs.edge_ptr, ids)
    return GraphBatch(
        x=graphs.x.index_select(0, nodes.source),
        edge_index=graphs.edge_index.index_select(1, edges.source).add_(nodes.ptr.index_select(0, edges.owner)),
        edge_attr=None if graphs.edge_attr is None else graphs.edge_attr.index_select(0, edges.source),
        batch=nodes.owner,
        ptr=nodes.ptr,
        y=None if graphs.y is None else graphs.y[ids],
        batch_size=ids.numel(),
        ids=ids,
        node_ids=nodes.source,
        graph_attr=None if graphs.graph_attr is None else graphs.graph_attr.index_select(0, ids),
    )


def batches(
    graphs: GraphSet,
    batch_size: int,
    which: slice | Sequence[int] | Tensor | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[GraphBatch]:
    """Yields the batches of one epoch over the graphs ``which`` (all by default), shuffled if a generator is given."""
    if batch_size < 1:
        raise InputError(f"batch_size={batch_size} is too small: a batch needs at least one graph.")
    ids = as_ids(graphs, slice(None) if which is None else which)
    if generator is not None:
        ids = ids[torch.randperm(ids.numel(), generator=generator, device=generator.device).to(ids.device)]
    for part in ids.split(batch_size):
        yield batch(graphs, part)


def padded_batch(graphs: GraphSet, ids: Tensor, bounds: Bounds) -> PaddedBatch:
    """Returns R batches ``ids[R, B]`` (-1 pads) of exactly ``bounds`` nodes and edges; see :class:`PaddedBatch`.

    Shapes depend on ``ids.shape`` and ``bounds`` alone and no value is read, so the call can be captured in a CUDA
    graph. On a CPU, bounds that are too small raise an ``InputError``. On a GPU they silently cut graphs off, so
    compute them with :func:`bounds`.
    """
    real = ids >= 0
    number = ids.clamp(min=0)
    nodes = _padded_rows(graphs.node_ptr, number, real, bounds.num_nodes)
    edges = _padded_rows(graphs.edge_ptr, number, real, bounds.num_edges)
    if ids.device.type == "cpu":
        needed = Bounds(int(nodes.ptr[:, -1].max()) + 1, int(edges.ptr[:, -1].max()))
        if needed.num_nodes > bounds.num_nodes or needed.num_edges > bounds.num_edges:
            raise InputError(f"{bounds} cannot hold these graphs, which need {needed}.")
    last = bounds.num_nodes - 1
    shift = torch.nn.functional.pad(nodes.ptr[:, :-1], (0, 1)).gather(1, edges.owner)
    is_edge = edges.owner < ids.size(1)
    ends = [torch.where(is_edge, _rows(end, edges.source) + shift, last).unsqueeze(1) for end in graphs.edge_index]
    end_of_all = torch.full_like(nodes.ptr[:, :1], bounds.num_nodes)
    return PaddedBatch(
        x=_rows(graphs.x, nodes.source) * (nodes.owner < ids.size(1)).unsqueeze(-1),
        edge_index=torch.cat(ends, dim=1),
        edge_attr=None if graphs.edge_attr is None else _rows(graphs.edge_attr, edges.source) * is_edge.unsqueeze(-1),
        batch=nodes.owner,
        ptr=torch.cat([nodes.ptr, end_of_all], dim=1),
        y=None if graphs.y is None else _padded_labels(graphs.y, number, real),
        batch_size=ids.size(1) + 1,
        ids=ids,
        node_ids=nodes.source,
        graph_attr=None if graphs.graph_attr is None else _padded_features(graphs.graph_attr, number, real),
    )


def _padded_features(features: Tensor, number: Tensor, real: Tensor) -> Tensor:
    """Returns features of whole graphs [R, B + 1, D]; zeros for padding and for the dummy graph."""
    known = torch.where(real.unsqueeze(-1), features[number], 0.0)
    return torch.nn.functional.pad(known, (0, 0, 0, 1))


def _padded_labels(y: Tensor, number: Tensor, real: Tensor) -> Tensor:
    """Returns the classes [R, B] with -1 for padding, or the targets [R, B, T] with NaN."""
    if y.dim() == 1:
        return torch.where(real, y[number], -1)
    return torch.where(real.unsqueeze(-1), y[number], torch.nan)


def _padded_rows(pointer: Tensor, number: Tensor, real: Tensor, size: int) -> SelectedRows:
    """:func:`select_rows` for every row of ``number``, filled up to ``size`` rows that belong to graph B."""
    start = pointer[number]
    ptr = torch.nn.functional.pad(((pointer[number + 1] - start) * real).cumsum(1), (1, 0))
    row = torch.arange(size, device=pointer.device).repeat(number.size(0), 1)
    owner = torch.searchsorted(ptr[:, 1:].contiguous(), row, right=True)
    shift = torch.nn.functional.pad(start - ptr[:, :-1], (0, 1))
    # Padding rows may point anywhere within the column, because the caller replaces what they fetch.
    source = (row + shift.gather(1, owner)).clamp(max=pointer[-1] - 1).clamp(min=0)
    return SelectedRows(ptr, owner, source)


def _rows(column: Tensor, source: Tensor) -> Tensor:
    if column.size(0) == 0:  # without any node or edge, not even padding rows have anything to fetch
        return column.new_zeros(*source.shape, *column.shape[1:])
    return column[source]


def bounds(graphs: GraphSet, ids: Tensor, batch_size: int | None = None) -> Bounds:
    """Returns node and edge counts that suffice for every batch of ``ids`` and one padding node.

    Args:
        graphs: The dataset.
        ids: Without ``batch_size``: the batches themselves, ``[..., B]`` (-1 pads), such as one ``ids[R, B]`` or the
            plan ``[steps, R, B]`` of an epoch. With it: graph numbers ``[..., n]``, and the bounds suffice for every
            batch that can be drawn from any one row.
        batch_size: Number of graphs in a batch.
    """
    real, number = ids >= 0, ids.clamp(min=0)
    sizes = []
    for pointer in (graphs.node_ptr, graphs.edge_ptr):
        counts = (pointer[number + 1] - pointer[number]) * real
        if batch_size is not None:
            counts = counts.topk(min(batch_size, counts.size(-1)), dim=-1).values
        sizes.append(int(counts.sum(-1).max()) if counts.numel() else 0)
    return Bounds(sizes[0] + 1, sizes[1])
