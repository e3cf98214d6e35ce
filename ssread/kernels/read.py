"""The readout: one kernel aligns all nodes with the prototypes, another reduces them per graph and position."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ssread.kernels.products import sum_of_outer
from ssread.kernels.stacking import fold, power_of_2, unfold

__all__ = ["REDUCTIONS", "align", "reduce"]

#: The reductions by name, with their numbers in the kernels.
REDUCTIONS = {"sum": 0, "mean": 1, "max": 2}


def align(H: Tensor, directions: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
    """Returns the position of minimal cosine cost of every node, [N], and the soft minimum of its costs, [N].

    Args:
        H: Node vectors, [N, d]; they get no gradient (Algorithm 1).
        directions: Prototypes of unit length, [K, d].
        gamma: The smoothing of the minimum, 0 for none.
    """
    positions, costs, _ = _Align.apply(H.detach().unsqueeze(0), directions.unsqueeze(0), gamma)
    return positions.squeeze(0), costs.squeeze(0)


def reduce(x: Tensor, start: Tensor, index: Tensor, positions: Tensor | None, num_positions: int, how: str) -> Tensor:
    """Returns the sum, mean or maximum of the rows of every graph and position, [B * K, d]; zeros without rows.

    Args:
        x: Rows in the order of their graphs, [N, d].
        start: Where each graph's rows begin, [B + 1]; rows after those of the last graph are ignored.
        index: The graph of every row, [N]; a row between those of another graph is ignored.
        positions: The position of every row, [N]; None for one position.
        num_positions: K.
        how: ``sum``, ``mean`` or ``max`` (equal maxima share the gradient).
    """
    arrays = (None if array is None else array.unsqueeze(0) for array in (x, start, index, positions))
    return _Reduce.apply(*arrays, num_positions, REDUCTIONS[how]).squeeze(0)


#: Entries of a tile and warps of a program, tuned on an H200.
REDUCE, REDUCE_BACKWARD = (512, 1), (4096, 1)

#: Nodes and channels of a tile, pipeline stages and warps, tuned on an H200.
ALIGN = {"ROWS": 64, "CHANNELS": 32, "num_stages": 1, "num_warps": 4}


class _Align(torch.autograd.Function):
    @staticmethod
    def forward(H: Tensor, directions: Tensor, gamma: float) -> tuple[Tensor, Tensor, Tensor]:
        R, N, d = H.shape
        K = directions.size(1)
        positions = torch.empty(R, N, dtype=torch.long, device=H.device)
        costs, shares = H.new_empty(R, N), H.new_empty(R, N, K)
        if H.numel() > 0:
            _align[(triton.cdiv(N, ALIGN["ROWS"]), R)](
                H.contiguous(), directions.contiguous(), positions, costs, shares, N, d, K, gamma,
                POSITIONS=max(power_of_2(K), 16), **ALIGN,
            )  # fmt: skip
        return positions, costs, shares

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
        positions, _, shares = output
        ctx.mark_non_differentiable(positions, shares)
        ctx.save_for_backward(inputs[0], shares)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, _: Any, grad: Tensor, *__: Any) -> tuple[None, Tensor, None]:
        H, shares = ctx.saved_tensors
        return None, sum_of_outer(shares * -grad.unsqueeze(-1), H.contiguous()), None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        outputs = _Align.apply(*fold(info.batch_size, in_dims, inputs))
        return tuple(unfold(info.batch_size, output) for output in outputs), (0, 0, 0)


class _Reduce(torch.autograd.Function):
    @staticmethod
    def forward(
        x: Tensor, start: Tensor, index: Tensor, positions: Tensor | None, num_positions: int, how: int
    ) -> Tensor:
        R, N, d = x.shape
        graphs = start.size(1) - 1
        out = x.new_empty(R, graphs * num_positions, d)
        if out.numel() > 0:
            _reduce[(num_positions, graphs, R)](
                *_arrays(x, start, index, positions), out, N, d, **_blocks(x, positions, REDUCE), HOW=how
            )
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        *arrays, ctx.num_positions, ctx.how = inputs
        ctx.save_for_backward(*arrays, output)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, start, index, positions, out = ctx.saved_tensors
        R, N, d = x.shape
        graphs = start.size(1) - 1
        grad_x = torch.empty_like(x, memory_format=torch.contiguous_format)
        if grad_x.numel() > 0:
            _reduce_backward[(ctx.num_positions, graphs + 1, R)](
                *_arrays(x, start, index, positions), out.contiguous(), grad.contiguous(), grad_x, N, d,
                **_blocks(x, positions, REDUCE_BACKWARD), HOW=ctx.how,
            )  # fmt: skip
        return grad_x, None, None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        return unfold(info.batch_size, _Reduce.apply(*fold(info.batch_size, in_dims, inputs))), 0


def _arrays(x: Tensor, start: Tensor, index: Tensor, positions: Tensor | None) -> tuple[Tensor, ...]:
    return tuple(array.contiguous() for array in (x, start, index, index if positions is None else positions))


def _blocks(x: Tensor, positions: Tensor | None, tile: tuple[int, int]) -> dict[str, Any]:
    channels = power_of_2(x.size(2))
    entries, warps = tile
    rows = max(min(entries // channels, 32), 1)
    return {"ROWS": rows, "CHANNELS": channels, "ALIGNED": positions is not None, "num_warps": warps}


@triton.jit
def _align(
    H, directions, positions, costs, shares, N, D, K, gamma,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, POSITIONS: tl.constexpr,
):  # fmt: skip
    """Computes the position, the soft cost and the shares of every node.

    The gradient of the cost with respect to a direction is minus the share of that position times the node vector.
    """
    model = tl.program_id(1).to(tl.int64)
    row, position = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, POSITIONS)
    is_row, is_position = row < N, position < K
    H += model * N * D + row[:, None] * D
    directions += model * K * D + position[None, :] * D
    along = tl.zeros((ROWS, POSITIONS), dtype=tl.float32)
    squares = tl.zeros((ROWS,), dtype=tl.float32)
    for first in range(0, D, CHANNELS):
        channel = first + tl.arange(0, CHANNELS)
        h = tl.load(H + channel[None, :], mask=is_row[:, None] & (channel < D)[None, :], other=0.0)
        p = tl.load(directions + channel[:, None], mask=is_position[None, :] & (channel < D)[:, None], other=0.0)
        along = tl.dot(h, p, along, input_precision="tf32x3")
        squares += tl.sum(h * h, axis=1)
    length = tl.sqrt(squares)
    length = tl.where(length == 0, 1.0, length)  # a zero vector has no direction and costs 1 at every position
    free = 1.0 - along / length[:, None]
    cost = tl.where(free < 0, 0.0, tl.where(free > 2, 2.0, free))
    cost = tl.where(is_position[None, :], cost, float("inf"))
    least = tl.min(cost, axis=1)
    best = tl.argmin(cost, axis=1)
    if gamma > 0:
        share = tl.exp((least[:, None] - cost) / gamma)
        total = tl.sum(share, axis=1)
        soft = least - gamma * tl.log(total)
        share = share / total[:, None]
    else:
        soft = least
        share = tl.where(position[None, :] == best[:, None], 1.0, 0.0)
    # A node vector with NaN gets position 0 and a cost of NaN.
    broken = tl.max(tl.where(cost != cost, 1, 0), axis=1) > 0
    tl.store(positions + model * N + row, tl.where(broken, 0, best).to(tl.int64), mask=is_row)
    tl.store(costs + model * N + row, tl.where(broken, float("nan"), soft), mask=is_row)
    share = tl.where((free < 0) | (free > 2), 0.0, share) / length[:, None]
    at = (model * N + row)[:, None] * K + position[None, :]
    tl.store(shares + at, share, mask=is_row[:, None] & is_position[None, :])


@triton.jit
def _is_mine(index, positions, row, end, first, graph, position, ALIGNED: tl.constexpr):
    """Whether rows before ``end`` belong to a graph and position of the model whose rows begin at ``first``."""
    mine = row < end
    mine = mine & (tl.load(index + first + row, mask=mine, other=-1) == graph)
    if ALIGNED:
        mine = mine & (tl.load(positions + first + row, mask=mine, other=-1) == position)
    return mine


@triton.jit
def _reduce(
    x, start, index, positions, out, N, D,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, ALIGNED: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    position, graph, model = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    channel = tl.arange(0, CHANNELS)
    begin = tl.load(start + model * (tl.num_programs(1) + 1) + graph)
    end = tl.load(start + model * (tl.num_programs(1) + 1) + graph + 1)
    if HOW == 2:
        total = tl.full((ROWS, CHANNELS), float("-inf"), dtype=tl.float32)
    else:
        total = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
    count = tl.zeros((ROWS,), dtype=tl.float32)
    for first in range(begin, end, ROWS):
        row = first + tl.arange(0, ROWS)
        mine = _is_mine(index, positions, row, end, model * N, graph, position, ALIGNED)
        at = x + (model * N + row)[:, None] * D + channel[None, :]
        value = tl.load(at, mask=mine[:, None] & (channel < D)[None, :], other=0.0)
        if HOW == 2:
            value = tl.where(mine[:, None], value, float("-inf"))
            total = tl.where((value > total) | (value != value), value, total)
        else:
            total += value
        count += tl.where(mine, 1.0, 0.0)
    rows = tl.sum(count)
    if HOW == 2:
        # The maximum of a NaN and a number is NaN, as in torch; tl.max would drop it.
        nan = tl.max(tl.where(total != total, 1, 0), axis=0) > 0
        result = tl.max(tl.where(total != total, float("-inf"), total), axis=0)
        result = tl.where(nan, float("nan"), tl.where(rows > 0, result, 0.0))
    else:
        result = tl.sum(total, axis=0)
        if HOW == 1:
            result = result / tl.maximum(rows, 1.0)
    group = (model * tl.num_programs(1) + graph) * tl.num_programs(0) + position
    tl.store(out + group * D + channel, result, mask=channel < D)


@triton.jit
def _reduce_backward(
    x, start, index, positions, out, grad, grad_x, N, D,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, ALIGNED: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    position, graph, model = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    channel = tl.arange(0, CHANNELS)
    B = tl.num_programs(1) - 1
    begin = tl.load(start + model * (B + 1) + graph)
    if graph == B:  # rows after the last graph, distributed over the programs of all positions
        for first in range(begin + position * ROWS, N, tl.num_programs(0) * ROWS):
            row = first + tl.arange(0, ROWS)
            here = (model * N + row)[:, None] * D + channel[None, :]
            tl.store(
                grad_x + here, tl.zeros((ROWS, CHANNELS), dtype=tl.float32),
                mask=(row < N)[:, None] & (channel < D)[None, :],
            )  # fmt: skip
        return
    end = tl.load(start + model * (B + 1) + graph + 1)
    group = (model * B + graph) * tl.num_programs(0) + position
    g = tl.load(grad + group * D + channel, mask=channel < D, other=0.0)
    if HOW == 2:
        best = tl.load(out + group * D + channel, mask=channel < D, other=0.0)
    if HOW > 0:  # counts the rows that share the gradient: all rows of a mean, the maxima of a maximum
        shares = tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
        for first in range(begin, end, ROWS):
            row = first + tl.arange(0, ROWS)
            mine = _is_mine(index, positions, row, end, model * N, graph, position, ALIGNED)
            if HOW == 2:
                at = x + (model * N + row)[:, None] * D + channel[None, :]
                value = tl.load(at, mask=mine[:, None] & (channel < D)[None, :], other=0.0)
                shares += tl.where(mine[:, None] & (value == best[None, :]), 1.0, 0.0)
            else:
                shares += tl.where(mine[:, None], 1.0, 0.0)
        g = g / tl.maximum(tl.sum(shares, axis=0), 1.0)
    for first in range(begin, end, ROWS):
        row = first + tl.arange(0, ROWS)
        mine = _is_mine(index, positions, row, end, model * N, graph, position, ALIGNED)
        here = (model * N + row)[:, None] * D + channel[None, :]
        inside = mine[:, None] & (channel < D)[None, :]
        part = tl.zeros((ROWS, CHANNELS), dtype=tl.float32) + g[None, :]
        if HOW == 2:
            part = tl.where(tl.load(x + here, mask=inside, other=0.0) == best[None, :], part, 0.0)
        tl.store(grad_x + here, part, mask=inside)
        if position == 0:
            ignored = row < end
            ignored = ignored & (tl.load(index + model * N + row, mask=ignored, other=-1) != graph)
            tl.store(
                grad_x + here, tl.zeros((ROWS, CHANNELS), dtype=tl.float32),
                mask=ignored[:, None] & (channel < D)[None, :],
            )  # fmt: skip
