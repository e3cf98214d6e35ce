"""Sums, means, maxima and softmaxes over groups of rows: what every aggregation is made of.

PyG's ``scatter`` writes into a fresh tensor in place, which ``torch.func.vmap`` refuses as soon as the groups differ
between replicas and the rows do not (as they do when only prototypes are stacked). These do not, keep static shapes,
and ``index_add`` takes a third of the time of ``scatter_add`` on a CPU. An empty group is exactly zero.
"""

import torch
from torch import Tensor

__all__ = ["count", "is_concrete", "max", "mean", "outer", "rank", "softmax", "sum"]


def sum(values: Tensor, index: Tensor, size: int) -> Tensor:
    """Adds up the rows of every group: [N, ...] and group numbers [N] to [size, ...].

    Half-precision rows are added in float32: a large graph would drown its own small terms.
    """
    wide = values.float() if values.dtype in (torch.bfloat16, torch.float16) else values
    total = wide.new_zeros(size, *values.shape[1:]).index_add(0, index, wide)
    return total.to(values.dtype)


def is_concrete(*tensors: Tensor) -> bool:
    """Whether values may be looked at: not while tracing or lifting, nor on a GPU, where a look stalls everything."""
    if torch.compiler.is_compiling() or torch._C._functorch.peek_interpreter_stack() is not None:
        return False
    return all(tensor.device.type == "cpu" for tensor in tensors)


def count(index: Tensor, size: int) -> Tensor:
    """The number of rows in every group, [size], as integers."""
    return torch.zeros(size, dtype=torch.long, device=index.device).index_add(0, index, torch.ones_like(index))


def mean(values: Tensor, index: Tensor, size: int) -> Tensor:
    """The mean of the rows of every group."""
    rows = count(index, size).clamp(min=1).to(values.dtype)
    return sum(values, index, size) / rows.view(-1, *[1] * (values.dim() - 1))


def max(values: Tensor, index: Tensor, size: int) -> Tensor:
    """The largest entry of every column in every group; equal ones share the gradient."""
    target = index.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
    zeros = values.new_zeros(size, *values.shape[1:])
    return zeros.scatter_reduce(0, target, values, "amax", include_self=False)


def softmax(scores: Tensor, index: Tensor, size: int) -> Tensor:
    """Scores to weights that sum to one within every group, [N, ...]."""
    highest = max(scores.detach(), index, size)
    weights = (scores - highest.index_select(0, index)).exp()
    return weights / sum(weights, index, size).index_select(0, index)


def rank(index: Tensor, size: int, by: Tensor | None = None) -> Tensor:
    """The place of every row within its group, counted from 0, [N].

    Args:
        index: The group of every row, [N], in any order.
        size: The number of groups.
        by: Scores [N], the highest of a group comes first; equal ones, and all without it, keep their order.

    >>> rank(torch.tensor([0, 1, 0, 0]), 2, by=torch.tensor([1.0, 5.0, 3.0, 2.0]))
    tensor([2, 0, 0, 1])
    """
    if by is None:
        order = index.argsort(stable=True)
    else:
        order = by.argsort(stable=True, descending=True)
        order = order.index_select(0, index.index_select(0, order).argsort(stable=True))
    members = count(index, size)
    first = members.cumsum(0) - members
    return order.argsort() - first.index_select(0, index)


def outer(left: Tensor, right: Tensor, index: Tensor, size: int) -> Tensor:
    """The sum over every group of the rows' outer products, L^T R: [N, a] and [N, b] to [size, a, b].

    Groups differ in size, and the largest may be far above the mean, so they are not padded to it: they are cut into
    blocks of half to all of the mean size, multiplied block by block and added up. That holds 2 N rows (size rows if
    there are fewer than one per group).
    """
    rows = left.size(0)
    mean = rows // size if size else 0
    block = 1 << (mean.bit_length() - 1) if mean else 1  # the largest power of two not above the mean
    per_group = (count(index, size) + block - 1) // block
    end = per_group.cumsum(0)
    slot = (end - per_group).index_select(0, index) * block + rank(index, size)
    blocks = rows // block + size  # never fewer than needed: every group wastes less than one
    left = sum(left, slot, blocks * block).view(blocks, block, left.size(1))
    right = sum(right, slot, blocks * block).view(blocks, block, right.size(1))
    group = (torch.arange(blocks, device=index.device).unsqueeze(1) >= end).sum(dim=1).clamp(max=size - 1)
    return sum(left.mT @ right, group, size)
