"""Fused kernels, one file per idea. Where they cannot run, the callers fall back to plain torch code.

``cpu_messages`` and ``cpu_products`` are for one model on a CPU, the others for a GPU. There every operation is an
``autograd.Function`` over a stack of R models, ``[R, N, d]``, with a rule for ``torch.func.vmap``. Model code calls it
for one model; vmapped over a stack of models it is still a single launch. No kernel uses atomics, so the same input
gives bitwise the same output.

With ``TRITON_INTERPRET=1`` set, those run on a CPU, slowly. The tests do so on machines without a GPU.
"""

from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import torch
from torch import Tensor

__all__ = ["MAX_CHANNELS", "compiled_messages", "give_up", "missing", "usable"]

#: Wider node vectors would not fit into the registers of a multiprocessor.
MAX_CHANNELS = 512

#: The devices that kernels run on; the tests add the CPU, where Triton interprets them.
_DEVICES = {"cuda"}

#: Why the compiler failed, if it did. From then on no kernel is used.
_failure: str | None = None


def usable(x: Tensor) -> bool:
    """Whether the fused kernels support these node vectors [..., d] on this machine."""
    if torch.compiler.is_compiling() or x.dtype != torch.float32 or not 1 <= x.size(-1) <= MAX_CHANNELS:
        return False
    return x.device.type in _DEVICES and _failure is None and missing() is None


def give_up(error: Exception) -> bool:
    """Returns whether an error came from Triton's compiler; if so, no kernel is used from then on."""
    global _failure
    if not type(error).__module__.startswith("triton") and "PassManager" not in str(error):
        return False
    _failure = str(error).strip().split("\n")[0]
    return True


@lru_cache(maxsize=1)
def missing() -> str | None:
    """Returns why the fused kernels cannot run on this machine, as part of a sentence; None if they can."""
    if find_spec("triton") is None:
        return "Triton is not installed (pip install 'ssread[gpu]')"
    if not torch.cuda.is_available():
        return "there is no GPU that torch can use"
    major, minor = torch.cuda.get_device_capability()
    if major < 8:
        return f"{torch.cuda.get_device_name()} (compute capability {major}.{minor}) is older than Ampere (8.0)"
    return None


@lru_cache(maxsize=1)
def compiled_messages() -> ModuleType | None:
    """Returns :mod:`ssread.kernels.cpu_messages`; None without Numba, or with one that does not fit this NumPy.

    Also None where Numba is told not to compile (``NUMBA_DISABLE_JIT``): plain torch code is faster then.
    """
    try:
        disabled = import_module("numba").config.DISABLE_JIT
        return None if disabled else import_module("ssread.kernels.cpu_messages")
    except ImportError:
        return None
