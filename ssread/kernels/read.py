"""The readout: positions and costs of all nodes in one read of them, then sums per (graph, position) in another."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ssread.kernels.lifting import fold, power_of_2, unfold

__all__ = ["REDUCTIONS", "align", "reduce"]

#: What rows are reduced by, as the kernels know it.
REDUCTIONS = {"sum": 0, "mean": 1, "max": 2}


def align(H: Tensor, directions: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
    """The position of least cosine cost of every node, [N], and the soft minimum of its costs, [N].

    Args:
        H: Node vectors, [N, d]; they get no gradient (Algorithm 1).
        directions: Prototypes of length one, [K, d].
        gamma: The smoothing of the minimum, 0 for none.
    """
    positions, costs = _Align.apply(H.detach().unsqueeze(0), directions.unsqueeze(0), gamma)
    return positions.squeeze(0), costs.squeeze(0)


def reduce(x: Tensor, start: Tensor, positions: Tensor | None, num_positions: int, how: str) -> Tensor:
    """Sum, mean or maximum of the rows of every graph and position, [B * K, d]; zeros where there are none.

    Args:
        x: Rows that stand graph by graph, [N, d].
        start: Where each graph's rows begin, [B + 1].
        positions: The position of every row, [N]; None for one position.
        num_positions: K.
        how: ``sum``, ``mean`` or ``max`` (equal entries share the gradient).
    """
    positions = None if positions is None else positions.unsqueeze(0)
    out = _Reduce.apply(x.unsqueeze(0), start.unsqueeze(0), positions, num_positions, REDUCTIONS[how])
    return out.squeeze(0)


#: Entries of a tile and warps of a program, measured on an H200.
ALIGN, REDUCE, REDUCE_BACKWARD = (8192, 4), (512, 1), (4096, 1)

#: How matrix units keep float32 precision: three products of numbers of 11 bits each.
_PRECISION = tl.constexpr("tf32x3")


class _Align(torch.autograd.Function):
    @staticmethod
    def forward(H: Tensor, directions: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
        R, N, d = H.shape
        positions = torch.empty(R, N, dtype=torch.long, device=H.device)
        costs = H.new_empty(R, N)
        if H.numel() > 0:
            rows, shape = _shape(H, directions)
            _align[(triton.cdiv(N, rows), R)](
                H.contiguous(), directions.contiguous(), positions, costs, N, d, directions.size(1), gamma, **shape
            )
        return positions, costs

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        H, directions, ctx.gamma = inputs
        ctx.mark_non_differentiable(output[0])
        ctx.save_for_backward(H, directions)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, _: Any, grad: Tensor) -> tuple[None, Tensor, None]:
        H, directions = (tensor.contiguous() for tensor in ctx.saved_tensors)
        R, N, d = H.shape
        rows, shape = _shape(H, directions)
        programs = triton.cdiv(N, rows)
        total = torch.zeros_like(directions)
        if H.numel() > 0:
            sums = H.new_empty(R, programs, directions.size(1), d)
            _align_backward[(programs, R)](
                H, directions, grad.contiguous(), sums, N, d, directions.size(1), ctx.gamma, **shape
            )
            total = sums.sum(dim=1)
        return None, total, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[tuple[Tensor, ...], tuple[int, int]]:
        outputs = _Align.apply(*fold(info.batch_size, in_dims, inputs))
        return tuple(unfold(info.batch_size, output) for output in outputs), (0, 0)


class _Reduce(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, start: Tensor, positions: Tensor | None, num_positions: int, how: int) -> Tensor:
        R, N, d = x.shape
        graphs = start.size(1) - 1
        out = x.new_empty(R, graphs * num_positions, d)
        if out.numel() > 0:
            _reduce[(num_positions, graphs, R)](
                *_arrays(x, start, positions), out, N, d, **_blocks(x, positions, REDUCE), HOW=how
            )
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, start, positions, ctx.num_positions, ctx.how = inputs
        ctx.save_for_backward(x, start, positions, output)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, start, positions, out = ctx.saved_tensors
        R, N, d = x.shape
        graphs = start.size(1) - 1
        grad_x = torch.empty_like(x, memory_format=torch.contiguous_format)
        if grad_x.numel() > 0 and graphs > 0:
            _reduce_backward[(ctx.num_positions, graphs, R)](
                *_arrays(x, start, positions), out.contiguous(), grad.contiguous(), grad_x, N, d,
                **_blocks(x, positions, REDUCE_BACKWARD), HOW=ctx.how,
            )  # fmt: skip
        return grad_x, None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        return unfold(info.batch_size, _Reduce.apply(*fold(info.batch_size, in_dims, inputs))), 0


def _shape(H: Tensor, directions: Tensor) -> tuple[int, dict[str, int]]:
    """The nodes of one program and the padded sizes; a matrix unit takes 16 of everything at least."""
    channels, positions = max(power_of_2(H.size(2)), 16), max(power_of_2(directions.size(1)), 16)
    entries, warps = ALIGN
    rows = max(min(entries // channels, 64), 16)
    return rows, {"ROWS": rows, "CHANNELS": channels, "POSITIONS": positions, "num_warps": warps}


def _arrays(x: Tensor, start: Tensor, positions: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    return x.contiguous(), start.contiguous(), start if positions is None else positions.contiguous()


def _blocks(x: Tensor, positions: Tensor | None, tile: tuple[int, int]) -> dict[str, Any]:
    channels = power_of_2(x.size(2))
    entries, warps = tile
    rows = max(min(entries // channels, 32), 1)
    return {"ROWS": rows, "CHANNELS": channels, "ALIGNED": positions is not None, "num_warps": warps}


@triton.jit
def _costs(H, directions, replica, row, N, D, K, CHANNELS: tl.constexpr, POSITIONS: tl.constexpr):
    """Node vectors, their lengths (1 for a zero vector), costs before and after the clamp (infinite beyond K)."""
    channel, position = tl.arange(0, CHANNELS), tl.arange(0, POSITIONS)
    h = tl.load(
        H + replica * N * D + row[:, None] * D + channel[None, :],
        mask=(row < N)[:, None] & (channel < D)[None, :], other=0.0,
    )  # fmt: skip
    p = tl.load(
        directions + replica * K * D + position[None, :] * D + channel[:, None],
        mask=(position < K)[None, :] & (channel < D)[:, None], other=0.0,
    )  # fmt: skip
    length = tl.sqrt(tl.sum(h * h, axis=1))
    length = tl.where(length == 0, 1.0, length)
    free = 1.0 - tl.dot(h, p, input_precision=_PRECISION) / length[:, None]
    cost = tl.where(free < 0, 0.0, tl.where(free > 2, 2.0, free))
    return h, length, free, tl.where((position < K)[None, :], cost, float("inf"))


@triton.jit
def _align(
    H, directions, positions, costs, N, D, K, gamma,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, POSITIONS: tl.constexpr,
):  # fmt: skip
    replica = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    _, _, _, cost = _costs(H, directions, replica, row, N, D, K, CHANNELS, POSITIONS)
    least = tl.min(cost, axis=1)
    best = tl.argmin(cost, axis=1)
    if gamma > 0:
        soft = least - gamma * tl.log(tl.sum(tl.exp((least[:, None] - cost) / gamma), axis=1))
    else:
        soft = least
    # A vector that is not a number has no least cost: it stays at position 0, and its cost tells.
    broken = tl.max(tl.where(cost != cost, 1, 0), axis=1) > 0
    tl.store(positions + replica * N + row, tl.where(broken, 0, best).to(tl.int64), mask=row < N)
    tl.store(costs + replica * N + row, tl.where(broken, float("nan"), soft), mask=row < N)


@triton.jit
def _align_backward(
    H, directions, grad, sums, N, D, K, gamma,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, POSITIONS: tl.constexpr,
):  # fmt: skip
    replica = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    position, channel = tl.arange(0, POSITIONS), tl.arange(0, CHANNELS)
    h, length, free, cost = _costs(H, directions, replica, row, N, D, K, CHANNELS, POSITIONS)
    least = tl.min(cost, axis=1)
    if gamma > 0:
        share = tl.exp((least[:, None] - cost) / gamma)
        share = share / tl.sum(share, axis=1)[:, None]
    else:
        share = tl.where(position[None, :] == tl.argmin(cost, axis=1)[:, None], 1.0, 0.0)
    g = tl.load(grad + replica * N + row, mask=row < N, other=0.0)
    share = tl.where((free < 0) | (free > 2), 0.0, share) * (-g / length)[:, None]
    share = tl.where((row < N)[:, None] & (position < K)[None, :], share, 0.0)
    total = tl.dot(tl.trans(share), h, input_precision=_PRECISION)
    at = (replica * tl.num_programs(0) + tl.program_id(0)) * K * D + position[:, None] * D + channel[None, :]
    tl.store(sums + at, total, mask=(position < K)[:, None] & (channel < D)[None, :])


@triton.jit
def _reduce(
    x, start, positions, out, N, D, ROWS: tl.constexpr, CHANNELS: tl.constexpr, ALIGNED: tl.constexpr, HOW: tl.constexpr
):
    position, graph, replica = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    channel = tl.arange(0, CHANNELS)
    begin = tl.load(start + replica * (tl.num_programs(1) + 1) + graph)
    end = tl.load(start + replica * (tl.num_programs(1) + 1) + graph + 1)
    if HOW == 2:
        total = tl.full((ROWS, CHANNELS), float("-inf"), dtype=tl.float32)
    else:
        total = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
    count = tl.zeros((ROWS,), dtype=tl.float32)
    for first in range(begin, end, ROWS):
        row = first + tl.arange(0, ROWS)
        mine = row < end
        if ALIGNED:
            mine = mine & (tl.load(positions + replica * N + row, mask=mine, other=-1) == position)
        at = x + (replica * N + row)[:, None] * D + channel[None, :]
        value = tl.load(at, mask=mine[:, None] & (channel < D)[None, :], other=0.0)
        if HOW == 2:
            value = tl.where(mine[:, None], value, float("-inf"))
            total = tl.where((value > total) | (value != value), value, total)
        else:
            total += value
        count += tl.where(mine, 1.0, 0.0)
    rows = tl.sum(count)
    if HOW == 2:
        # A NaN must win over every number, as it does in torch; a plain maximum would lose it.
        nan = tl.max(tl.where(total != total, 1, 0), axis=0) > 0
        result = tl.max(tl.where(total != total, float("-inf"), total), axis=0)
        result = tl.where(nan, float("nan"), tl.where(rows > 0, result, 0.0))
    else:
        result = tl.sum(total, axis=0)
        if HOW == 1:
            result = result / tl.maximum(rows, 1.0)
    group = (replica * tl.num_programs(1) + graph) * tl.num_programs(0) + position
    tl.store(out + group * D + channel, result, mask=channel < D)


@triton.jit
def _reduce_backward(
    x, start, positions, out, grad, grad_x, N, D,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, ALIGNED: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    position, graph, replica = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    channel = tl.arange(0, CHANNELS)
    begin = tl.load(start + replica * (tl.num_programs(1) + 1) + graph)
    end = tl.load(start + replica * (tl.num_programs(1) + 1) + graph + 1)
    group = (replica * tl.num_programs(1) + graph) * tl.num_programs(0) + position
    g = tl.load(grad + group * D + channel, mask=channel < D, other=0.0)
    if HOW == 2:
        best = tl.load(out + group * D + channel, mask=channel < D, other=0.0)
    if HOW > 0:  # how many share the gradient: all rows of a mean, the largest ones of a maximum
        shares = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
        for first in range(begin, end, ROWS):
            row = first + tl.arange(0, ROWS)
            mine = row < end
            if ALIGNED:
                mine = mine & (tl.load(positions + replica * N + row, mask=mine, other=-1) == position)
            if HOW == 2:
                at = x + (replica * N + row)[:, None] * D + channel[None, :]
                value = tl.load(at, mask=mine[:, None] & (channel < D)[None, :], other=0.0)
                shares += tl.where(mine[:, None] & (value == best[None, :]), 1.0, 0.0)
            else:
                shares += tl.where(mine[:, None], 1.0, 0.0)
        g = g / tl.maximum(tl.sum(shares, axis=0), 1.0)
    for first in range(begin, end, ROWS):
        row = first + tl.arange(0, ROWS)
        mine = row < end
        if ALIGNED:
            mine = mine & (tl.load(positions + replica * N + row, mask=mine, other=-1) == position)
        here = (replica * N + row)[:, None] * D + channel[None, :]
        inside = mine[:, None] & (channel < D)[None, :]
        part = tl.zeros((ROWS, CHANNELS), dtype=tl.float32) + g[None, :]
        if HOW == 2:
            part = tl.where(tl.load(x + here, mask=inside, other=0.0) == best[None, :], part, 0.0)
        tl.store(grad_x + here, part, mask=inside)
