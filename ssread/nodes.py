"""The nodes of a batch of graphs, however the caller describes them, as flat rows."""

import math

import torch
from torch import Tensor

from ssread import segment
from ssread.errors import InputError

__all__ = ["Nodes", "check_width"]


class Nodes:
    """The nodes of a batch as flat rows: ``x`` [M, d], the graph of each ``index`` [M], ``num_graphs``.

    Leading dimensions become further graphs, so that everything after this sees two dimensions.
    """

    def __init__(
        self,
        x: Tensor,
        index: Tensor | None,
        ptr: Tensor | None,
        dim_size: int | None,
        dim: int,
        in_channels: int,
    ):
        check_width(x, in_channels)
        if dim not in range(-x.dim(), x.dim()) or dim in (-1, x.dim() - 1):
            raise InputError(f"dim must name a dimension of x before the last, but {dim} was given for {x.dim()}.")
        self._dim = dim
        x = x.movedim(dim, -2)
        self._lead, num_nodes = x.shape[:-2], x.size(-2)
        index, graphs = _graph_of_node(index, ptr, dim_size, num_nodes, x.device)
        copies = math.prod(self._lead)
        if copies != 1:
            offset = torch.arange(copies, device=x.device) * graphs
            index = (offset.unsqueeze(1) + index).flatten()
        self.x = x.reshape(-1, in_channels)
        self.index = index
        self.ptr = ptr if copies == 1 else None
        self.num_graphs = copies * graphs
        self._nodes, self._graphs = num_nodes, graphs

    def shape_graphs(self, vectors: Tensor) -> Tensor:
        """Graph vectors [M, out] back in the caller's shape."""
        return vectors.view(*self._lead, self._graphs, vectors.size(-1)).movedim(-2, self._dim)

    def shape_nodes(self, values: Tensor) -> Tensor:
        """One value per row back in the caller's shape, without the channels."""
        return values.view(*self._lead, self._nodes, 1).movedim(-2, self._dim).squeeze(-1)


def _graph_of_node(
    index: Tensor | None, ptr: Tensor | None, dim_size: int | None, num_nodes: int, device: torch.device
) -> tuple[Tensor, int]:
    """The graph of every node and the number of graphs, from whichever way the caller described them."""
    if ptr is not None:
        if dim_size is not None and dim_size != ptr.numel() - 1:
            raise InputError(f"ptr describes {ptr.numel() - 1} graphs, but dim_size is {dim_size}.")
        dim_size = ptr.numel() - 1
        if segment.is_concrete(ptr) and not (ptr[0] == 0 and ptr[-1] == num_nodes and bool((ptr.diff() >= 0).all())):
            raise InputError(f"ptr must rise from 0 to the number of nodes, {num_nodes}, but it is {ptr.tolist()}.")
        if index is None:
            graphs = torch.arange(dim_size, device=device)
            index = graphs.repeat_interleave(ptr.diff(), output_size=num_nodes)
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
        low, high = index.min(), index.max()
        if low < 0 or high >= dim_size:
            raise InputError(
                f"index holds graph {int(low if low < 0 else high)}, "
                f"but there are {dim_size} graphs, numbered from 0 (dim_size={dim_size})."
            )
    return index, dim_size


def check_width(x: Tensor, in_channels: int) -> Tensor:
    """Node vectors of the right width, or a sentence."""
    if x.dim() < 2 or x.size(-1) != in_channels:
        raise InputError(f"x must be node vectors of {in_channels} channels, [N, {in_channels}], not {[*x.shape]}.")
    return x
