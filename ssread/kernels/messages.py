"""Sums of messages from neighbours, computed without storing a message for every edge."""

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ssread.kernels.stacking import fold, power_of_2, tiles_of, unfold
from ssread.sorted_edges import SortedEdges

__all__ = ["own_loop", "own_none", "own_relu", "own_scaled", "sum_messages"]

#: The term that a node adds itself: none, ``scale^2 relu(x + own)``, ``own * x`` or ``scale^2 x + own``.
own_none, own_relu, own_scaled, own_loop = range(4)


def sum_messages(
    x: Tensor,
    entering: SortedEdges,
    leaving: SortedEdges,
    *,
    shift: Tensor | None = None,
    features: Tensor | None = None,
    table: Tensor | None = None,
    scale: Tensor | None = None,
    weight: Tensor | None = None,
    own: Tensor | None = None,
    own_form: int = own_none,
) -> Tensor:
    r"""For every node i, :math:`s_i \sum_j s_j w_{ij} \, \mathrm{relu}(x_j + a_{ij} T + c)` plus the node's own term.

    Args:
        x: Node vectors, [N, d].
        entering: The edges sorted by target; ``other`` is the source.
        leaving: The same edges sorted by source; ``other`` is the target.
        shift: c, [d]. Without it there is no relu, only a weighted sum.
        features: Edge features a, [E, F], or None.
        table: T, [F, d].
        scale: s, [N], or None for 1; gets no gradient.
        weight: w, [E], or None for 1; gets no gradient.
        own: The parameter of the node's own term, [d]; see ``own_form``.
        own_form: ``own_none``, ``own_relu`` (adds :math:`s_i^2 \mathrm{relu}(x_i + own)`), ``own_scaled`` (adds
            own * x_i) or ``own_loop`` (adds :math:`s_i^2 x_i + own`).
    """

    def stacked(value: Tensor | None) -> Tensor | None:
        return None if value is None else value.unsqueeze(0)

    index = [stacked(part) for edges in (entering, leaving) for part in edges]
    arrays = [stacked(part) for part in (shift, features, table, scale, weight, own)]
    return _SumMessages.apply(x.unsqueeze(0), *arrays, *index, own_form).squeeze(0)


#: Triton 3.6 fails to compile these loops for 32 nodes.
MAX_ROWS = 16

#: Entries of a tile and warps of a program, tuned on an H200.
FORWARD, BACKWARD = (512, 1), (256, 1)


class _SumMessages(torch.autograd.Function):
    """Takes x, the six arrays of :class:`_Call`, the entering and the leaving edges (three each), and the own form."""

    @staticmethod
    def forward(x: Tensor, *inputs: Any) -> Tensor:
        return _Call(x, inputs[:6], inputs[-1]).forward(x.contiguous(), SortedEdges(*inputs[6:9]))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        *tensors, ctx.own_form = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, *inputs = ctx.saved_tensors
        call = _Call(x, inputs[:6], ctx.own_form)
        gradients = call.backward(x.contiguous(), grad.contiguous(), SortedEdges(*inputs[9:]))
        grad_x, grad_shift, grad_own, grad_table = gradients
        return grad_x, grad_shift, None, grad_table, None, None, grad_own, *[None] * 7

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        return unfold(info.batch_size, _SumMessages.apply(*fold(info.batch_size, in_dims, inputs))), 0


class _Call:
    """The sizes, the arrays (shift, features, table, scale, weight, own) and the launches of one call."""

    def __init__(self, x: Tensor, arrays: Sequence[Tensor | None], own_form: int):
        shift, features, _, scale, weight, _ = arrays
        self.models, self.nodes, self.channels = x.shape
        self.num_features = 0 if features is None else features.size(2)
        self.arrays = [None if array is None else array.contiguous() for array in arrays]
        self.flags = {
            "RELU": shift is not None,
            "FEATURES": power_of_2(self.num_features) if self.num_features else 0,
            "SCALE": scale is not None,
            "WEIGHT": weight is not None,
            "OWN": own_form,
            "CHANNELS": power_of_2(self.channels),
        }

    def forward(self, x: Tensor, edges: SortedEdges) -> Tensor:
        out = torch.empty_like(x)
        if out.numel() == 0:
            return out
        arguments, options = self._arguments(x, edges, FORWARD)
        _forward[(triton.cdiv(self.nodes, options["ROWS"]), self.models)](x, out, *arguments, **options)
        return out

    def backward(
        self, x: Tensor, grad: Tensor, edges: SortedEdges
    ) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
        grad_x = torch.empty_like(x)
        arguments, options = self._arguments(x, edges, BACKWARD)
        programs = triton.cdiv(self.nodes, options["ROWS"])
        tiles = tiles_of(programs * self.models)
        programs = triton.cdiv(programs, tiles)
        total = x.new_zeros(self.models, 2 + self.num_features, self.channels)
        if grad_x.numel() > 0:
            sums = x.new_empty(self.models, programs, 2 + self.num_features, self.channels)
            _backward[(programs, self.models)](x, grad, grad_x, sums, *arguments, TILES=tiles, **options)
            total = sums.sum(dim=1)
        return (
            grad_x,
            total[:, 0] if self.flags["RELU"] else None,
            total[:, 1] if self.flags["OWN"] else None,
            total[:, 2:] if self.num_features else None,
        )

    def _arguments(self, x: Tensor, edges: SortedEdges, tile: tuple[int, int]) -> tuple[list[Any], dict[str, Any]]:
        """Returns the positional and keyword arguments that both kernels share."""
        start, other = edges.start.contiguous(), edges.other.contiguous()
        order = other if edges.order is None else edges.order.contiguous()
        # A kernel needs a pointer for every array: x takes the place of None, and the flags keep it from being read.
        arrays = [x if array is None else array for array in self.arrays]
        sizes = self.nodes, other.size(1), self.channels, self.num_features
        entries, warps = tile
        entries = entries // 2 if other.size(1) > 6 * self.nodes else entries  # many neighbours: fewer nodes per tile
        rows = entries // self.flags["CHANNELS"] // max(self.flags["FEATURES"], 1)
        shape = {"ROWS": min(max(rows, 1), MAX_ROWS), "num_warps": warps, "ORDER": edges.order is not None}
        return [start, other, order, *arrays, *sizes], {**self.flags, **shape}


@triton.jit
def _edge_term(features, table, edge, is_edge, model, channel, D, F):
    """Computes what the features of an edge add to every channel of a message."""
    total = tl.zeros((edge.shape[0], channel.shape[0]), dtype=tl.float32)
    for f in range(F):
        a = tl.load(features + edge * F + f, mask=is_edge, other=0.0)
        t = tl.load(table + (model * F + f) * D + channel, mask=channel < D, other=0.0)
        total += a[:, None] * t[None, :]
    return total


@triton.jit
def _forward(
    x, out, start, other, edge, shift, features, table, scale, weight, own, N, E, D, F,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, FEATURES: tl.constexpr, RELU: tl.constexpr, SCALE: tl.constexpr,
    WEIGHT: tl.constexpr, OWN: tl.constexpr, ORDER: tl.constexpr,
):  # fmt: skip
    model = tl.program_id(1).to(tl.int64)
    node = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    channel = tl.arange(0, CHANNELS)
    is_node, is_channel = node < N, channel < D
    x += model * N * D
    begin = tl.load(start + model * (N + 1) + node, mask=is_node, other=0)
    end = tl.load(start + model * (N + 1) + node + 1, mask=is_node, other=0)
    total = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
    if RELU:
        c = tl.load(shift + model * D + channel, mask=is_channel, other=0.0)
    for step in range(tl.max(end - begin)):
        at = begin + step
        is_edge = at < end
        j = tl.load(other + model * E + at, mask=is_edge, other=0)
        value = tl.load(x + j[:, None] * D + channel[None, :], mask=is_edge[:, None] & is_channel[None, :], other=0.0)
        row = at
        if ORDER:
            row = tl.load(edge + model * E + at, mask=is_edge, other=0)
        if FEATURES:
            value += _edge_term(features, table, model * E + row, is_edge, model, channel, D, F)
        if RELU:
            value += c[None, :]
            value = tl.where(value < 0, 0.0, value)
        factor = tl.where(is_edge, 1.0, 0.0)
        if SCALE:
            factor *= tl.load(scale + model * N + j, mask=is_edge, other=0.0)
        if WEIGHT:
            factor *= tl.load(weight + model * E + row, mask=is_edge, other=0.0)
        total += tl.where(is_edge[:, None], value * factor[:, None], 0.0)
    if SCALE:
        s = tl.load(scale + model * N + node, mask=is_node, other=0.0)
        total *= s[:, None]
    here = node[:, None] * D + channel[None, :]
    inside = is_node[:, None] & is_channel[None, :]
    if OWN:
        value = tl.load(x + here, mask=inside, other=0.0)
        o = tl.load(own + model * D + channel, mask=is_channel, other=0.0)
        if OWN == 1:
            value += o[None, :]
            value = tl.where(value < 0, 0.0, value)
            if SCALE:
                value *= (s * s)[:, None]
            total += value
        elif OWN == 2:
            total += value * o[None, :]
        else:
            if SCALE:
                value *= (s * s)[:, None]
            total += value + o[None, :]
    tl.store(out + model * N * D + here, total, mask=inside)


@triton.jit
def _backward(
    x, grad, grad_x, sums, start, other, edge, shift, features, table, scale, weight, own, N, E, D, F,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, FEATURES: tl.constexpr, RELU: tl.constexpr, SCALE: tl.constexpr,
    WEIGHT: tl.constexpr, OWN: tl.constexpr, ORDER: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    model = tl.program_id(1).to(tl.int64)
    channel = tl.arange(0, CHANNELS)
    is_channel = channel < D
    x += model * N * D
    grad += model * N * D
    grad_x += model * N * D
    start += model * (N + 1)
    if RELU:
        c = tl.load(shift + model * D + channel, mask=is_channel, other=0.0)
        grad_c = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
    if OWN:
        o = tl.load(own + model * D + channel, mask=is_channel, other=0.0)
        grad_o = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
    if FEATURES:
        feature = tl.arange(0, FEATURES)
        is_feature = feature < F
        grad_T = tl.zeros((ROWS, FEATURES, CHANNELS), dtype=tl.float32)
    for tile in range(TILES):
        node = (tl.program_id(0) * TILES + tile) * ROWS + tl.arange(0, ROWS)
        is_node = node < N
        begin = tl.load(start + node, mask=is_node, other=0)
        end = tl.load(start + node + 1, mask=is_node, other=0)
        here = node[:, None] * D + channel[None, :]
        inside = is_node[:, None] & is_channel[None, :]
        value = tl.load(x + here, mask=inside, other=0.0)
        if SCALE:
            s = tl.load(scale + model * N + node, mask=is_node, other=0.0)
        total = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
        for step in range(tl.max(end - begin)):
            at = begin + step
            is_edge = at < end
            i = tl.load(other + model * E + at, mask=is_edge, other=0)
            g = tl.load(
                grad + i[:, None] * D + channel[None, :], mask=is_edge[:, None] & is_channel[None, :], other=0.0
            )
            row = at
            if ORDER:
                row = tl.load(edge + model * E + at, mask=is_edge, other=0)
            factor = tl.where(is_edge, 1.0, 0.0)
            if SCALE:
                factor *= tl.load(scale + model * N + i, mask=is_edge, other=0.0) * s
            if WEIGHT:
                factor *= tl.load(weight + model * E + row, mask=is_edge, other=0.0)
            g = tl.where(is_edge[:, None], g * factor[:, None], 0.0)
            if FEATURES:
                a = tl.load(
                    features + (model * E + row)[:, None] * F + feature[None, :],
                    mask=is_edge[:, None] & is_feature[None, :], other=0.0,
                )  # fmt: skip
                before = value + _edge_term(features, table, model * E + row, is_edge, model, channel, D, F)
                g = tl.where(before + c[None, :] > 0, g, 0.0)
                grad_T += a[:, :, None] * g[:, None, :]
            total += g
        if RELU:
            if FEATURES == 0:
                total = tl.where(value + c[None, :] > 0, total, 0.0)
            grad_c += tl.where(inside, total, 0.0)
        if OWN:
            g = tl.load(grad + here, mask=inside, other=0.0)
            if OWN == 1:
                if SCALE:
                    g *= (s * s)[:, None]
                g = tl.where(value + o[None, :] > 0, g, 0.0)
                grad_o += g
                total += g
            elif OWN == 2:
                grad_o += g * value
                total += g * o[None, :]
            else:
                grad_o += g
                if SCALE:
                    g *= (s * s)[:, None]
                total += g
        tl.store(grad_x + here, total, mask=inside)
    sums += (model * tl.num_programs(0) + tl.program_id(0)) * (2 + F) * D
    if RELU:
        tl.store(sums + channel, tl.sum(grad_c, axis=0), mask=is_channel)
    if OWN:
        tl.store(sums + D + channel, tl.sum(grad_o, axis=0), mask=is_channel)
    if FEATURES:
        tl.store(
            sums + (2 + feature)[:, None] * D + channel[None, :], tl.sum(grad_T, axis=0),
            mask=is_feature[:, None] & is_channel[None, :],
        )  # fmt: skip
