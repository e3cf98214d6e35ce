"""Where trainings run: on this machine's cores or on its GPU. (On a Ray cluster: :mod:`ssread.evaluate.ray_runner`.)"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import torch
from joblib import Parallel, cpu_count, delayed, parallel_config

from ssread import kernels
from ssread.common.workers import as_worker
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.linear_evaluation import by_encoder, train_and_judge
from ssread.evaluate.placement import check_placement, check_workers
from ssread.train.runs import Run, RunResult, Training

__all__ = ["CPURunner", "GPURunner", "Runner", "cohorts", "local_device", "make_runner", "train_cohort"]


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
        with saved_for_workers(graphs) as path, parallel_config(backend="loky", inner_max_num_threads=1):
            pool = Parallel(n_jobs=min(self.workers, len(parts)) or 1, return_as="generator_unordered")
            for results in pool(task(path, part, training, os.getpid()) for part in parts):
                yield from results

    def __repr__(self) -> str:
        return f"{self.workers} core{'s' * (self.workers != 1)}"


class GPURunner:
    """Stacks of models of equal shape, as large as memory allows; several stacks at a time.

    While one stack is being built, evaluated or recorded, the others keep the GPU busy.

    Args:
        device: For example ``cuda`` or ``cuda:1``.
        say: Called with a sentence if a cohort has to be made smaller, or the GPU cannot be used as intended.
        workers: How many stacks are trained at a time, each in a process of its own; by default up to 3.
    """

    def __init__(self, device: str = "cuda", say: Callable[[str], None] = lambda _: None, workers: int | None = None):
        if not torch.cuda.is_available():
            raise InputError(f"There is no GPU that torch can use for --device {device}; use cpu.")
        check_workers(workers)
        if (why := kernels.missing()) is not None:
            say(f"{why[0].upper()}{why[1:]}: plain torch code replaces the fused kernels, several times slower.")
        self.device = device
        self.workers = workers or min(cpu_count(), 3)
        self._say = say

    def train(self, graphs: GraphSet, runs: Sequence[Run], training: Training) -> Iterator[RunResult]:
        """See :class:`Runner`."""
        stacks = cohorts(runs)
        if min(self.workers, len(stacks)) <= 1:
            for stack in stacks:
                yield from train_cohort(graphs, stack, training, self.device, self._say)
            return
        with saved_for_workers(graphs) as path:
            pool = Parallel(n_jobs=min(self.workers, len(stacks)), backend="loky", return_as="generator_unordered")
            task = delayed(_train_stack_in_worker)
            for results, sentences in pool(task(path, stack, training, self.device, os.getpid()) for stack in stacks):
                for sentence in sentences:
                    self._say(sentence)
                yield from results

    def __repr__(self) -> str:
        return torch.cuda.get_device_name(self.device)


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


def cohorts(runs: Sequence[Run]) -> list[list[Run]]:
    """Groups runs whose models have equal shapes: those that differ only in the seed, the fold and the task."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(repr((run.learn, sorted(run.model.items(), key=repr))), []).append(run)
    return list(groups.values())


def train_cohort(
    graphs: GraphSet, runs: Sequence[Run], training: Training, device: str, say: Callable[[str], None]
) -> list[RunResult]:
    """Trains runs of equal shape together; if memory does not suffice, one half after the other."""
    encoders = by_encoder(runs)
    try:
        return train_and_judge(graphs, runs, training, device, say)
    except torch.OutOfMemoryError:
        if len(encoders) == 1:
            raise InputError(
                f"A single model does not fit into the memory of {device}; a smaller --batch-size may help."
            ) from None
    torch.cuda.empty_cache()
    half = (len(encoders) + 1) // 2
    say(f"{len(encoders)} models do not fit into the memory of {device} at once; continuing with {half} at a time.")
    parts = ([run for group in part for run in group] for part in (encoders[:half], encoders[half:]))
    return [result for part in parts for result in train_cohort(graphs, part, training, device, say)]


@contextmanager
def saved_for_workers(graphs: GraphSet) -> Iterator[str]:
    """Yields the path of a temporary copy of the graphs that worker processes can memory-map."""
    with tempfile.TemporaryDirectory(prefix="ssread-") as folder:
        path = Path(folder) / "graphs"
        graphs.save(path)
        yield str(path)


def _train_stack_in_worker(
    path: str, runs: Sequence[Run], training: Training, device: str, parent: int
) -> tuple[list[RunResult], list[str]]:
    as_worker(parent)
    sentences: list[str] = []
    return train_cohort(_load(path), runs, training, device, sentences.append), sentences


def _train_in_worker(path: str, runs: Sequence[Run], training: Training, parent: int) -> list[RunResult]:
    as_worker(parent)
    return train_and_judge(_load(path), runs, training)


@lru_cache(maxsize=1)
def _load(path: str) -> GraphSet:
    return GraphSet.load(path)
