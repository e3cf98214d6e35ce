"""Products of node vectors with weights on a CPU by oneDNN, where that is faster than what torch uses.

torch multiplies matrices of float32 with Intel's MKL. On processors of other vendors MKL leaves AVX-512 unused and
takes twice the time of oneDNN, which torch carries for its convolutions.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

__all__ = ["Linear", "usable"]

#: Sums over rows are computed for multiples of so many rows: oneDNN makes code for every new number, in half the time
#: that the product takes.
BLOCK = 256


def usable(x: Tensor) -> bool:
    """Whether oneDNN is the faster way on this machine for node vectors [N, i] on a CPU."""
    fitting = x.dtype == torch.float32 and x.dim() == 2 and x.numel() > 0
    return fitting and _is_faster() and not torch.is_autocast_enabled("cpu")


class Linear(torch.autograd.Function):
    """Node vectors [N, i] times the transposed weight [o, i] plus the bias [o]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Returns the product."""
        x = x.contiguous()
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return _product(x, weight.T.contiguous(), bias)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Returns the gradients."""
        x, weight = ctx.saved_tensors
        grad = grad.contiguous()
        of_x = _product(grad, weight) if ctx.needs_input_grad[0] else None
        of_weight = _sum_of_products(grad, x) if ctx.needs_input_grad[1] else None
        return of_x, of_weight, grad.sum(dim=0) if ctx.has_bias and ctx.needs_input_grad[2] else None


def _sum_of_products(left: Tensor, right: Tensor) -> Tensor:
    """Returns the sum over rows of [N, o] and [N, i], [o, i]; those of the last, incomplete block are added by MKL."""
    full = len(left) // BLOCK * BLOCK
    rest = left[full:].T @ right[full:]
    return rest.add_(_product(left[:full].T, right[:full])) if full else rest


def _product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Returns the product of [N, i] and [i, o], plus the bias [o].

    oneDNN makes code for new sizes. For a second factor stored row by row, as here, it makes little of it.
    """
    return torch.ops.mkldnn._linear_pointwise(left, right.T, bias, "none", [], "")


@lru_cache(maxsize=1)
def _is_faster() -> bool:
    """Whether this processor has AVX-512 and another vendor than Intel, and torch has the product under its name."""
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or "AuthenticAMD" not in _processor():
        return False
    x, weight, bias = torch.ones(3, 2), torch.ones(2, 4), torch.ones(4)
    try:  # not a public name of torch: another version may have none
        return torch.equal(_product(x, weight, bias), torch.full((3, 4), 3.0))
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return False


def _processor() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux
        return ""
