"""How stacks of models share GPUs: how many are trained at a time, on which GPU, and with how much memory."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import current_process

import torch
from joblib import cpu_count, delayed

from ssread.common.workers import as_worker, end_workers, worker_pool
from ssread.evaluate.multi_process_service import multi_process_service

__all__ = ["Sharing", "device_of_this_worker", "most_workers", "share_gpus"]

#: As many stacks pay on one GPU: while one is being built, evaluated or recorded, the others compute.
STACKS = 4

#: A worker process with less memory (bytes) is not worth the half gigabyte that CUDA takes for itself.
LEAST_MEMORY = 4 << 30

#: The share of the free memory that stacks may use.
USED = 0.9


@dataclass(frozen=True)
class Sharing:
    """How worker processes share GPUs.

    Attributes:
        devices: The GPUs, by number.
        workers: The number of worker processes; with 1, this process itself trains.
        free: Bytes that are free on the GPU that has least.
        environment: What workers need in their environment before they use CUDA.
    """

    devices: Sequence[str]
    workers: int
    free: int
    environment: dict[str, str]

    def memory(self, workers: int) -> int:
        """Returns how many bytes each of some workers may use, without disturbing the others."""
        side_by_side = -(-workers // len(self.devices))
        return int(USED * self.free) // side_by_side


def share_gpus(device: str, workers: int | None, say: Callable[[str], None]) -> Sharing:
    """Starts the Multi-Process Service where there is one, measures the free memory, and decides how many stacks pay.

    The memory is measured in a worker process, so that this one does not use CUDA outside the service.

    Args:
        device: ``cuda`` for all GPUs, or one of them, such as ``cuda:1``.
        workers: The number of worker processes, if it is given.
        say: Called with a sentence if the service cannot be used.
    """
    devices = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if device == "cuda" else [device]
    service = multi_process_service()
    free = 0
    if service.running or len(devices) > 1 or workers is not None:
        try:
            free = _free_memory(devices, service.environment)
        except Exception as error:
            if not service.environment:
                raise
            end_workers()  # CUDA does not recover from a failed start
            service.give_up(str(error).strip().split("\n")[0].rstrip("."))
            free = _free_memory(devices, service.environment)
    if service.problem:
        say(service.problem)
    count = workers or most_workers(len(devices), cpu_count(), free, service.running)
    return Sharing(devices, count, free, service.environment)


def most_workers(gpus: int, cores: int, free: int, together: bool) -> int:
    """Returns how many stacks pay at a time, each of which needs a core; one per GPU where stacks take turns.

    Args:
        gpus: The number of GPUs.
        cores: The number of cores.
        free: Bytes that are free on each GPU.
        together: Whether processes can use a GPU at the same time.
    """
    each = min(STACKS, free // LEAST_MEMORY) if together else 1
    return max(1, min(cores, gpus * max(1, each)))


def device_of_this_worker(devices: Sequence[str]) -> str:
    """Returns the GPU of this worker process; workers are numbered, so that each GPU has about the same number."""
    return devices[int(re.findall(r"\d+", f"{current_process().name}-0")[0]) % len(devices)]


def _free_memory(devices: Sequence[str], environment: dict[str, str]) -> int:
    with worker_pool(2) as pool:  # with one, there would be no worker process
        (free,) = pool([delayed(_free_in_worker)(devices, environment, os.getpid())])
    return free


def _free_in_worker(devices: Sequence[str], environment: dict[str, str], parent: int) -> int:
    as_worker(parent)
    os.environ.update(environment)
    return min(torch.cuda.mem_get_info(device)[0] for device in devices)
