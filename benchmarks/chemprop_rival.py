"""chemprop with its defaults, in a virtual environment of its own, for ``benchmarks/molecules.py``."""

import csv
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold
from ssread.data.task_names import REGRESSION

__all__ = ["installed", "predict"]

#: The environment; the folder is not part of the repository.
FOLDER = Path(__file__).parents[1] / "runs" / "chemprop"

#: Installed first and as it is, so that chemprop finds a torch and brings none of its own.
TORCH, CHEMPROP = "torch==2.13.0", "chemprop>=2,<3"


def installed() -> Path:
    """The folder of chemprop's commands; installs it at the first call."""
    commands = FOLDER / ("Scripts" if sys.platform == "win32" else "bin")
    if not (FOLDER / "complete").is_file():
        print(f"Installing chemprop into {FOLDER}.", flush=True)
        venv.create(FOLDER, with_pip=True)
        for package in (TORCH, CHEMPROP):
            subprocess.run([commands / "python", "-m", "pip", "install", "--quiet", package], check=True)
        (FOLDER / "complete").touch()
    return commands


def predict(graphs: GraphSet, fold: Fold, seed: int) -> np.ndarray:
    """Predictions of chemprop for the test part of a fold, [n, T], trained and chosen on the other parts."""
    assert graphs.y is not None
    part = np.full(len(graphs), "train", dtype=object)
    part[fold.validation.numpy()], part[fold.test.numpy()] = "val", "test"
    y = graphs.y.numpy().reshape(len(graphs), -1)
    names = [f"target {number}" for number in range(y.shape[1])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "data.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["smiles", *names, "part"])
            for smiles, row, into in zip(graphs.graph_texts["smiles"], y.tolist(), part, strict=True):
                writer.writerow([smiles, *("" if value != value else f"{value:g}" for value in row), into])
        words = ["train", "--data-path", "data.csv", "--smiles-columns", "smiles", "--target-columns", *names]
        words += ["--task-type", "regression" if graphs.task == REGRESSION else "classification"]
        words += ["--splits-column", "part", "--output-dir", "out", "--pytorch-seed", str(seed)]
        words += ["--accelerator", "cpu", "--devices", "1"]
        one_thread = os.environ | {"OMP_NUM_THREADS": "1"}  # several wait for each other: more processor time, not less
        done = subprocess.run(
            [installed() / "chemprop", *words], cwd=folder, capture_output=True, text=True, env=one_thread
        )
        if done.returncode:
            raise SystemExit(f"chemprop failed: {done.stderr[-2000:]}")
        (path,) = folder.glob("out/**/test_predictions.csv")
        with path.open() as file:  # in the order of the table
            predicted = np.array([[float(row[name]) for name in names] for row in csv.DictReader(file)])
    return predicted[fold.test.argsort().argsort().numpy()]
