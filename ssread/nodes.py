"""The nodes of a batch of graphs as flat rows, whichever way the caller describes them."""

import copy
import math

import torch
from torch import Tensor

from ssread import kernels, segment
from ssread.errors import InputError

__all__ = ["Nodes", "check_width"]


class Nodes:
    """The nodes of a batch of graphs as flat rows, from the arguments of a PyG ``Aggregation``.

    Leading dimensions become further graphs, so that all code behind this sees two dimensions.

    Args:
        x: Node vectors, [..., N, in_channels], with the nodes in dimension ``dim``.
        index: The graph of every node, [N], in any order.
        ptr: The first node of every graph and the number of nodes, [B + 1]; nodes must be sorted by graph. If ``index``
            is given too and disagrees with ``ptr`` for a node, the result for that node is not defined.
        dim_size: The number of graphs B.
        dim: The dimension of ``x`` that counts the nodes.
        in_channels: The width that ``x`` must have.

    Attributes:
        x: Node vectors, [M, in_channels].
        index: The graph of every row, [M].
        ptr: As given for 2-D input, else None.
        num_graphs: The number of graphs.
    """

    def __init__(
        self, x: Tensor, index: Tensor | None, ptr: Tensor | None, dim_size: int | None, dim: int, in_channels: int
    ):
        check_width(x, in_channels)
        if dim not in range(-x.dim(), x.dim()) or dim in (-1, x.dim() - 1):
            raise InputError(f"dim must name a dimension of x before the last, but {dim} was given for {x.dim()}.")
        self._dim = dim % x.dim()
        x = x.movedim(dim, -2)
        self._lead, self._num_nodes = x.shape[:-2], x.size(-2)
        index, self._num_graphs = _graph_of_node(index, ptr, dim_size, self._num_nodes, x.device)
        copies = math.prod(self._lead)
        if self._lead:
            offset = torch.arange(copies, device=x.device) * self._num_graphs
            index = (offset.unsqueeze(1) + index).flatten()
        self.x = x.reshape(-1, in_channels)
        self.index = index
        self.ptr = None if self._lead else ptr
        self.num_graphs = copies * self._num_graphs

    def with_vectors(self, x: Tensor) -> "Nodes":
        """The same nodes with other vectors, [M, ...]."""
        nodes = copy.copy(self)
        nodes.x = x
        return nodes

    def shape_graphs(self, values: Tensor) -> Tensor:
        """Values of all graphs [num_graphs, ...] in the caller's shape, [..., B, ...]."""
        return self._shape(values, self._num_graphs)

    def shape_nodes(self, values: Tensor) -> Tensor:
        """Values of all rows [M, ...] in the caller's shape, [..., N, ...]."""
        return self._shape(values, self._num_nodes)

    def sum_per_graph(self, values: Tensor) -> Tensor:
        """Adds up one value per node over every graph, [..., N] to [..., B], both in the caller's shape."""
        rows = values.movedim(self._dim, -1).reshape(-1, 1) if self._lead else values.unsqueeze(-1)
        if self.ptr is not None and kernels.usable(rows):
            from ssread.kernels.read import reduce

            total = reduce(rows, self.ptr, self.index, None, 1, "sum")
        else:
            total = segment.reduce_sum(rows, self.index, self.num_graphs)
        return self.shape_graphs(total.squeeze(-1))

    def _shape(self, values: Tensor, size: int) -> Tensor:
        if not self._lead:
            return values
        return values.view(*self._lead, size, *values.shape[1:]).movedim(len(self._lead), self._dim)


def _graph_of_node(
    index: Tensor | None, ptr: Tensor | None, dim_size: int | None, num_nodes: int, device: torch.device
) -> tuple[Tensor, int]:
    """The graph of every node and the number of graphs."""
    if ptr is not None:
        _check_ptr(ptr, dim_size, num_nodes)
        dim_size = ptr.numel() - 1
        if index is None:  # how many graphs after the first begin at or before a node
            index = segment.count(ptr[1:-1], num_nodes + 1).cumsum(0)[:-1]
    elif index is None:
        index = torch.zeros(num_nodes, dtype=torch.long, device=device)
        dim_size = 1 if dim_size is None else dim_size
    if index.shape != (num_nodes,):
        raise InputError(f"index must name the graph of each of {num_nodes} nodes, but has shape {[*index.shape]}.")
    if index.is_floating_point() or index.dtype == torch.bool:
        raise InputError(f"index must hold whole numbers, but is {index.dtype}.")
    if dim_size is None:
        dim_size = int(index.max()) + 1 if num_nodes > 0 else 0
    if num_nodes > 0 and segment.is_concrete(index):
        low, high = (int(bound) for bound in index.aminmax())
        if low < 0 or high >= dim_size:
            raise InputError(
                f"index holds graph {low if low < 0 else high}, "
                f"but there are {dim_size} graphs, numbered from 0 (dim_size={dim_size})."
            )
    return index.long(), dim_size


def _check_ptr(ptr: Tensor, dim_size: int | None, num_nodes: int) -> None:
    if ptr.dim() != 1 or ptr.numel() == 0:
        raise InputError(f"ptr must hold one number per graph and one more, [B + 1], but has shape {[*ptr.shape]}.")
    if dim_size is not None and dim_size != ptr.numel() - 1:
        raise InputError(f"ptr describes {ptr.numel() - 1} graphs, but dim_size is {dim_size}.")
    if segment.is_concrete(ptr) and not (ptr[0] == 0 and ptr[-1] == num_nodes and bool((ptr.diff() >= 0).all())):
        raise InputError(f"ptr must rise from 0 to the number of nodes, {num_nodes}, but it is {ptr.tolist()}.")


def check_width(x: Tensor, in_channels: int) -> Tensor:
    """Returns ``x`` if it holds node vectors of this width; raises an error otherwise."""
    if x.dim() < 2 or x.size(-1) != in_channels:
        raise InputError(f"x must be node vectors of {in_channels} channels, [N, {in_channels}], not {[*x.shape]}.")
    return x
