"""A limit for the memory that one step takes, on systems that have one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["limited_memory"]


@contextmanager
def limited_memory(more: int) -> Iterator[None]:
    """Within it, what needs more memory than so many bytes raises a ``MemoryError``, in libraries too; on Linux only.

    What the process has already, also for later use, is not counted.
    """
    counted = Path("/proc/self/statm")
    if not counted.is_file():
        yield
        return
    import resource

    taken = int(counted.read_text().split()[5]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    fits = [value for value in (soft, hard, taken + more) if value != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(fits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
