"""Parts of a large input worked on by processes of this machine or of a Ray cluster, a few at a time.

On Ray, parts are plain tasks, not a pipeline of Ray Data: a part has a name and replaces itself if it is made twice, so
a task that was lost with its node can be done again, and nothing else has to be remembered.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ssread.errors import InputError

__all__ = ["run_parts"]

#: A part that was lost with its node is done again this many times.
RETRIES = 5

#: Makes a part; returns the number of its rows.
Work = Callable[..., int]


def run_parts(work: Work, tasks: Iterable[tuple[Any, ...]], workers: int | None, on: str) -> Iterator[int]:
    """Yields the number of rows of every part that is done; only a few are under way at any time.

    Args:
        work: A function that worker processes can import; a part that it makes twice must replace itself.
        tasks: Its arguments for every part.
        workers: Worker processes of this machine; one per core by default.
        on: ``here``, or the address of a Ray cluster.
    """
    yield from _here(work, tasks, workers) if on == "here" else _on_ray(work, tasks, on)


def _here(work: Work, tasks: Iterable[tuple[Any, ...]], workers: int | None) -> Iterator[int]:
    from joblib import cpu_count

    from ssread.common.workers import in_order

    yield from in_order(work, tasks, workers or cpu_count())


def _on_ray(work: Work, tasks: Iterable[tuple[Any, ...]], address: str) -> Iterator[int]:
    from ssread.evaluate.ray_runner import connected, finished, require_nodes

    ray = connected(address)
    require_nodes(ray, "CPU", address)
    remote = ray.remote(num_cpus=1, max_retries=RETRIES)(work)
    pending: list[Any] = []

    def collect() -> int:
        task = finished(ray, pending, "CPU", address)[0]
        pending.remove(task)
        try:
            return ray.get(task)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except ray.exceptions.RayError as error:
            reason = str(error).strip().split("\n")[0]
            raise InputError(
                f"The Ray cluster lost a part {RETRIES + 1} times ({reason}): check its nodes, then run the same "
                "command again; it continues."
            ) from error

    for task in tasks:
        pending.append(remote.remote(*task))
        while len(pending) > 2 * max(int(ray.cluster_resources().get("CPU", 1)), 1):
            yield collect()
    while pending:
        yield collect()
