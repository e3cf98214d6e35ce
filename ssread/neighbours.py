"""Sums over neighbours: the product of a batch's adjacency matrix with its node vectors.

On a CPU the edges are put in order of the node they enter, once per batch, and ``embedding_bag`` adds the neighbours
of a node up while it reads them: a twentieth of the time of gathering, scaling and scattering messages. Everywhere
else, and while a transform traces or lifts the code, messages are gathered and scattered by :mod:`ssread.segment`.
"""

from functools import cached_property
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from ssread import segment

__all__ = ["Neighbours"]


class Neighbours:
    """The edges of a batch, ready for sums over neighbours.

    Args:
        source: The node every edge leaves, [E].
        target: The node every edge enters, [E].
        num_nodes: The number of nodes N.
    """

    def __init__(self, source: Tensor, target: Tensor, num_nodes: int):
        self.source, self.target, self.num_nodes = source, target, num_nodes

    def sum(self, values: Tensor, weight: Tensor | None = None) -> Tensor:
        """For every node the sum of its neighbours' values, [N, d]; ``weight`` [E] scales edges and learns nothing."""
        if segment.is_concrete(values, self.source) and values.dtype in (torch.float32, torch.float64):
            return _BagSum.apply(values, weight, self)
        messages = values.index_select(0, self.source)
        if weight is not None:
            messages = messages * weight.unsqueeze(-1)
        return segment.sum(messages, self.target, self.num_nodes)

    @cached_property
    def entering(self) -> "_Bags":
        """The edges by the node they enter, each naming the node it left."""
        return _Bags.of(self.target, self.source, self.num_nodes)

    @cached_property
    def leaving(self) -> "_Bags":
        """The edges by the node they leave, each naming the node it enters: the transposed matrix."""
        return _Bags.of(self.source, self.target, self.num_nodes)


class _Bags(NamedTuple):
    """Edges in order of one of their ends: ``other`` [E] is the other end, ``start`` [N + 1] where a node's begin."""

    other: Tensor
    start: Tensor
    order: Tensor | None  # None where the edges stand in this order already

    @classmethod
    def of(cls, by: Tensor, other: Tensor, num_nodes: int) -> "_Bags":
        start = F.pad(segment.count(by, num_nodes).cumsum(0), (1, 0))
        if bool((by[1:] >= by[:-1]).all()):
            return cls(other.contiguous(), start, None)
        order = by.argsort(stable=True)
        return cls(other.index_select(0, order), start, order)

    def sum(self, values: Tensor, weight: Tensor | None) -> Tensor:
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
