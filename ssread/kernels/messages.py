"""Messages computed and added up while the neighbours are read: nothing of the size of the edges is ever written."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ssread.kernels.stacking import fold, power_of_2, tiles_of, unfold
from ssread.sorted_edges import SortedEdges

__all__ = ["own_none", "own_relu", "own_scaled", "sum_messages"]

#: What a node adds of its own: nothing, ``scale^2 relu(x + own)`` or ``own * x``.
own_none, own_relu, own_scaled = range(3)


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
    r"""For every node i the sum :math:`s_i \sum_j s_j w_{ij} \, \mathrm{relu}(x_j + a_{ij} T + c)` plus its own part.

    Args:
        x: Node vectors, [N, d].
        entering: SortedEdges by the node they enter, ``other`` is the node they left.
        leaving: The same edges by the node they leave.
        shift: c, [d]. Without it there is no relu either: a plain weighted sum.
        features: Edge features a, [E, F], or None.
        table: T, [F, d].
        scale: s, [N], or None for 1; learns nothing.
        weight: w, [E], or None for 1; learns nothing.
        own: What the node's own part is made with, [d]: see ``own_form``.
        own_form: ``own_none``, ``own_relu`` (adds :math:`s_i^2 \mathrm{relu}(x_i + own)`), ``own_scaled`` (own * x_i).
    """

    def stacked(value: Tensor | None) -> Tensor | None:
        return None if value is None else value.unsqueeze(0)

    index = [stacked(part) for edges in (entering, leaving) for part in edges]
    arrays = [stacked(part) for part in (shift, features, table, scale, weight, own)]
    return _SumMessages.apply(x.unsqueeze(0), *arrays, *index, own_form).squeeze(0)


#: Triton 3.6 fails to compile these loops for 32 nodes.
MAX_ROWS = 16

#: Entries of a tile and warps of a program, measured on an H200.
FORWARD, BACKWARD = (512, 1), (256, 1)


class _SumMessages(torch.autograd.Function):
    @staticmethod
    def forward(
        x: Tensor, shift: Any, features: Any, table: Any, scale: Any, weight: Any, own: Any, *rest: Any
    ) -> Tensor:
        call = _Call(x, shift, features, table, scale, weight, own, rest[-1])
        return call.forward(x.contiguous(), SortedEdges(*rest[:3]))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        *tensors, ctx.own_form = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, shift, features, table, scale, weight, own, *index = ctx.saved_tensors
        call = _Call(x, shift, features, table, scale, weight, own, ctx.own_form)
        grad_x, grad_shift, grad_own, grad_table = call.backward(
            x.contiguous(), grad.contiguous(), SortedEdges(*index[3:])
        )
        return grad_x, grad_shift, None, grad_table, None, None, grad_own, *[None] * 7

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        return unfold(info.batch_size, _SumMessages.apply(*fold(info.batch_size, in_dims, inputs))), 0


class _Call:
    """One call with its sizes: the tensors that both directions read, and how the work is cut up."""

    def __init__(
        self, x: Tensor, shift: Any, features: Any, table: Any, scale: Any, weight: Any, own: Any, own_form: int
    ):
        self.replicas, self.nodes, self.channels = x.shape
        self.num_features = 0 if features is None else features.size(2)
        self.arrays = [None if a is None else a.contiguous() for a in (shift, features, table, scale, weight, own)]
        self.flags = {
            "RELU": shift is not None,
            "FEATURES": power_of_2(self.num_features) if self.num_features else 0,
            "SCALE": scale is not None,
            "WEIGHT": weight is not None,
            "OWN": own_form,
            "CHANNELS": power_of_2(self.channels),
        }

    def _cut(self, edges: SortedEdges, tile: tuple[int, int]) -> tuple[int, int]:
        """How many nodes a program takes, and its warps: few nodes where they have many neighbours, or features."""
        entries, warps = tile
        entries = entries // 2 if edges.other.size(1) > 6 * self.nodes else entries
        rows = entries // self.flags["CHANNELS"] // max(self.flags["FEATURES"], 1)
        return min(max(rows, 1), MAX_ROWS), warps

    def forward(self, x: Tensor, edges: SortedEdges) -> Tensor:
        out = torch.empty_like(x)
        if out.numel() == 0:
            return out
        rows, warps = self._cut(edges, FORWARD)
        grid = (triton.cdiv(self.nodes, rows), self.replicas)
        _forward[grid](
            x, out, *self._index(edges), *self._or_x(x), *self._sizes(edges),
            ROWS=rows, num_warps=warps, **self._flags(edges),
        )  # fmt: skip
        return out

    def backward(
        self, x: Tensor, grad: Tensor, edges: SortedEdges
    ) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
        grad_x = torch.empty_like(x)
        rows, warps = self._cut(edges, BACKWARD)
        programs = triton.cdiv(self.nodes, rows)
        tiles = tiles_of(programs * self.replicas)
        programs = triton.cdiv(programs, tiles)
        total = x.new_zeros(self.replicas, 2 + self.num_features, self.channels)
        if grad_x.numel() > 0:
            sums = x.new_empty(self.replicas, programs, 2 + self.num_features, self.channels)
            _backward[(programs, self.replicas)](
                x, grad, grad_x, sums, *self._index(edges), *self._or_x(x), *self._sizes(edges),
                ROWS=rows, TILES=tiles, num_warps=warps, **self._flags(edges),
            )  # fmt: skip
            total = sums.sum(dim=1)
        return (
            grad_x,
            total[:, 0] if self.flags["RELU"] else None,
            total[:, 1] if self.flags["OWN"] else None,
            total[:, 2:] if self.num_features else None,
        )

    def _sizes(self, edges: SortedEdges) -> tuple[int, int, int, int]:
        return self.nodes, edges.other.size(1), self.channels, self.num_features

    def _flags(self, edges: SortedEdges) -> dict[str, Any]:
        return {**self.flags, "ORDER": edges.order is not None}

    def _index(self, edges: SortedEdges) -> list[Tensor]:
        start, other = edges.start.contiguous(), edges.other.contiguous()
        return [start, other, other if edges.order is None else edges.order.contiguous()]

    def _or_x(self, x: Tensor) -> list[Tensor]:
        """The arrays; x where there is none, since a kernel takes pointers only (and does not follow this one)."""
        return [x if array is None else array for array in self.arrays]


@triton.jit
def _of_edge(features, table, edge, there, replica, channel, D, F):
    """What the features of an edge add to every channel of a message."""
    total = tl.zeros((edge.shape[0], channel.shape[0]), dtype=tl.float32)
    for f in range(F):
        a = tl.load(features + edge * F + f, mask=there, other=0.0)
        t = tl.load(table + (replica * F + f) * D + channel, mask=channel < D, other=0.0)
        total += a[:, None] * t[None, :]
    return total


@triton.jit
def _forward(
    x, out, start, other, edge, shift, features, table, scale, weight, own, N, E, D, F,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, FEATURES: tl.constexpr, RELU: tl.constexpr, SCALE: tl.constexpr,
    WEIGHT: tl.constexpr, OWN: tl.constexpr, ORDER: tl.constexpr,
):  # fmt: skip
    replica = tl.program_id(1).to(tl.int64)
    node = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    channel = tl.arange(0, CHANNELS)
    is_node, is_channel = node < N, channel < D
    x += replica * N * D
    begin = tl.load(start + replica * (N + 1) + node, mask=is_node, other=0)
    end = tl.load(start + replica * (N + 1) + node + 1, mask=is_node, other=0)
    total = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
    if RELU:
        c = tl.load(shift + replica * D + channel, mask=is_channel, other=0.0)
    for step in range(tl.max(end - begin)):
        at = begin + step
        there = at < end
        j = tl.load(other + replica * E + at, mask=there, other=0)
        value = tl.load(x + j[:, None] * D + channel[None, :], mask=there[:, None] & is_channel[None, :], other=0.0)
        row = at
        if ORDER:
            row = tl.load(edge + replica * E + at, mask=there, other=0)
        if FEATURES:
            value += _of_edge(features, table, replica * E + row, there, replica, channel, D, F)
        if RELU:
            value += c[None, :]
            value = tl.where(value < 0, 0.0, value)
        factor = tl.where(there, 1.0, 0.0)
        if SCALE:
            factor *= tl.load(scale + replica * N + j, mask=there, other=0.0)
        if WEIGHT:
            factor *= tl.load(weight + replica * E + row, mask=there, other=0.0)
        total += tl.where(there[:, None], value * factor[:, None], 0.0)
    if SCALE:
        s = tl.load(scale + replica * N + node, mask=is_node, other=0.0)
        total *= s[:, None]
    here = node[:, None] * D + channel[None, :]
    inside = is_node[:, None] & is_channel[None, :]
    if OWN:
        value = tl.load(x + here, mask=inside, other=0.0)
        o = tl.load(own + replica * D + channel, mask=is_channel, other=0.0)
        if OWN == 1:
            value += o[None, :]
            value = tl.where(value < 0, 0.0, value)
            if SCALE:
                value *= (s * s)[:, None]
            total += value
        else:
            total += value * o[None, :]
    tl.store(out + replica * N * D + here, total, mask=inside)


@triton.jit
def _backward(
    x, grad, grad_x, sums, start, other, edge, shift, features, table, scale, weight, own, N, E, D, F,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, FEATURES: tl.constexpr, RELU: tl.constexpr, SCALE: tl.constexpr,
    WEIGHT: tl.constexpr, OWN: tl.constexpr, ORDER: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    replica = tl.program_id(1).to(tl.int64)
    channel = tl.arange(0, CHANNELS)
    is_channel = channel < D
    x += replica * N * D
    grad += replica * N * D
    grad_x += replica * N * D
    start += replica * (N + 1)
    if RELU:
        c = tl.load(shift + replica * D + channel, mask=is_channel, other=0.0)
        grad_c = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
    if OWN:
        o = tl.load(own + replica * D + channel, mask=is_channel, other=0.0)
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
            s = tl.load(scale + replica * N + node, mask=is_node, other=0.0)
        total = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
        for step in range(tl.max(end - begin)):
            at = begin + step
            there = at < end
            i = tl.load(other + replica * E + at, mask=there, other=0)
            g = tl.load(grad + i[:, None] * D + channel[None, :], mask=there[:, None] & is_channel[None, :], other=0.0)
            row = at
            if ORDER:
                row = tl.load(edge + replica * E + at, mask=there, other=0)
            factor = tl.where(there, 1.0, 0.0)
            if SCALE:
                factor *= tl.load(scale + replica * N + i, mask=there, other=0.0) * s
            if WEIGHT:
                factor *= tl.load(weight + replica * E + row, mask=there, other=0.0)
            g = tl.where(there[:, None], g * factor[:, None], 0.0)
            if FEATURES:
                a = tl.load(
                    features + (replica * E + row)[:, None] * F + feature[None, :],
                    mask=there[:, None] & is_feature[None, :], other=0.0,
                )  # fmt: skip
                before = value + _of_edge(features, table, replica * E + row, there, replica, channel, D, F)
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
            else:
                grad_o += g * value
                total += g * o[None, :]
        tl.store(grad_x + here, total, mask=inside)
    sums += (replica * tl.num_programs(0) + tl.program_id(0)) * (2 + F) * D
    if RELU:
        tl.store(sums + channel, tl.sum(grad_c, axis=0), mask=is_channel)
    if OWN:
        tl.store(sums + D + channel, tl.sum(grad_o, axis=0), mask=is_channel)
    if FEATURES:
        tl.store(
            sums + (2 + feature)[:, None] * D + channel[None, :], tl.sum(grad_T, axis=0),
            mask=is_feature[:, None] & is_channel[None, :],
        )  # fmt: skip
