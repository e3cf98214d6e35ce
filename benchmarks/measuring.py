"""What the benchmarks share: variants that take turns, memory, captured steps, datasets that are at hand."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.update(KINETO_LOG_LEVEL="99", TORCH_CPP_LOG_LEVEL="ERROR")  # the memory profiler talks
import torch

from ssread.data import load, planted
from ssread.data.graphset import GraphSet
from ssread.data.sources import find
from ssread.errors import InputError
from ssread.published.datasets import TABLE_1

MIRROR = Path(__file__).parents[2] / "shared" / "tudataset"

Step = Callable[[], None]


def dataset(name: str, quick: bool = False) -> GraphSet:
    """One of the paper's datasets, downloaded if it is not on this machine.

    A quick run only shows that a benchmark runs: planted graphs of the same mean size then stand in for a download.
    """
    rows = {row.name: row for row in TABLE_1}
    if name not in rows:
        raise SystemExit(f"There is no dataset {name!r} in the paper; choose one of {', '.join(rows)}.")
    if MIRROR.is_dir():
        os.environ.setdefault("SSREAD_MIRROR", str(MIRROR))
    if quick and not find(name).is_local:
        print(f"{name} is not on this machine: planted graphs of its size stand in for it.", flush=True)
        return planted(rows[name].graphs, nodes=round(rows[name].mean_nodes), feature_noise=1.0)
    try:
        return load(name)
    except InputError as error:
        raise SystemExit(f"Error: {error}") from None


def measure(steps: dict[str, Step], rounds: int, device: str) -> dict[str, tuple[float, float, float]]:
    """Median milliseconds, ratio to the first, and peak extra megabytes of every step, the steps taking turns."""

    def timed(step: Step) -> float:
        if device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        if device == "cuda":
            torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - start)

    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds + 3):
        turns = list(steps.items())
        for name, step in turns if turn % 2 else reversed(turns):  # what comes first has no advantage
            elapsed = timed(step)
            if turn >= 3:  # the first ones warm up
                times[name].append(elapsed)
    first = next(iter(times.values()))
    return {
        name: (
            statistics.median(times[name]),
            statistics.median(mine / base for mine, base in zip(times[name], first, strict=True)),
            peak_megabytes(step, device),
        )
        for name, step in steps.items()
    }


def peak_megabytes(step: Step, device: str) -> float:
    """The most memory one step holds beyond what stood before it."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        step()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        step()
    held = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak / 2**20


def captured(step: Step) -> Step:
    """The step as one CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay(_inputs: Step = step) -> None:  # holds on to the tensors that the graph reads
        graph.replay()

    return replay
