"""What the rules for ``torch.func.vmap`` of all kernels have in common."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

__all__ = ["fold", "power_of_2", "tiles_of", "unfold"]

#: How many tiles a program adds up where there would be this many programs: so fewer sums are written and read.
TILES, MANY = 8, 8000


def fold(batch_size: int, in_dims: Sequence[int | None], inputs: Sequence[Any]) -> list[Any]:
    """Inputs [R, ...] lifted over ``batch_size`` models, as inputs [batch_size * R, ...] of one call."""
    return [
        _fold(batch_size, dim, value) if isinstance(value, Tensor) else value
        for dim, value in zip(in_dims, inputs, strict=True)
    ]


def unfold(batch_size: int, output: Tensor) -> Tensor:
    """An output [batch_size * R, ...] as [batch_size, R, ...]."""
    return output.view(batch_size, -1, *output.shape[1:])


def tiles_of(programs: int) -> int:
    """How many tiles each of so many programs takes over from others."""
    return TILES if programs > MANY else 1


def power_of_2(number: int) -> int:
    """The smallest power of two that is not below a number above 0."""
    return 1 << (number - 1).bit_length()


def _fold(batch_size: int, dim: int | None, value: Tensor) -> Tensor:
    stacked = value.expand(batch_size, *value.shape) if dim is None else value.movedim(dim, 0)
    return torch.flatten(stacked, 0, 1).contiguous()
