"""Set-up of worker processes: one thread each, memory kept between steps, an end when the parent ends."""

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

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # from glibc's malloc.h


def as_worker(parent: int) -> None:
    """Sets this process up as a worker of the process ``parent``; it ends when that one ends."""
    _end_with(parent)
    _keep_memory()
    torch.set_num_threads(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limits torch to one thread, so that results do not depend on the number of cores.

    On small graphs more threads gain little.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@lru_cache(maxsize=1)
def _end_with(parent: int) -> None:
    """Starts a thread that ends this process soon after ``parent`` has ended, for whatever reason."""

    def watch() -> None:
        while _is_alive(parent):
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@lru_cache(maxsize=1)
def _keep_memory() -> None:
    """Keeps glibc from returning memory to the system after every step, which costs 5 % of the time."""
    with suppress(OSError, AttributeError):  # not glibc
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, 32 << 20)
        libc.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


def _is_alive(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
