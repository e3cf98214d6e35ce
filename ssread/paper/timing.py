"""Seconds per epoch with either readout, measured by short trainings."""

import itertools
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import torch

from ssread.common.workers import one_thread
from ssread.data.graphset import GraphSet
from ssread.train.fit import train
from ssread.train.runs import Run, Training

__all__ = ["COLUMNS", "POSITIONS", "device_name", "time_epochs"]

POSITIONS = (1, 2, 4, 8, 16)
COLUMNS = ["dataset", "arch", "num_positions", "round", "seconds", "device"]
GLOBAL = 0  # stands for K with the global readout
TIMED_EPOCHS = 2  # of a training; one more epoch comes first and is not timed


def time_epochs(
    graphs: GraphSet,
    arch: str,
    number: int,
    training: Training,
    device: str,
    positions: Sequence[int] = POSITIONS,
    model: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Times one round: a short training with the global readout and one with SSRead for every K.

    Args:
        graphs: The dataset.
        arch: The architecture's name.
        number: The number of the round, which is also the seed. Odd rounds run in reverse order, so that no readout
            always comes first.
        training: The training settings, except for the number of epochs.
        device: ``cpu`` or ``cuda``.
        positions: The numbers of positions K.
        model: Further arguments of every model.

    Returns:
        A row per training with its median seconds per epoch, validation included. ``num_positions`` is 0 for the global
        readout.
    """
    variants = [GLOBAL, *positions]
    rows: list[list[Any]] = []
    with one_thread():
        for k in variants if number % 2 == 0 else reversed(variants):
            readout = {"readout": "global"} if k == GLOBAL else {"readout": "ssread", "num_positions": k}
            run = Run({"name": arch, **readout, **(model or {})}, seed=number, fold=0)
            seconds = _seconds(graphs, run, training, device)
            rows.append([graphs.name, arch, k, number, seconds, device_name(device)])
    return pd.DataFrame(rows, columns=COLUMNS)


def device_name(device: str) -> str:
    """The name of a device in tables and figures."""
    return "one CPU thread" if torch.device(device).type == "cpu" else torch.cuda.get_device_name(device)


def _seconds(graphs: GraphSet, run: Run, training: Training, device: str) -> float:
    ends: list[float] = []

    def epoch_ended(run: Run, epoch: int, accuracy: float) -> None:
        if torch.device(device).type == "cuda":
            torch.cuda.synchronize(device)
        ends.append(time.perf_counter())

    train(graphs, [run], replace(training, epochs=1 + TIMED_EPOCHS, patience=1 + TIMED_EPOCHS), device, epoch_ended)
    return statistics.median(after - before for before, after in itertools.pairwise(ends))
