"""Helpers that all kernels share: rules for ``torch.func.vmap``, and sizes of tiles."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

__all__ = ["fold", "power_of_2", "tiles_of", "unfold"]

#: With more than ``MANY`` programs, each sums over ``TILES`` tiles, so that fewer partial sums are written and read.
TILES, MANY = 8, 8000


def fold(batch_size: int, in_dims: Sequence[int | None], inputs: Sequence[Any]) -> list[Any]:
    """Merges the dimension of ``vmap`` of every input [R, ...] into the first: [batch_size * R, ...]."""
    return [
        _fold(batch_size, dim, value) if isinstance(value, Tensor) else value
        for dim, value in zip(in_dims, inputs, strict=True)
    ]


def unfold(batch_size: int, output: Tensor) -> Tensor:
    """Splits the first dimension of an output again: [batch_size * R, ...] to [batch_size, R, ...]."""
    return output.view(batch_size, -1, *output.shape[1:])


def tiles_of(programs: int) -> int:
    """Returns how many tiles one program takes if there would be this many programs of one tile each."""
    return TILES if programs > MANY else 1


def power_of_2(number: int) -> int:
    """Returns the smallest power of two that is at least ``number``, which is above 0."""
    return 1 << (number - 1).bit_length()


def _fold(batch_size: int, dim: int | None, value: Tensor) -> Tensor:
    stacked = value.expand(batch_size, *value.shape) if dim is None else value.movedim(dim, 0)
    return torch.flatten(stacked, 0, 1).contiguous()
