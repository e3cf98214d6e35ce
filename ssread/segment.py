"""Sums, means, maxima and softmaxes over groups of rows: what every aggregation is made of.

PyG's ``scatter`` writes into a fresh tensor in place, which ``torch.func.vmap`` refuses as soon as the groups differ
between replicas and the rows do not (as they do when only prototypes are stacked). These do not, keep static shapes,
and ``index_add`` takes a third of the time of ``scatter_add`` on a CPU. An empty group is exactly zero.
"""

import torch
from torch import Tensor

__all__ = ["count", "max", "mean", "softmax", "sum"]


def sum(values: Tensor, index: Tensor, size: int) -> Tensor:
    """Adds up the rows of every group: [N, ...] and group numbers [N] to [size, ...].

    Half-precision rows are added in float32: a large graph would drown its own small terms.
    """
    wide = values.float() if values.dtype in (torch.bfloat16, torch.float16) else values
    total = wide.new_zeros(size, *values.shape[1:]).index_add(0, index, wide)
    return total.to(values.dtype)


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
