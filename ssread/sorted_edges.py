"""The edges of a batch in order of one of their ends: the rows of its adjacency matrix, or of the transposed one."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from ssread import segment

__all__ = ["SortedEdges"]


class SortedEdges(NamedTuple):
    """Edges in order of one of their ends: those of node n stand from ``start[n]`` to ``start[n + 1]``.

    Attributes:
        start: Where each node's edges begin, [N + 1].
        other: The node at the other end, [E].
        order: The number of every edge, [E]; None where the edges stand in this order already.
    """

    start: Tensor
    other: Tensor
    order: Tensor | None

    @classmethod
    def of(cls, by: Tensor, other: Tensor, num_nodes: int, needless: Tensor | None = None) -> "SortedEdges":
        """From the end to order by, the other end of every edge, the number of nodes, and the edges to leave out."""
        if needless is not None:
            by = torch.where(needless, num_nodes, by)  # behind those of the last node
        start = F.pad(segment.count(by, num_nodes + 1)[:-1].cumsum(0), (1, 0))
        if segment.is_concrete(by) and bool((by[1:] >= by[:-1]).all()):
            return cls(start, other.contiguous(), None)
        order = by.argsort(stable=True)
        return cls(start, other.index_select(0, order), order)

    def sum(self, values: Tensor, weight: Tensor | None) -> Tensor:
        """For every node the sum of the values at the other ends, by ``embedding_bag``."""
        if weight is not None and self.order is not None:
            weight = weight.index_select(0, self.order)
        return F.embedding_bag(
            self.other, values, self.start, mode="sum", per_sample_weights=weight, include_last_offset=True
        )
