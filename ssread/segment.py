"""Sums, means, maxima and softmaxes over groups of rows: what every aggregation is made of.

PyG's ``scatter`` writes into a fresh tensor in place. ``torch.func.vmap`` refuses that if the groups differ between
models and the rows do not, as happens when only the prototypes are stacked. These functions work there, keep static
shapes, and ``index_add`` takes a third of the time of ``scatter_add`` on a CPU. An empty group is exactly zero.

Vmapped over R models, torch would add up and gather rows model by model; here it is one call on the rows of all models.
On a GPU rows are added in a fixed order, so that the same input gives bitwise the same sums.
"""

from typing import Any

import torch
from torch import Tensor
from torch.func import debug_unwrap

__all__ = [
    "apply",
    "count",
    "is_concrete",
    "outer",
    "rank",
    "reduce_max",
    "reduce_mean",
    "reduce_sum",
    "select",
    "softmax",
    "take",
]


def reduce_sum(values: Tensor, index: Tensor, size: int) -> Tensor:
    """Adds up the rows of every group: [N, ...] and group numbers [N] to [size, ...].

    Half-precision rows are added in float32: in a large group the small terms would be lost.
    """
    wide = values.float() if values.dtype in (torch.bfloat16, torch.float16) else values
    total = _add_up(wide, index, size) if _is_plain(values, index) else _Sum.apply(wide, index, size)
    return total.to(values.dtype)


def take(values: Tensor, index: Tensor) -> Tensor:
    """The rows numbered ``index`` [N] of ``values`` [size, ...]: the other direction of :func:`reduce_sum`."""
    return values.index_select(0, index) if _is_plain(values, index) else _Take.apply(values, index)


def select(values: Tensor, at: Tensor, back: Tensor) -> Tensor:
    """The rows numbered ``at`` [M] of ``values`` [N, ...], each at most once; a row of zeros where ``at`` is N.

    Args:
        values: Rows.
        at: The number of every wanted row.
        back: The reverse: where every row of ``values`` is in the result, M for nowhere. Gradients are read from there,
            whereas those of :func:`take` are added up, which takes long where many numbers are equal.
    """
    return _rows_or_zeros(values, at) if _is_plain(values, at) else _Select.apply(values, at, back)


def is_concrete(*tensors: Tensor | None) -> bool:
    """Whether the values of all these tensors can be read at no cost.

    They cannot while ``torch.compile`` or ``torch.export`` traces, nor inside a ``torch.func`` transform of one of the
    tensors. On a GPU reading a value waits for all kernels before it.
    """
    if torch.compiler.is_compiling():
        return False
    for tensor in tensors:
        if tensor is not None and not (tensor.is_cpu and debug_unwrap(tensor, recurse=False) is tensor):
            return False
    return True


def apply(function: type[torch.autograd.Function], *arguments: Any) -> Tensor | None:
    """Applies a function to concrete tensors; returns None inside a ``torch.func`` transform of other tensors.

    There torch accepts only functions with a separate ``setup_context``. Those take four times as long to call.
    """
    try:
        return function.apply(*arguments)
    except RuntimeError as error:
        if "setup_context" not in str(error):
            raise
        return None


def count(index: Tensor, size: int) -> Tensor:
    """The number of rows in every group, [size], as integers."""
    return reduce_sum(torch.ones_like(index), index, size)


def reduce_mean(values: Tensor, index: Tensor, size: int) -> Tensor:
    """The mean of the rows of every group."""
    rows = count(index, size).clamp(min=1).to(values.dtype)
    return reduce_sum(values, index, size) / rows.view(-1, *[1] * (values.dim() - 1))


def reduce_max(values: Tensor, index: Tensor, size: int) -> Tensor:
    """The largest entry of every column in every group; equal ones share the gradient."""
    target = index.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
    zeros = values.new_zeros(size, *values.shape[1:])
    return zeros.scatter_reduce(0, target, values, "amax", include_self=False)


def softmax(scores: Tensor, index: Tensor, size: int) -> Tensor:
    """Scores to weights that sum to one within every group, [N, ...]."""
    highest = reduce_max(scores.detach(), index, size)
    weights = (scores - take(highest, index)).exp()
    return weights / take(reduce_sum(weights, index, size), index)


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

    Groups differ in size, and the largest may be far above the mean, so they are not padded to it. They are cut into
    blocks of half to all of the mean size, multiplied block by block and added up. That takes memory for 2 N rows
    (``size`` rows if there is less than one row per group).
    """
    rows = left.size(0)
    mean = rows // size if size else 0
    block = 1 << (mean.bit_length() - 1) if mean else 1  # the largest power of two not above the mean
    per_group = (count(index, size) + block - 1) // block
    end = per_group.cumsum(0)
    slot = (end - per_group).index_select(0, index) * block + rank(index, size)
    blocks = rows // block + size  # never fewer than needed: every group wastes less than one
    row = slot.new_full((blocks * block,), rows).scatter(0, slot, torch.arange(rows, device=slot.device))
    left = select(left, row, slot).view(blocks, block, left.size(1))
    right = select(right, row, slot).view(blocks, block, right.size(1))
    group = (torch.arange(blocks, device=index.device).unsqueeze(1) >= end).sum(dim=1).clamp(max=size - 1)
    return reduce_sum(left.mT @ right, group, size)


def _is_plain(values: Tensor, index: Tensor) -> bool:
    """Whether torch's own operations are fastest: for one model on a CPU, and for a compiler, which fuses them."""
    return torch.compiler.is_compiling() or is_concrete(values, index)


def _add_up(values: Tensor, index: Tensor, size: int) -> Tensor:
    total = values.new_zeros(size, *values.shape[1:])
    if values.is_cuda and values.is_floating_point():
        return total.index_put_((index,), values, accumulate=True)  # sorts; index_add takes rows as they come
    return total.index_add_(0, index, values)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(values: Tensor, index: Tensor, size: int) -> Tensor:
        return _add_up(values, index, size)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, int], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return _Take.apply(grad, ctx.saved_tensors[0]), None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        values, index, size = inputs
        values, index = _stacked(info, in_dims, values, index)
        total = _Sum.apply(values.flatten(0, 1), _of_model(index, size), info.batch_size * size)
        return total.view(info.batch_size, size, *values.shape[2:]), 0


class _Take(torch.autograd.Function):
    @staticmethod
    def forward(values: Tensor, index: Tensor) -> Tensor:
        return values.index_select(0, index)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.size = inputs[0].size(0)
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _Sum.apply(grad, ctx.saved_tensors[0], ctx.size), None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        values, index = _stacked(info, in_dims, *inputs)
        rows = _Take.apply(values.flatten(0, 1), _of_model(index, values.size(1)))
        return rows.view(*index.shape, *values.shape[2:]), 0


class _Select(torch.autograd.Function):
    @staticmethod
    def forward(values: Tensor, at: Tensor, back: Tensor) -> Tensor:
        return _rows_or_zeros(values, at)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        at, back = ctx.saved_tensors
        return _Select.apply(grad, back, at), None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        values, at, back = _stacked(info, in_dims, *inputs)
        of_all = _or_none(at, values.size(1)), _or_none(back, at.size(1))
        return _Select.apply(values.flatten(0, 1), *of_all).view(*at.shape, *values.shape[2:]), 0


def _rows_or_zeros(values: Tensor, at: Tensor) -> Tensor:
    return torch.cat([values, values.new_zeros(1, *values.shape[1:])]).index_select(0, at)


def _stacked(info: Any, in_dims: tuple[int | None, ...], *tensors: Tensor) -> list[Tensor]:
    """Every tensor with the dimension of the models in front, expanded where all models share it."""
    return [
        tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
        for dim, tensor in zip(in_dims, tensors, strict=False)
    ]


def _or_none(index: Tensor, size: int) -> Tensor:
    """As :func:`_of_model`, where ``size`` stands for no row of a model, and R * size for none of all."""
    return torch.where(index.flatten() < size, _of_model(index, size), index.size(0) * size)


def _of_model(index: Tensor, size: int) -> Tensor:
    """Group numbers [R, N] of R models as numbers of R times as many groups, [R * N]."""
    return (index + torch.arange(index.size(0), device=index.device).unsqueeze(1) * size).flatten()
