"""Sums over neighbours: the product of a batch's adjacency matrix with its node vectors.

On a CPU the edges are put in order of the node they enter, once per batch, and ``embedding_bag`` adds the neighbours
of a node up while it reads them: a twentieth of the time of gathering, scaling and scattering messages. On a GPU
:mod:`ssread.kernels.messages` does the same for all replicas at once. Everywhere else, and while a transform traces or
lifts the code, messages are gathered and scattered by :mod:`ssread.segment`.
"""

from functools import cached_property
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from ssread import kernels, segment

__all__ = ["Bags", "Neighbours"]


class Neighbours:
    """The edges of a batch, ready for sums over neighbours.

    Args:
        source: The node every edge leaves, [E].
        target: The node every edge enters, [E].
        num_nodes: The number of nodes N.
        start: Where each node's edges begin, [N + 1], where edges are known to be sorted by the node they leave.
        symmetric: Whether every edge is known to have its reverse, with the same features; with ``start`` only.
        needless: The edges, [E], whose ends are padding: a GPU leaves them out, where they would form long rows.
    """

    def __init__(
        self,
        source: Tensor,
        target: Tensor,
        num_nodes: int,
        start: Tensor | None = None,
        symmetric: bool = False,
        needless: Tensor | None = None,
    ):
        self.source, self.target, self.num_nodes = source, target, num_nodes
        self._start, self._symmetric, self._needless = start, symmetric, needless
        self._inverse_root_degree: Tensor | None = None

    def sum(self, values: Tensor, weight: Tensor | None = None) -> Tensor:
        """For every node the sum of its neighbours' values, [N, d]; ``weight`` [E] scales edges and learns nothing."""
        if kernels.usable(values):
            from ssread.kernels.messages import sum_messages

            return sum_messages(values, self.entering, self.leaving, weight=weight)
        if segment.is_concrete(values, self.source) and values.dtype in (torch.float32, torch.float64):
            return _BagSum.apply(values, weight, self)
        messages = segment.take(values, self.source)
        if weight is not None:
            messages = messages * weight.unsqueeze(-1)
        return segment.sum(messages, self.target, self.num_nodes)

    @property
    def inverse_root_degree(self) -> Tensor:
        """One over the root of the number of edges that enter a node and one more, [N]."""
        if self._inverse_root_degree is None:  # a cached_property has a lock, which torch.compile cannot see through
            if self._start is not None and self._symmetric:
                degree = self._start.diff()
            else:
                degree = segment.count(self.target, self.num_nodes)
            self._inverse_root_degree = (degree + 1).to(torch.get_default_dtype()).rsqrt()
        return self._inverse_root_degree

    @cached_property
    def entering(self) -> "Bags":
        """The edges by the node they enter, each naming the node it left."""
        if self._start is not None and self._symmetric:
            return self.leaving
        return Bags.of(self.target, self.source, self.num_nodes, self._needless)

    @cached_property
    def leaving(self) -> "Bags":
        """The edges by the node they leave, each naming the node it enters: the transposed matrix."""
        if self._start is not None:
            return Bags(self._start, self.target, None)
        return Bags.of(self.source, self.target, self.num_nodes, self._needless)


class Bags(NamedTuple):
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
    def of(cls, by: Tensor, other: Tensor, num_nodes: int, needless: Tensor | None = None) -> "Bags":
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


class _BagSum(torch.autograd.Function):
    """One ``embedding_bag`` forward, one with the transposed matrix backward."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor | None, neighbours: Neighbours) -> Tensor:
        ctx.weight, ctx.neighbours = weight, neighbours
        return neighbours.entering.sum(values, weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.neighbours.leaving.sum(grad.contiguous(), ctx.weight), None, None
