"""Stacks of models on a GPU: runs of equal shape, as many at a time as its memory holds."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import torch

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.linear_evaluation import by_encoder, encoder_of, train_and_judge
from ssread.train.fit import train
from ssread.train.runs import Run, RunResult, Training
from ssread.train.unsupervised import learn

__all__ = ["bytes_per_model", "cohorts", "parts_that_fit", "surely_fit", "train_cohort", "train_stack"]

#: How many models are trained to measure the memory that one takes.
MEASURED = 2

#: A step keeps fewer tensors than this with a row per node: if so many fit, nothing needs to be measured.
TENSORS = 200

#: A model of a large stack takes up to this much more memory than measured, since its batches are padded to the largest
#: ones of the stack.
GROWTH = 1.25

Say = Callable[[str], None]


def cohorts(runs: Sequence[Run]) -> list[list[Run]]:
    """Groups runs whose models have equal shapes: those that differ only in the seed, the fold and the task."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(repr((run.learn, sorted(run.model.items(), key=repr))), []).append(run)
    return list(groups.values())


def train_stack(
    graphs: GraphSet, runs: Sequence[Run], training: Training, device: str, say: Say, memory: int | None = None
) -> list[RunResult]:
    """Trains runs of equal shape on a GPU, as many together as its memory holds, which is measured before if in doubt.

    Args:
        graphs: The dataset.
        runs: Runs whose models have equal shapes.
        training: How they are trained.
        device: A GPU.
        say: Called with a sentence if the GPU cannot be used as intended.
        memory: Bytes that may be used; by default all that are free.
    """
    with torch.cuda.device(device):  # kernels and recordings are made for the current one
        parts = [list(runs)]
        memory = torch.cuda.mem_get_info()[0] if memory is None else memory
        if len(by_encoder(runs)) > MEASURED and not surely_fit(graphs, runs, training, memory):
            try:
                most = int(memory / (GROWTH * bytes_per_model(graphs, runs, training, device)))
            except torch.OutOfMemoryError:
                most = 1
            parts = parts_that_fit(runs, most)
        results = [result for part in parts for result in train_cohort(graphs, part, training, device, say)]
        _free_cached()
    return results


def surely_fit(graphs: GraphSet, runs: Sequence[Run], training: Training, memory: int) -> bool:
    """Whether runs of equal shape fit into so many bytes by far; not known where more than nodes takes memory."""
    model = runs[0].model
    if runs[0].learn != "supervised" or model["name"] == "diffpool":
        return False
    nodes = training.batch_size * graphs.x.size(0) / max(1, len(graphs))
    return len(by_encoder(runs)) * nodes * model.get("hidden_channels", 128) * 4 * TENSORS < memory


def parts_that_fit(runs: Sequence[Run], most: int) -> list[list[Run]]:
    """Splits runs into parts of at most ``most`` models, but at least one, of about equal sizes.

    Runs that share a model stay together.
    """
    groups = by_encoder(runs)
    count = -(-len(groups) // max(1, most))
    ends = [-(-len(groups) * number // count) for number in range(count + 1)]
    return [[run for group in groups[start:end] for run in group] for start, end in pairwise(ends)]


def train_cohort(graphs: GraphSet, runs: Sequence[Run], training: Training, device: str, say: Say) -> list[RunResult]:
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
    parts = parts_that_fit(runs, half)
    return [result for part in parts for result in train_cohort(graphs, part, training, device, say)]


def bytes_per_model(graphs: GraphSet, runs: Sequence[Run], training: Training, device: str) -> int:
    """Measures the memory of a GPU that one model of a stack takes: a few models are trained for two epochs.

    In the second, steps are recorded (:mod:`ssread.train.cuda_graphs`), which takes memory of its own.
    """
    _free_cached()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_reserved()
    encoders = [encoder_of(group[0]) for group in by_encoder(runs)[:MEASURED]]
    (train if encoders[0].learn == "supervised" else learn)(graphs, encoders, replace(training, epochs=2), device)
    taken = torch.cuda.max_memory_reserved() - before
    _free_cached()
    return max(1, taken // len(encoders))


def _free_cached() -> None:
    """Returns the memory of models that are gone, for other processes and the next stack."""
    gc.collect()
    torch.cuda.empty_cache()
