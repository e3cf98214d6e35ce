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
from ssread.paper.registry import DATASETS

MIRROR = Path(__file__).parents[2] / "shared" / "tudataset"

Step = Callable[[], None]


def dataset(name: str, mean_nodes: int, num_graphs: int) -> GraphSet:
    """One of the paper's datasets, or planted graphs of its mean size where it would have to be downloaded."""
    if name not in DATASETS:
        raise SystemExit(f"There is no dataset {name!r} in the paper; choose one of {', '.join(DATASETS)}.")
    if MIRROR.is_dir():
        os.environ.setdefault("SSREAD_MIRROR", str(MIRROR))
    if find(name).is_local:
        return load(name)
    return planted(num_graphs, nodes=mean_nodes, feature_noise=1.0)


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
