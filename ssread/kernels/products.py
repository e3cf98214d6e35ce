"""Matrix products of many models at once, on tensor cores and still in float32.

A factor is split into two numbers of TF32, and three products of these are added up: more exact than the float32
product of the vendor's library, and faster, since what remains is reading and writing the node vectors.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ssread.kernels.stacking import fold, power_of_2, unfold

__all__ = ["linear", "sum_of_outer"]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Rows [N, i] times the transposed weight [o, i] plus the bias [o], [N, o]."""
    stacked = None if bias is None else bias.unsqueeze(0)
    return _Linear.apply(x.unsqueeze(0), weight.unsqueeze(0), stacked).squeeze(0)


def sum_of_outer(a: Tensor, b: Tensor) -> Tensor:
    """The sum of the outer products of rows [R, N, o] and rows [R, N, i], [R, o, i]."""
    return _over_rows(a, b, and_sums=False)[0]


#: Rows and entering channels of a tile, how many tiles are on their way at a time, and warps, measured on an H200.
TIMES = {"ROWS": 64, "IN": 32, "num_stages": 3, "num_warps": 4}

#: Rows of a tile where a product adds up over them, and the rest as before; into how many parts the rows are cut.
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
        # Tensor cores read what they add up over in a row: the small factor is turned, not the large one.
        turned = weight.mT.contiguous()
        grad_x = _rows_times(grad, turned, None) if ctx.needs_input_grad[0] else None
        return grad_x, *_over_rows(grad, x.contiguous(), ctx.has_bias)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        return unfold(info.batch_size, _Linear.apply(*fold(info.batch_size, in_dims, inputs))), 0


def _rows_times(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x [R, N, i] times the transposed weight [R, o, i], [R, N, o]."""
    replicas, rows, entering = x.shape
    leaving = weight.size(1)
    out = x.new_empty(replicas, rows, leaving)
    if out.numel() > 0:
        wide = min(max(power_of_2(leaving), 16), 64)
        grid = (triton.cdiv(rows, TIMES["ROWS"]), replicas, triton.cdiv(leaving, wide))
        given = weight if bias is None else bias.contiguous()
        _times[grid](x, weight, given, out, rows, entering, leaving, OUT=wide, BIAS=bias is not None, **TIMES)
    return out


def _over_rows(a: Tensor, b: Tensor, and_sums: bool) -> tuple[Tensor, Tensor | None]:
    """:func:`sum_of_outer`, and the sum of the rows of ``a`` [R, o] where asked; parts on their own, added in order."""
    replicas, rows, leaving = a.shape
    entering = b.size(2)
    out = a.new_empty(replicas, PARTS, leaving, entering)
    sums = a.new_empty(replicas, PARTS, leaving) if and_sums else None
    if out.numel() > 0:
        high, wide = min(max(power_of_2(leaving), 16), 128), min(max(power_of_2(entering), 16), 64)
        part = triton.cdiv(triton.cdiv(rows, PARTS), OUTER["ROWS"]) * OUTER["ROWS"]
        grid = (triton.cdiv(leaving, high) * triton.cdiv(entering, wide), replicas, PARTS)
        given = out if sums is None else sums
        _sum_of_outer[grid](
            a, b, out, given, rows, part, leaving, entering, OUT=high, IN=wide, SUMS=and_sums, **OUTER
        )  # fmt: skip
    return out.sum(dim=1), None if sums is None else sums.sum(dim=1)


@triton.jit
def _times(
    x, weight, bias, out, N, D, M,
    ROWS: tl.constexpr, IN: tl.constexpr, OUT: tl.constexpr, BIAS: tl.constexpr,
):  # fmt: skip
    replica = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    leaving = tl.program_id(2) * OUT + tl.arange(0, OUT)
    is_row, is_leaving = (row < N)[:, None], (leaving < M)[None, :]
    x += replica * N * D + row[:, None] * D
    weight += replica * M * D + leaving[None, :] * D
    total = tl.zeros((ROWS, OUT), dtype=tl.float32)
    for first in range(0, D, IN):
        entering = first + tl.arange(0, IN)
        left = tl.load(x + entering[None, :], mask=is_row & (entering < D)[None, :], other=0.0)
        right = tl.load(weight + entering[:, None], mask=(entering < D)[:, None] & is_leaving, other=0.0)
        total = tl.dot(left, right, total, input_precision="tf32x3")
    if BIAS:
        total += tl.load(bias + replica * M + leaving, mask=leaving < M, other=0.0)[None, :]
    tl.store(out + replica * N * M + row[:, None] * M + leaving[None, :], total, mask=is_row & is_leaving)


@triton.jit
def _sum_of_outer(
    a, b, out, sums, N, PART, M, D, ROWS: tl.constexpr, OUT: tl.constexpr, IN: tl.constexpr, SUMS: tl.constexpr
):
    replica, part = tl.program_id(1).to(tl.int64), tl.program_id(2)
    across = tl.cdiv(D, IN)
    leaving = tl.program_id(0) // across * OUT + tl.arange(0, OUT)
    entering = tl.program_id(0) % across * IN + tl.arange(0, IN)
    is_leaving, is_entering = (leaving < M)[:, None], (entering < D)[None, :]
    a += replica * N * M + leaving[:, None]
    b += replica * N * D + entering[None, :]
    total = tl.zeros((OUT, IN), dtype=tl.float32)
    of_a = tl.zeros((OUT,), dtype=tl.float32)
    for first in range(part * PART, tl.minimum(part * PART + PART, N), ROWS):
        row = first + tl.arange(0, ROWS)
        left = tl.load(a + row[None, :] * M, mask=is_leaving & (row < N)[None, :], other=0.0)
        right = tl.load(b + row[:, None] * D, mask=(row < N)[:, None] & is_entering, other=0.0)
        total = tl.dot(left, right, total, input_precision="tf32x3")
        if SUMS:
            of_a += tl.sum(left, axis=1)
    if SUMS:
        if tl.program_id(0) % across == 0:
            tl.store(sums + (replica * tl.num_programs(2) + part) * M + leaving, of_a, mask=leaving < M)
    out += (replica * tl.num_programs(2) + part) * M * D
    tl.store(out + leaving[:, None] * D + entering[None, :], total, mask=is_leaving & is_entering)
