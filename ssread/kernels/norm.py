"""Batch normalisation over the rows that are not padding, relu and dropout, fused.

Forward reads the rows twice and writes them once; backward reads four times and writes once.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ssread.kernels.stacking import fold, power_of_2, tiles_of, unfold

__all__ = ["norm_relu_dropout"]


def norm_relu_dropout(
    x: Tensor, mask: Tensor | None, weight: Tensor, bias: Tensor, eps: float, relu: bool, dropout: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the normalised rows, after relu and dropout, and the mean and unbiased variance of the real rows.

    The dropout of a model is determined by one random seed, drawn with torch's generator. Backward draws the same
    numbers from it again instead of reading a mask.

    Args:
        x: Rows, [N, d].
        mask: 1 for real rows, 0 for padding, [N]; None if all rows are real.
        weight: Scale of every channel, [d].
        bias: Shift of every channel, [d].
        eps: Added to the variance.
        relu: Whether a relu follows.
        dropout: The share of entries to drop, from 0 to below 1.
    """
    mask = x.new_ones(x.size(0)) if mask is None else mask
    seed = torch.randint(2**31 - 1, (1,), device=x.device) if dropout > 0 else mask[:1].long()
    arrays = (x, mask, weight, bias, seed)
    y, mean, _, unbiased, _ = _NormReluDropout.apply(*(array.unsqueeze(0) for array in arrays), eps, relu, dropout)
    return y.squeeze(0), mean.squeeze(0), unbiased.squeeze(0)


#: Entries of a tile and warps of a program, tuned on an H200.
STATISTICS, APPLY, BACKWARD_SUMS, BACKWARD_APPLY = (4096, 1), (2048, 4), (512, 1), (512, 1)


class _NormReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(
        x: Tensor, mask: Tensor, weight: Tensor, bias: Tensor, seed: Tensor, eps: float, relu: bool, dropout: float
    ) -> tuple[Tensor, ...]:
        x, mask = x.contiguous(), mask.contiguous()
        sizes = x.size(1), x.size(2)
        grid, shape = _launch_shape(x, STATISTICS)
        blocks = x.new_empty(x.size(0), grid[0], 2, x.size(2))
        counts = x.new_empty(x.size(0), grid[0])
        mean, var, unbiased = x.new_empty(3, x.size(0), x.size(2))
        rows = x.new_empty(x.size(0))
        y = torch.empty_like(x)
        if x.numel() == 0:
            return y, mean.zero_(), var.zero_(), unbiased.zero_(), rows.zero_()
        _statistics[grid](x, mask, blocks, counts, *sizes, **shape)
        _combine[(triton.cdiv(x.size(2), 32), x.size(0))](
            blocks, counts, mean, var, unbiased, rows, grid[0], x.size(2), BLOCKS=32
        )
        grid, shape = _launch_shape(x, APPLY)
        _apply[grid](
            x, y, mean, var, weight.contiguous(), bias.contiguous(), seed.contiguous(), *sizes, eps, dropout,
            RELU=relu, DROPOUT=dropout > 0, **shape,
        )  # fmt: skip
        return y, mean, var, unbiased, rows

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        x, mask, weight, bias, seed, ctx.eps, ctx.relu, ctx.dropout = inputs
        _, mean, var, _, rows = output
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(x, mask, weight, bias, seed, mean, var, rows)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        x, mask, weight, bias, seed, mean, var, rows = (tensor.contiguous() for tensor in ctx.saved_tensors)
        grad, grad_x = grad.contiguous(), torch.empty_like(x)
        sizes = x.size(1), x.size(2)
        grid, shape = _launch_shape(x, BACKWARD_SUMS)
        total = x.new_zeros(x.size(0), 2, x.size(2))
        if x.numel() > 0:
            tiles = tiles_of(grid[0] * grid[1])
            grid = (triton.cdiv(grid[0], tiles), grid[1])
            sums = x.new_empty(x.size(0), grid[0], 2, x.size(2))
            flags = {"RELU": ctx.relu, "DROPOUT": ctx.dropout > 0}
            arrays = (x, grad, mean, var, weight, bias, seed)
            _backward_sums[grid](*arrays, sums, *sizes, ctx.eps, ctx.dropout, TILES=tiles, **flags, **shape)
            total = sums.sum(dim=1)
            grid, shape = _launch_shape(x, BACKWARD_APPLY)
            _backward_apply[grid](*arrays, mask, rows, total, grad_x, *sizes, ctx.eps, ctx.dropout, **flags, **shape)
        return grad_x, None, total[:, 1], total[:, 0], None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        outputs = _NormReluDropout.apply(*fold(info.batch_size, in_dims, inputs))
        return tuple(unfold(info.batch_size, output) for output in outputs), (0, 0, 0, 0, 0)


def _launch_shape(x: Tensor, tile: tuple[int, int]) -> tuple[tuple[int, int], dict[str, int]]:
    """Returns the grid of a kernel, and the shape of the tile of a program."""
    entries, warps = tile
    rows = max(entries // power_of_2(x.size(2)), 1)
    shape = {"ROWS": rows, "CHANNELS": power_of_2(x.size(2)), "num_warps": warps}
    return (triton.cdiv(x.size(1), rows), x.size(0)), shape


@triton.jit
def _statistics(x, mask, blocks, counts, N, D, ROWS: tl.constexpr, CHANNELS: tl.constexpr):
    """Computes the mean and the sum of squared deviations of the real rows of every block.

    Unlike the mean of squares minus the squared mean, that subtracts no large numbers from each other.
    """
    block, model = tl.program_id(0), tl.program_id(1).to(tl.int64)
    row, channel = block * ROWS + tl.arange(0, ROWS), tl.arange(0, CHANNELS)
    real = tl.load(mask + model * N + row, mask=row < N, other=0.0)
    inside = (row < N)[:, None] & (channel < D)[None, :]
    value = tl.load(x + model * N * D + row[:, None] * D + channel[None, :], mask=inside, other=0.0)
    count = tl.sum(real)
    mean = tl.sum(tl.where(real[:, None] != 0, value * real[:, None], 0.0), axis=0) / tl.maximum(count, 1.0)
    away = tl.where(real[:, None] != 0, value - mean[None, :], 0.0)
    place = model * tl.num_programs(0) + block
    tl.store(counts + place, count)
    tl.store(blocks + place * 2 * D + channel, mean, mask=channel < D)
    tl.store(blocks + place * 2 * D + D + channel, tl.sum(away * away, axis=0), mask=channel < D)


@triton.jit
def _combine(blocks, counts, mean, var, unbiased, rows_of_all, P, D, BLOCKS: tl.constexpr):
    """Combines the statistics of the blocks into the mean, both variances and the number of all real rows."""
    model = tl.program_id(1).to(tl.int64)
    channel = tl.program_id(0) * 32 + tl.arange(0, 32)
    total = tl.zeros((BLOCKS, 32), dtype=tl.float32)
    rows = tl.zeros((BLOCKS,), dtype=tl.float32)
    for first in range(0, P, BLOCKS):
        block = first + tl.arange(0, BLOCKS)
        count = tl.load(counts + model * P + block, mask=block < P, other=0.0)
        inside = (block < P)[:, None] & (channel < D)[None, :]
        at = (model * P + block)[:, None] * 2 * D + channel[None, :]
        total += tl.load(blocks + at, mask=inside, other=0.0) * count[:, None]
        rows += count
    count = tl.maximum(tl.sum(rows), 1.0)
    centre = tl.sum(total, axis=0) / count
    total = tl.zeros((BLOCKS, 32), dtype=tl.float32)
    for first in range(0, P, BLOCKS):
        block = first + tl.arange(0, BLOCKS)
        rows = tl.load(counts + model * P + block, mask=block < P, other=0.0)
        inside = (block < P)[:, None] & (channel < D)[None, :]
        at = (model * P + block)[:, None] * 2 * D + channel[None, :]
        away = tl.load(blocks + at, mask=inside, other=0.0) - centre[None, :]
        squares = tl.load(blocks + at + D, mask=inside, other=0.0)
        total += tl.where(inside, squares + rows[:, None] * away * away, 0.0)
    squares = tl.sum(total, axis=0)
    at = model * D + channel
    tl.store(mean + at, centre, mask=channel < D)
    tl.store(var + at, squares / count, mask=channel < D)
    tl.store(unbiased + at, squares / tl.maximum(count - 1.0, 1.0), mask=channel < D)
    if tl.program_id(0) == 0:
        tl.store(rows_of_all + model, count)


@triton.jit
def _dropout_factor(seed, model, here, dropout):
    """Computes the factor of dropout for every entry: 0, or 1 / (1 - dropout)."""
    return tl.where(tl.rand(tl.load(seed + model), here, n_rounds=7) >= dropout, 1.0 / (1.0 - dropout), 0.0)


@triton.jit
def _apply(
    x, y, mean, var, weight, bias, seed, N, D, eps, dropout,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, RELU: tl.constexpr, DROPOUT: tl.constexpr,
):  # fmt: skip
    model = tl.program_id(1).to(tl.int64)
    row, channel = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, CHANNELS)
    here = row[:, None] * D + channel[None, :]
    inside = (row < N)[:, None] & (channel < D)[None, :]
    at = model * D + channel
    m = tl.load(mean + at, mask=channel < D, other=0.0)
    w = tl.load(weight + at, mask=channel < D, other=0.0)
    w *= 1.0 / tl.sqrt(tl.load(var + at, mask=channel < D, other=1.0) + eps)
    b = tl.load(bias + at, mask=channel < D, other=0.0)
    value = (tl.load(x + model * N * D + here, mask=inside, other=0.0) - m[None, :]) * w[None, :] + b[None, :]
    if RELU:
        value = tl.where(value < 0, 0.0, value)
    if DROPOUT:
        value *= _dropout_factor(seed, model, here, dropout)
    tl.store(y + model * N * D + here, value, mask=inside)


@triton.jit
def _before_relu(
    x, grad, mean, var, weight, bias, seed, model, here, inside, channel, N, D, eps, dropout,
    RELU: tl.constexpr, DROPOUT: tl.constexpr,
):  # fmt: skip
    """Computes the gradient before relu and dropout, the normalised rows, and weight / deviation of every channel."""
    at = model * D + channel
    m = tl.load(mean + at, mask=channel < D, other=0.0)
    inverse = 1.0 / tl.sqrt(tl.load(var + at, mask=channel < D, other=1.0) + eps)
    w = tl.load(weight + at, mask=channel < D, other=0.0)
    normal = (tl.load(x + model * N * D + here, mask=inside, other=0.0) - m[None, :]) * inverse[None, :]
    g = tl.load(grad + model * N * D + here, mask=inside, other=0.0)
    if DROPOUT:
        g *= _dropout_factor(seed, model, here, dropout)
    if RELU:
        b = tl.load(bias + at, mask=channel < D, other=0.0)
        g = tl.where(normal * w[None, :] + b[None, :] > 0, g, 0.0)
    return tl.where(inside, g, 0.0), tl.where(inside, normal, 0.0), w * inverse


@triton.jit
def _backward_sums(
    x, grad, mean, var, weight, bias, seed, sums, N, D, eps, dropout,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, RELU: tl.constexpr, DROPOUT: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    model = tl.program_id(1).to(tl.int64)
    channel = tl.arange(0, CHANNELS)
    of_g, of_normal = tl.zeros((ROWS, CHANNELS), dtype=tl.float32), tl.zeros((ROWS, CHANNELS), dtype=tl.float32)
    for tile in range(TILES):
        row = (tl.program_id(0) * TILES + tile) * ROWS + tl.arange(0, ROWS)
        here = row[:, None] * D + channel[None, :]
        inside = (row < N)[:, None] & (channel < D)[None, :]
        g, normal, _ = _before_relu(
            x, grad, mean, var, weight, bias, seed, model, here, inside, channel, N, D, eps, dropout, RELU, DROPOUT
        )
        of_g += g
        of_normal += g * normal
    sums += (model * tl.num_programs(0) + tl.program_id(0)) * 2 * D
    tl.store(sums + channel, tl.sum(of_g, axis=0), mask=channel < D)
    tl.store(sums + D + channel, tl.sum(of_normal, axis=0), mask=channel < D)


@triton.jit
def _backward_apply(
    x, grad, mean, var, weight, bias, seed, mask, rows, total, grad_x, N, D, eps, dropout,
    ROWS: tl.constexpr, CHANNELS: tl.constexpr, RELU: tl.constexpr, DROPOUT: tl.constexpr,
):  # fmt: skip
    model = tl.program_id(1).to(tl.int64)
    row, channel = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, CHANNELS)
    here = row[:, None] * D + channel[None, :]
    inside = (row < N)[:, None] & (channel < D)[None, :]
    g, normal, w = _before_relu(
        x, grad, mean, var, weight, bias, seed, model, here, inside, channel, N, D, eps, dropout, RELU, DROPOUT
    )
    count = tl.load(rows + model)
    of_g = tl.load(total + model * 2 * D + channel, mask=channel < D, other=0.0) / count
    of_normal = tl.load(total + model * 2 * D + D + channel, mask=channel < D, other=0.0) / count
    counts = tl.load(mask + model * N + row, mask=row < N, other=0.0)
    g -= counts[:, None] * (of_g[None, :] + normal * of_normal[None, :])
    tl.store(grad_x + model * N * D + here, g * w[None, :], mask=inside)
