"""Set-up of worker processes: one thread each, memory kept between steps, an end when the parent ends."""

import atexit
import ctypes
import inspect
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import psutil
import torch
from joblib import Parallel, parallel_config
from joblib.externals.loky import get_reusable_executor, process_executor, reusable_executor
from threadpoolctl import threadpool_limits

__all__ = ["as_worker", "end_workers", "in_order", "one_thread", "worker_pool"]

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # from glibc's malloc.h


def as_worker(parent: int) -> None:
    """Sets this process up as a worker of the process ``parent``; it ends when that one ends."""
    _end_with(parent)
    _keep_memory()
    torch.set_num_threads(1)


@contextmanager
def worker_pool(workers: int) -> Iterator[Parallel]:
    """Yields a pool of worker processes with one thread each, which yields results as they arrive.

    Arguments are not memory-mapped: the folders for that outlive a process that is killed.
    """
    _end_workers_at_exit()
    with parallel_config(backend="loky", inner_max_num_threads=1):
        yield Parallel(n_jobs=workers, return_as="generator_unordered", max_nbytes=None, **_watching())


def in_order(work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], workers: int) -> Iterator[Any]:
    """Yields what ``work(*task)`` returns in worker processes, in the order of tasks; a few are under way at a time."""
    executor = get_reusable_executor(max_workers=workers, env={"OMP_NUM_THREADS": "1"})
    pending: deque[Any] = deque()  # bounds the memory, however fast the workers are
    try:
        for task in tasks:
            pending.append(executor.submit(_in_worker, work, os.getpid(), *task))
            if len(pending) > 2 * workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        executor.shutdown(kill_workers=bool(pending))


def end_workers() -> None:
    """Ends the worker processes; the next pool starts new ones."""
    executor = reusable_executor._executor  # there is no public way to ask without starting one
    if executor is not None:
        executor.shutdown(wait=True, kill_workers=True)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limits torch, BLAS and OpenMP to one thread, so that results do not depend on the number of cores.

    With several, the t-SNE of scikit-learn even differs from run to run. On small graphs more threads gain little.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def _in_worker(work: Callable[..., Any], parent: int, *task: Any) -> Any:
    as_worker(parent)
    return work(*task)


def _watching() -> dict[str, Any]:
    """Has workers watch their parent from their start, also those that never get a task; needs joblib 1.5."""
    takes_it = "backend_kwargs" in inspect.signature(Parallel).parameters
    return {"initializer": as_worker, "initargs": (os.getpid(),)} if takes_it else {}


@lru_cache(maxsize=1)
def _end_workers_at_exit() -> None:
    """Has the workers, which wait for more work, ended before Python ends, so that no semaphore of theirs is left."""
    atexit.register(end_workers)


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
    """Keeps glibc from returning memory to the system after every step, which costs 5 % of the time.

    Loky takes the memory that is kept for a leak and would start a new worker, which costs seconds on a GPU.
    """
    process_executor._MAX_MEMORY_LEAK_SIZE = 1 << 62
    with suppress(OSError, AttributeError):  # not glibc
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, 32 << 20)
        libc.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


def _is_alive(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
