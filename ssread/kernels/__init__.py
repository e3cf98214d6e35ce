"""Fused GPU kernels, one file per idea; where they cannot run, plain torch code does the same.

Every operation is an ``autograd.Function`` over R replicas, ``[R, N, d]``, with a rule for ``torch.func.vmap``: model
code calls it for one model, and lifted over a stack of models it is still a single launch. No kernel uses atomics, so
the same input gives bitwise the same output.

With ``TRITON_INTERPRET=1`` set they run on a CPU, slowly: that is how they are tested where there is no GPU.
"""

from functools import lru_cache
from importlib.util import find_spec

import torch
from torch import Tensor

__all__ = ["MAX_CHANNELS", "give_up", "missing", "usable"]

#: Wider node vectors would not fit into a multiprocessor's registers.
MAX_CHANNELS = 512


#: Where kernels run; the tests have Triton interpret them on a CPU.
_DEVICES = {"cuda"}

#: Why the compiler failed, once it has: from then on plain torch code does the work.
_failure: str | None = None


def usable(x: Tensor) -> bool:
    """Whether the fused kernels can take these node vectors [..., d]."""
    if torch.compiler.is_compiling() or x.dtype != torch.float32 or not 1 <= x.size(-1) <= MAX_CHANNELS:
        return False
    return x.device.type in _DEVICES and _failure is None and missing() is None


def give_up(error: Exception) -> bool:
    """Whether an error came from Triton's compiler; then no kernel is used any more."""
    global _failure
    if not type(error).__module__.startswith("triton") and "PassManager" not in str(error):
        return False
    _failure = str(error).strip().split("\n")[0]
    return True


@lru_cache(maxsize=1)
def missing() -> str | None:
    """Why the fused kernels cannot run here, as the rest of a sentence; None where they can."""
    if find_spec("triton") is None:
        return "Triton is not installed"
    if not torch.cuda.is_available():
        return "there is no GPU that torch can use"
    major, minor = torch.cuda.get_device_capability()
    if major < 8:
        return f"{torch.cuda.get_device_name()} (compute capability {major}.{minor}) is older than Ampere (8.0)"
    return None
