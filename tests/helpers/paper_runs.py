"""Small real runs of the paper's tables, and trainings with random results."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from ssread.evaluate import DatasetId, Store
from ssread.evaluate.experiment import POSITIONS, Experiment
from ssread.evaluate.protocol import trainings
from ssread.paper.registry import Context
from ssread.train.runs import RunResult

SMALL: Mapping[str, Any] = {"seeds": 1, "folds": 2, "epochs": 1, "model": {"hidden_channels": 8}}


def context(out: Path, **options: Any) -> Context:
    """What the command would make, with a console for :func:`printed`."""
    options = {"datasets": ["MUTAG"], "settings": SMALL, "device": "cpu", "workers": 1, **options}
    return Context(Store(out / "results.sqlite"), out, console=Console(file=io.StringIO(), width=200), **options)


def printed(made_with: Context) -> str:
    return made_with.console.file.getvalue()  # type: ignore[attr-defined]


def random_trainings(
    store: Store, experiment: Experiment, datasets: Sequence[str] = ("MUTAG",), seed: int = 0
) -> pd.DataFrame:
    """Stores every training that an experiment may need, with random results; returns the store's table."""
    rng = np.random.default_rng(seed)
    groups = [(*cell, k) for cell in [*experiment.cells(), experiment.base] for k in (None, *POSITIONS)]
    choices = [(choice, group) for choice in experiment.dropouts() for group in groups]
    runs = {repr(run): run for choice, group in choices for run in trainings(choice, *group)}
    for dataset in datasets:
        for run in runs.values():
            labels = rng.integers(0, 2, 20)
            probabilities = np.eye(2, dtype=np.float32)[np.where(rng.random(20) < 0.8, labels, 1 - labels)]
            valid = float(rng.integers(0, 18)) / 17
            result = RunResult(run, 1, 1, valid, 0.5, np.arange(20), labels, probabilities)
            store.add(DatasetId(dataset, "0" * 64), result, experiment.training, "cpu")
    return store.table()
