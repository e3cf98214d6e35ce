"""How long a pass of training takes with either readout, measured here and now by training for real."""

import itertools
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import torch

from ssread.common.workers import one_thread
from ssread.data.graphset import GraphSet
from ssread.train.fit import train
from ssread.train.runs import Run, Training

__all__ = ["COLUMNS", "POSITIONS", "device_name", "time_passes"]

POSITIONS = (1, 2, 4, 8, 16)
COLUMNS = ["dataset", "arch", "num_positions", "round", "seconds", "device"]
GLOBAL = 0  # in the place of K, for the global readout
TIMED = 2  # passes of a training that are timed; the one before them warms up and is not


def time_passes(
    graphs: GraphSet, arch: str, number: int, training: Training, device: str, positions: Sequence[int] = POSITIONS
) -> pd.DataFrame:
    """One round: a short training with the global readout and one with SSRead for every K.

    Args:
        graphs: The dataset.
        arch: The architecture's name.
        number: Of the round; it is the seed, and in every other round the order is turned round, so that no readout
            always comes first.
        training: How models are trained; the number of passes is set here.
        device: ``cpu`` or ``cuda``.
        positions: The numbers of positions K.

    Returns:
        A row per training: the median seconds of a pass, validation included. ``num_positions`` is 0 for the global
        readout.
    """
    variants = [GLOBAL, *positions]
    rows: list[list[Any]] = []
    with one_thread():
        for k in variants if number % 2 == 0 else reversed(variants):
            readout = {"readout": "global"} if k == GLOBAL else {"readout": "ssread", "num_positions": k}
            seconds = _seconds(graphs, Run({"name": arch, **readout}, seed=number, fold=0), training, device)
            rows.append([graphs.name, arch, k, number, seconds, device_name(device)])
    return pd.DataFrame(rows, columns=COLUMNS)


def device_name(device: str) -> str:
    """What figures measured on a device are labelled with."""
    return "one CPU thread" if torch.device(device).type == "cpu" else torch.cuda.get_device_name(device)


def _seconds(graphs: GraphSet, run: Run, training: Training, device: str) -> float:
    ends: list[float] = []

    def pass_ended(run: Run, epoch: int, accuracy: float) -> None:
        if torch.device(device).type == "cuda":
            torch.cuda.synchronize(device)
        ends.append(time.perf_counter())

    train(graphs, [run], replace(training, epochs=1 + TIMED, patience=1 + TIMED), device, pass_ended)
    return statistics.median(after - before for before, after in itertools.pairwise(ends))
