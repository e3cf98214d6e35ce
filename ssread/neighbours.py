"""Sums over neighbours: the product of a batch's adjacency matrix with its node vectors.

On a CPU the edges are sorted by the node they enter, once per batch, and ``embedding_bag`` adds up the neighbours of a
node while it reads them. That takes a twentieth of the time of gathering, scaling and scattering messages. With edge
features :mod:`ssread.kernels.cpu_messages`, compiled by Numba, adds them up. On a GPU :mod:`ssread.kernels.messages`
does the same for all models of a cohort at once. Everywhere else, without Numba, and under
``torch.compile``, ``torch.export`` and ``torch.func``, :mod:`ssread.segment` gathers and scatters the messages.
"""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from ssread import kernels, segment
from ssread.sorted_edges import SortedEdges

__all__ = ["Neighbours", "with_own"]


class Neighbours:
    """The edges of a batch, ready for sums over neighbours.

    Args:
        source: The node every edge leaves, [E].
        target: The node every edge enters, [E].
        num_nodes: The number of nodes N.
        start: Where each node's edges begin, [N + 1], where edges are known to be sorted by the node they leave.
        symmetric: Whether every edge is known to have its reverse, with the same features.
        needless: Whether both ends of an edge are padding, [E]. A GPU leaves such edges out: they would form long rows.
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
        self.symmetric = symmetric
        self._start, self._needless = start, needless
        self._inverse_root_degree: Tensor | None = None

    def sum(self, values: Tensor, weight: Tensor | None = None) -> Tensor:
        """The sum of every node's neighbours' values, [N, d]; ``weight`` [E] scales edges and gets no gradient."""
        if kernels.usable(values):
            from ssread.kernels.messages import sum_messages

            return sum_messages(values, self.entering, self.leaving, weight=weight)
        if segment.is_concrete(values, weight, self.source) and values.dtype in (torch.float32, torch.float64):
            total = segment.apply(_BagSum, values, weight, self)
            if total is not None:
                return total
        messages = segment.take(values, self.source)
        if weight is not None:
            messages = messages * weight.unsqueeze(-1)
        return segment.reduce_sum(messages, self.target, self.num_nodes)

    def messages(
        self,
        x: Tensor,
        shift: Tensor,
        scale: Tensor | None,
        root: Tensor | None,
        factor: Tensor | None,
        features: Tensor | None = None,
        table: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        r"""For every node :math:`s_i \sum_j s_j \, \mathrm{relu}(x_j + c + f_{ij} T)` plus its own part, [N, d].

        Args:
            x: Node vectors, [N, d].
            shift: c, [d].
            scale: s, [N], or None for 1; gets no gradient.
            root: With it a node adds :math:`s_i^2 \mathrm{relu}(x_i + root)`, [d].
            factor: With it a node adds this multiple of :math:`x_i`; not together with ``root``.
            features: f, the features of every edge, [E, F]; None for none.
            table: T, [F, d].
            mask: 1 for real nodes and 0 for padding, [N, 1].
        """
        given = (x, shift, scale, root, factor, features, table)
        if segment.is_concrete(*given, self.source) and x.dtype in (torch.float32, torch.float64):
            total = None
            if features is None:
                total = segment.apply(_BagMessages, *given[:5], self)
            elif mask is None and not features.requires_grad and (compiled := kernels.compiled_messages()) is not None:
                total = segment.apply(compiled.Messages, *given, self.entering, self.leaving)
            if total is not None:
                return total
        # The other root of an edge's weight is the same for all edges of a node.
        weight = None if scale is None else scale.index_select(0, self.source)
        if features is None or table is None:
            return with_own(self.sum((x + shift).relu(), weight), x, scale, root, factor)
        sent = (segment.take(x, self.source) + (features @ table + shift)).relu()
        sent = sent if weight is None else sent * weight.unsqueeze(-1)
        total = segment.reduce_sum(sent, self.target, self.num_nodes)
        if mask is not None:
            total = total * mask  # thousands of padding edges are loops on one node, which would overflow
        return with_own(total, x, scale, root, factor)

    @property
    def inverse_root_degree(self) -> Tensor:
        """One over the root of the number of edges that enter a node and one more, [N]."""
        if self._inverse_root_degree is None:  # a cached_property has a lock, which torch.compile cannot see through
            if self._start is not None and self.symmetric:
                degree = self._start.diff()
            else:
                degree = segment.count(self.target, self.num_nodes)
            self._inverse_root_degree = (degree + 1).to(torch.get_default_dtype()).rsqrt()
        return self._inverse_root_degree

    @cached_property
    def entering(self) -> "SortedEdges":
        """The edges sorted by the node they enter, each with the node it leaves."""
        if self.symmetric:
            return self.leaving
        return SortedEdges.of(self.target, self.source, self.num_nodes, self._needless)

    @cached_property
    def leaving(self) -> "SortedEdges":
        """The edges sorted by the node they leave, each with the node it enters: the transposed matrix."""
        if self._start is not None:
            return SortedEdges(self._start, self.target, None)
        return SortedEdges.of(self.source, self.target, self.num_nodes, self._needless)


def with_own(total: Tensor, x: Tensor, scale: Tensor | None, root: Tensor | None, factor: Tensor | None) -> Tensor:
    """Scales the sum of the messages at every node and adds the node's own part: see :meth:`Neighbours.messages`."""
    if scale is not None:
        total = total * scale.unsqueeze(-1)
    if root is not None:
        own = (x + root).relu()
        total = total + (own if scale is None else own * scale.square().unsqueeze(-1))
    return total if factor is None else total + factor * x


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


class _BagMessages(torch.autograd.Function):
    """:meth:`Neighbours.messages` without edge features in few passes over the node vectors; keeps no tensor twice."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        shift: Tensor,
        scale: Tensor | None,
        root: Tensor | None,
        factor: Tensor | None,
        to: Neighbours,
    ) -> Tensor:
        weight = None if scale is None else scale.index_select(0, to.source)
        sent = (x + shift).relu_()  # without edge features, a message depends on the node that it leaves alone
        total = to.entering.sum(sent, weight)
        scale = None if scale is None else scale.unsqueeze(-1)
        own = None
        if scale is not None:
            total.mul_(scale)
        if root is not None:
            own = (x + root).relu_()
            total = total.add_(own) if scale is None else total.addcmul_(own, scale.square())
        if factor is not None:
            total.add_(x, alpha=float(factor))
        ctx.save_for_backward(sent, own, weight, scale, None if factor is None else x, factor)
        ctx.to = to
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        sent, own, weight, scale, x, factor = ctx.saved_tensors
        grad = grad.contiguous()
        scaled = grad if scale is None else grad * scale
        grad_root, grad_factor = None, None
        grad_x = _before_relu(ctx.to.leaving.sum(scaled, weight), sent)
        grad_shift = grad_x.sum(dim=0)
        if own is not None:
            through = _before_relu(scaled if scale is None else scaled.mul_(scale), own)
            grad_root = through.sum(dim=0)
            grad_x += through
        if factor is not None:
            grad_factor = torch.dot(grad.view(-1), x.reshape(-1)).view(factor.shape)
            grad_x.add_(grad, alpha=float(factor))
        return grad_x, grad_shift, None, grad_root, grad_factor, None


def _before_relu(grad: Tensor, after: Tensor) -> Tensor:
    """The gradient of what a relu was given, from that of what it gave."""
    return torch.ops.aten.threshold_backward(grad, after, 0)
