"""Matrix products of a stack of models, on tensor cores but with the precision of float32.

Every factor is split into two TF32 numbers, and three products of these are summed. That is more exact than cuBLAS in
float32, and faster: the time that remains is spent on reading and writing the node vectors.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ssread.kernels.stacking import fold, power_of_2, unfold

__all__ = ["linear", "sum_of_outer"]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Returns rows [N, i] times the transposed weight [o, i] plus the bias [o], [N, o]."""
    stacked = None if bias is None else bias.unsqueeze(0)
    return _Linear.apply(x.unsqueeze(0), weight.unsqueeze(0), stacked).squeeze(0)


def sum_of_outer(a: Tensor, b: Tensor) -> Tensor:
    """Returns the sum over n of the outer products of rows a [R, N, o] and rows b [R, N, i], [R, o, i]."""
    return _sum_over_rows(a, b, and_sums=False)[0]


#: Rows and input channels of a tile, pipeline stages and warps, tuned on an H200.
TIMES = {"ROWS": 64, "IN": 32, "num_stages": 3, "num_warps": 4}

#: The same for products that sum over the rows, and the number of parts that the rows are split into.
OUTER, PARTS = {"ROWS": 32, "num_stages": 3, "num_warps": 4}, 8


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return _rows_times(x.contiguous(), weight.contiguous(), bias)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, weight, bias = inputs
        ctx.has_bias = bias is not None
        ctx.save_for_backward(x, weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        grad = grad.contiguous()
        # Tensor cores read the summed dimension contiguously, so the smaller factor is transposed.
        transposed = weight.mT.contiguous()
        grad_x = _rows_times(grad, transposed, None) if ctx.needs_input_grad[0] else None
        return grad_x, *_sum_over_rows(grad, x.contiguous(), ctx.has_bias)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        return unfold(info.batch_size, _Linear.apply(*fold(info.batch_size, in_dims, inputs))), 0


def _rows_times(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Returns x [R, N, i] times the transposed weight [R, o, i], [R, N, o]."""
    models, rows, in_channels = x.shape
    out_channels = weight.size(1)
    out = x.new_empty(models, rows, out_channels)
    if out.numel() > 0:
        wide = min(max(power_of_2(out_channels), 16), 64)
        grid = (triton.cdiv(rows, TIMES["ROWS"]), models, triton.cdiv(out_channels, wide))
        bias_pointer = weight if bias is None else bias.contiguous()
        _times[grid](
            x, weight, bias_pointer, out, rows, in_channels, out_channels, OUT=wide, BIAS=bias is not None, **TIMES
        )
    return out


def _sum_over_rows(a: Tensor, b: Tensor, and_sums: bool) -> tuple[Tensor, Tensor | None]:
    """Returns :func:`sum_of_outer` and, if asked for, the sum of the rows of ``a`` [R, o].

    The parts of the rows are summed separately and then added in a fixed order.
    """
    models, rows, out_channels = a.shape
    in_channels = b.size(2)
    out = a.new_empty(models, PARTS, out_channels, in_channels)
    sums = a.new_empty(models, PARTS, out_channels) if and_sums else None
    if out.numel() > 0:
        high, wide = min(max(power_of_2(out_channels), 16), 128), min(max(power_of_2(in_channels), 16), 64)
        part = triton.cdiv(triton.cdiv(rows, PARTS), OUTER["ROWS"]) * OUTER["ROWS"]
        grid = (triton.cdiv(out_channels, high) * triton.cdiv(in_channels, wide), models, PARTS)
        sums_pointer = out if sums is None else sums
        _sum_of_outer[grid](
            a, b, out, sums_pointer, rows, part, out_channels, in_channels, OUT=high, IN=wide, SUMS=and_sums, **OUTER
        )  # fmt: skip
    return out.sum(dim=1), None if sums is None else sums.sum(dim=1)


@triton.jit
def _times(
    x, weight, bias, out, N, D, M,
    ROWS: tl.constexpr, IN: tl.constexpr, OUT: tl.constexpr, BIAS: tl.constexpr,
):  # fmt: skip
    model = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    out_channel = tl.program_id(2) * OUT + tl.arange(0, OUT)
    is_row, is_out = (row < N)[:, None], (out_channel < M)[None, :]
    x += model * N * D + row[:, None] * D
    weight += model * M * D + out_channel[None, :] * D
    total = tl.zeros((ROWS, OUT), dtype=tl.float32)
    for first in range(0, D, IN):
        in_channel = first + tl.arange(0, IN)
        left = tl.load(x + in_channel[None, :], mask=is_row & (in_channel < D)[None, :], other=0.0)
        right = tl.load(weight + in_channel[:, None], mask=(in_channel < D)[:, None] & is_out, other=0.0)
        total = tl.dot(left, right, total, input_precision="tf32x3")
    if BIAS:
        total += tl.load(bias + model * M + out_channel, mask=out_channel < M, other=0.0)[None, :]
    tl.store(out + model * N * M + row[:, None] * M + out_channel[None, :], total, mask=is_row & is_out)


@triton.jit
def _sum_of_outer(
    a, b, out, sums, N, PART, M, D, ROWS: tl.constexpr, OUT: tl.constexpr, IN: tl.constexpr, SUMS: tl.constexpr
):
    model, part = tl.program_id(1).to(tl.int64), tl.program_id(2)
    across = tl.cdiv(D, IN)
    out_channel = tl.program_id(0) // across * OUT + tl.arange(0, OUT)
    in_channel = tl.program_id(0) % across * IN + tl.arange(0, IN)
    is_out, is_in = (out_channel < M)[:, None], (in_channel < D)[None, :]
    a += model * N * M + out_channel[:, None]
    b += model * N * D + in_channel[None, :]
    total = tl.zeros((OUT, IN), dtype=tl.float32)
    of_a = tl.zeros((OUT,), dtype=tl.float32)
    for first in range(part * PART, tl.minimum(part * PART + PART, N), ROWS):
        row = first + tl.arange(0, ROWS)
        left = tl.load(a + row[None, :] * M, mask=is_out & (row < N)[None, :], other=0.0)
        right = tl.load(b + row[:, None] * D, mask=(row < N)[:, None] & is_in, other=0.0)
        total = tl.dot(left, right, total, input_precision="tf32x3")
        if SUMS:
            of_a += tl.sum(left, axis=1)
    if SUMS:
        if tl.program_id(0) % across == 0:
            tl.store(sums + (model * tl.num_programs(2) + part) * M + out_channel, of_a, mask=out_channel < M)
    out += (model * tl.num_programs(2) + part) * M * D
    tl.store(out + out_channel[:, None] * D + in_channel[None, :], total, mask=is_out & is_in)
