"""What makes a process a good worker of another."""

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache

import psutil
import torch

__all__ = ["as_worker", "one_thread"]

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h


def as_worker(parent: int) -> None:
    """Makes this process a good worker of ``parent``: one thread, memory kept between steps, gone when that one is."""
    _end_with(parent)
    _keep_memory()
    torch.set_num_threads(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Numbers that do not depend on how many cores there are; several threads gain little on small graphs."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@lru_cache(maxsize=1)
def _end_with(parent: int) -> None:
    """Ends this worker soon after the process that it works for, however that one died."""

    def watch() -> None:
        while _is_alive(parent):
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@lru_cache(maxsize=1)
def _keep_memory() -> None:
    """Tells glibc not to hand memory back after every step: a twentieth of the time went into getting it again."""
    with suppress(OSError, AttributeError):  # another system, another allocator
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, 32 << 20)
        libc.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


def _is_alive(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
