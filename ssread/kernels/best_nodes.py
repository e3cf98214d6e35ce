"""Top-k pooling: which nodes of every graph have the highest scores, without sorting."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from ssread.kernels.stacking import fold, unfold

__all__ = ["keep_best"]

#: Nodes that a program compares at a time, and programs that share a graph.
BLOCK, SHARED = 32, 8


def keep_best(scores: Tensor, kept: Tensor, start: Tensor, ratio: float) -> Tensor:
    """Returns 1 for the ceil(ratio * n) nodes with the highest scores of the n nodes kept so far in every graph, [N].

    Of equal scores the first are kept. Nodes after those of the last graph are dropped.

    Args:
        scores: One score per node, [N].
        kept: 1 for nodes kept so far, 0 for the others, [N].
        start: Where each graph's nodes begin, [B + 1].
        ratio: The share to keep.
    """
    arrays = (array.unsqueeze(0) for array in (scores.detach(), kept.detach(), start))
    return _KeepBest.apply(*arrays, ratio).squeeze(0)


class _KeepBest(torch.autograd.Function):
    @staticmethod
    def forward(scores: Tensor, kept: Tensor, start: Tensor, ratio: float) -> Tensor:
        models, nodes = scores.shape
        graphs = start.size(1) - 1
        left = torch.zeros_like(kept, memory_format=torch.contiguous_format)
        if left.numel() > 0 and graphs > 0:
            arrays = (scores.contiguous(), kept.contiguous(), start.contiguous())
            _keep_best[(SHARED, graphs, models)](*arrays, left, nodes, ratio, BLOCK=BLOCK, num_warps=1)
        return left

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.mark_non_differentiable(output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, ...]:
        return None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        return unfold(info.batch_size, _KeepBest.apply(*fold(info.batch_size, in_dims, inputs))), 0


@triton.jit
def _keep_best(scores, kept, start, left, N, ratio, BLOCK: tl.constexpr):
    """Counts for every node how many of its graph are better: quadratic, but graphs are small and nothing is sorted."""
    graph, model = tl.program_id(1), tl.program_id(2).to(tl.int64)
    begin = tl.load(start + model * (tl.num_programs(1) + 1) + graph)
    end = tl.load(start + model * (tl.num_programs(1) + 1) + graph + 1)
    scores += model * N
    kept += model * N
    for first in range(begin + tl.program_id(0) * BLOCK, end, tl.num_programs(0) * BLOCK):
        row = first + tl.arange(0, BLOCK)
        mine = tl.load(scores + row, mask=row < end, other=0.0)
        mine = tl.where(mine != mine, float("inf"), mine)
        better = tl.zeros((BLOCK,), dtype=tl.float32)
        nodes = tl.zeros((BLOCK,), dtype=tl.float32)
        for second in range(begin, end, BLOCK):
            other = second + tl.arange(0, BLOCK)
            counts = tl.load(kept + other, mask=other < end, other=0.0)
            theirs = tl.load(scores + other, mask=other < end, other=0.0)
            theirs = tl.where(theirs != theirs, float("inf"), theirs)[None, :]
            before = (theirs > mine[:, None]) | ((theirs == mine[:, None]) & (other[None, :] < row[:, None]))
            better += tl.sum(tl.where(before, counts[None, :], 0.0), axis=1)
            nodes += counts
        quota = tl.ceil(ratio * tl.sum(nodes))
        was_kept = tl.load(kept + row, mask=row < end, other=0.0)
        tl.store(left + model * N + row, tl.where(better < quota, was_kept, 0.0), mask=row < end)
