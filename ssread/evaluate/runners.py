"""Where trainings run: on this machine's cores or on its GPU. (On a Ray cluster: :mod:`ssread.evaluate.ray_runner`.)"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Protocol

import torch
from joblib import cpu_count, delayed

from ssread import kernels
from ssread.common.files import temporary_folder
from ssread.common.workers import as_worker, worker_pool
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.gpu_sharing import Sharing, device_of_this_worker, share_gpus
from ssread.evaluate.linear_evaluation import by_encoder, train_and_judge
from ssread.evaluate.placement import check_placement, check_workers
from ssread.evaluate.stacks import cohorts, train_stack
from ssread.train.runs import Run, RunResult, Training

__all__ = ["CPURunner", "GPURunner", "Runner", "local_device", "make_runner"]


class Runner(Protocol):
    """Trains runs somewhere and yields the results as they arrive, in any order."""

    #: What the trainings run on, as shown and stored.
    device: str

    def train(self, graphs: GraphSet, runs: Sequence[Run], training: Training) -> Iterator[RunResult]:
        """Yields one result per run. Closing the iterator stops the trainings that still run."""


class CPURunner:
    """Single-threaded worker processes, one encoder each: two of them are twice as fast as one, two threads are not.

    Args:
        workers: The number of processes; by default one per core.
    """

    device = "cpu"

    def __init__(self, workers: int | None = None):
        check_workers(workers)
        self.workers = workers or cpu_count()

    def train(self, graphs: GraphSet, runs: Sequence[Run], training: Training) -> Iterator[RunResult]:
        """See :class:`Runner`."""
        task, parts = delayed(_train_in_worker), by_encoder(runs)
        with saved_for_workers(graphs) as path, worker_pool(min(self.workers, len(parts)) or 1) as pool:
            for results in pool(task(path, part, training, os.getpid()) for part in parts):
                yield from results

    def __repr__(self) -> str:
        return f"{self.workers} core{'s' * (self.workers != 1)}"


class GPURunner:
    """Stacks of models of equal shape, as large as memory allows; several stacks at a time, on all GPUs.

    While one stack is being built, evaluated or recorded, the others keep the GPU busy. That needs NVIDIA's
    Multi-Process Service, which is started if the machine has it (:mod:`ssread.evaluate.multi_process_service`).

    Args:
        device: ``cuda`` for all GPUs, or one of them, such as ``cuda:1``.
        say: Called with a sentence if a cohort has to be made smaller, or the GPU cannot be used as intended.
        workers: How many stacks are trained at a time, each in a process of its own; by default as many as pay.
    """

    def __init__(self, device: str = "cuda", say: Callable[[str], None] = lambda _: None, workers: int | None = None):
        if not torch.cuda.is_available():
            raise InputError(f"There is no GPU that torch can use for --device {device}; use cpu.")
        check_workers(workers)
        if (why := kernels.missing()) is not None:
            say(f"{why[0].upper()}{why[1:]}: plain torch code replaces the fused kernels, several times slower.")
        self.device = device
        self._workers = workers
        self._say = say

    def train(self, graphs: GraphSet, runs: Sequence[Run], training: Training) -> Iterator[RunResult]:
        """See :class:`Runner`."""
        stacks = cohorts(runs)
        workers = 1 if len(stacks) <= 1 or self._workers == 1 else min(self._sharing.workers, len(stacks))
        if workers == 1:
            for stack in stacks:
                yield from train_stack(graphs, stack, training, self.device, self._say)
            return
        task, memory = delayed(_train_stack_in_worker), self._sharing.memory(workers)
        with saved_for_workers(graphs) as path, worker_pool(workers) as pool:
            tasks = (task(path, stack, training, self._sharing, memory, os.getpid()) for stack in stacks)
            for results, sentences in pool(tasks):
                for sentence in sentences:
                    self._say(sentence)
                yield from results

    @cached_property
    def _sharing(self) -> Sharing:
        return share_gpus(self.device, self._workers, self._say)

    def __repr__(self) -> str:
        count = torch.cuda.device_count() if self.device == "cuda" else 1
        return f"{count} x " * (count > 1) + torch.cuda.get_device_name(self.device)


def make_runner(device: str, workers: int | None, on: str, say: Callable[[str], None]) -> Runner:
    """Makes the runner that the options of the command line describe."""
    check_placement(device, workers, on)
    if on != "here":
        from ssread.evaluate.ray_runner import RayRunner

        return RayRunner(on, say)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cpu":
        return CPURunner(workers)
    return GPURunner(device, say, workers)


def local_device(runner: Runner) -> str:
    """Returns where this process itself computes: on the runner's GPU if this machine has it, else on the CPU."""
    return runner.device if runner.device == "cpu" or torch.cuda.is_available() else "cpu"


@contextmanager
def saved_for_workers(graphs: GraphSet) -> Iterator[str]:
    """Yields the path of a temporary copy of the graphs that worker processes can memory-map."""
    with temporary_folder() as folder:
        path = folder / "graphs"
        graphs.save(path)
        yield str(path)


def _train_stack_in_worker(
    path: str, runs: Sequence[Run], training: Training, sharing: Sharing, memory: int, parent: int
) -> tuple[list[RunResult], list[str]]:
    as_worker(parent)
    os.environ.update(sharing.environment)
    device = device_of_this_worker(sharing.devices)
    total = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, memory / total), device)  # who needs more disturbs no other
    sentences: list[str] = []
    return train_stack(_load(path), runs, training, device, sentences.append, memory), sentences


def _train_in_worker(path: str, runs: Sequence[Run], training: Training, parent: int) -> list[RunResult]:
    as_worker(parent)
    return train_and_judge(_load(path), runs, training)


@lru_cache(maxsize=1)
def _load(path: str) -> GraphSet:
    return GraphSet.load(path)
