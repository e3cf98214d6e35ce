"""The edges of a batch sorted by one of their ends: the rows of its adjacency matrix, or of the transposed one."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from ssread import segment

__all__ = ["SortedEdges"]


class SortedEdges(NamedTuple):
    """Edges sorted by one of their ends: the edges of node n are those from ``start[n]`` to ``start[n + 1]``.

    Attributes:
        start: Where each node's edges begin, [N + 1].
        other: The node at the other end, [E].
        order: The place of every edge before sorting, [E]; None if the edges were sorted already.
    """

    start: Tensor
    other: Tensor
    order: Tensor | None

    @classmethod
    def of(cls, by: Tensor, other: Tensor, num_nodes: int, needless: Tensor | None = None) -> "SortedEdges":
        """Sorts edges by one end.

        Args:
            by: The end to sort by, [E].
            other: The other end, [E].
            num_nodes: The number of nodes N.
            needless: Whether to leave an edge out, [E].
        """
        if needless is not None:
            by = torch.where(needless, num_nodes, by)  # behind those of the last node
        start = F.pad(segment.count(by, num_nodes + 1)[:-1].cumsum(0), (1, 0))
        if segment.is_concrete(by) and bool((by[1:] >= by[:-1]).all()):
            return cls(start, other.contiguous(), None)
        order = by.argsort(stable=True)
        return cls(start, other.index_select(0, order), order)

    def sum(self, values: Tensor, weight: Tensor | None) -> Tensor:
        """Adds up the values at the other ends of every node's edges, [N, d], by ``embedding_bag``."""
        if weight is not None and self.order is not None:
            weight = weight.index_select(0, self.order)
        return F.embedding_bag(
            self.other, values, self.start, mode="sum", per_sample_weights=weight, include_last_offset=True
        )
