"""What every part of the recipe `fair` is worth, alone and together, for both readouts. No test fold is used.

Of every training part a ninth is held out to judge by; the epoch is chosen on the validation part, as always.
Accuracies are kept as they arrive, a file per dataset, architecture and aggregation, and not trained again.

    python benchmarks/recipe.py                           # MUTAG, GCN, sum
    python benchmarks/recipe.py --datasets NCI1,DD --arch gcn,gin --aggr sum,mean,max --device cuda --out results/recipe
    python benchmarks/recipe.py --out results/recipe --show

All cores work, or stacks of models on a GPU, several at a time: what is missing of a dataset is one queue per training.
"""

import argparse
import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from measuring import dataset
from sklearn.model_selection import train_test_split

from ssread.common.files import write_csv
from ssread.data.cross_validation import FOLD_COLUMN
from ssread.data.graphset import GraphSet
from ssread.data.splits import stratified_folds
from ssread.evaluate.metrics import score
from ssread.evaluate.runners import make_runner
from ssread.train.recipes import RECIPES
from ssread.train.runs import Run, RunResult, Training

FAIR, PAPER = RECIPES["fair"].training, dataclasses.replace(RECIPES["paper"].training, epochs=150, patience=150)
READOUTS: dict[str, dict[str, Any]] = {
    "GRead": {"readout": "global"},
    "SSRead": {"readout": "ssread", "num_positions": 4},
}

#: The name of the inner folds, and the columns of the accuracies.
SPLIT, COLUMNS = "stored inner", ["variant", "readout", "seed", "fold", "accuracy"]

#: Arguments of the model and the training by name: "+" adds one part alone to the first.
VARIANTS: dict[str, tuple[dict[str, Any], Training]] = {
    "paper, 150 epochs, no dropout": ({"dropout": 0.0}, PAPER),
    "+ dropout 0.3 before alignment": ({"dropout": 0.3}, PAPER),
    "+ falling learning rate": ({"dropout": 0.0}, dataclasses.replace(PAPER, schedule="cosine")),
    "+ averaged weights": ({"dropout": 0.0}, dataclasses.replace(PAPER, averaging=FAIR.averaging)),
    "+ normalised graph vectors": ({"dropout": 0.0, "normalize": True}, PAPER),
    "fair, no dropout": ({"dropout": 0.0, "normalize": True}, FAIR),
    "fair, dropout 0.3": ({"dropout": 0.3, "normalize": True}, FAIR),
    "fair, no dropout, batches of 32": ({"dropout": 0.0, "normalize": True}, dataclasses.replace(FAIR, batch_size=32)),
    "fair, no dropout, 500 epochs": (
        {"dropout": 0.0, "normalize": True},
        dataclasses.replace(FAIR, epochs=500, patience=500),
    ),
    "fair, no dropout, positions from structure": ({"dropout": 0.0, "normalize": True, "position_hops": 1}, FAIR),
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """A variant with a readout, an architecture and an aggregation: a line of figures."""

    variant: str
    readout: str
    arch: str
    aggr: str

    @property
    def training(self) -> Training:
        """How its models are trained."""
        return VARIANTS[self.variant][1]

    def run(self, seed: int, fold: int, seeds: int, folds: int) -> Run:
        """One of its trainings; the folds of all seeds are numbered through."""
        model = {"name": self.arch, "aggr": self.aggr, **READOUTS[self.readout], **VARIANTS[self.variant][0]}
        return Run(model, seed, seed * folds + fold, seeds * folds, split=SPLIT)


def with_inner_folds(graphs: GraphSet, seeds: int, folds: int) -> GraphSet:
    """Stores the folds of all seeds with the set, a ninth of each training part in place of the test part."""
    assert graphs.y is not None
    columns = {}
    for seed in range(seeds):
        for number, fold in enumerate(stratified_folds(graphs, 10, seed=seed)[:folds]):
            labels = graphs.y[fold.train].numpy()
            train, judged = train_test_split(fold.train.numpy(), test_size=1 / 9, stratify=labels, random_state=seed)
            parts = torch.full((len(graphs),), -1)
            for part, ids in enumerate((np.sort(train), fold.validation, np.sort(judged))):
                parts[ids] = part
            columns[f"{FOLD_COLUMN} {seed * folds + number}"] = parts
    return dataclasses.replace(graphs, graph_columns=graphs.graph_columns | columns)


class Kept:
    """The accuracies of a dataset, a file per architecture and aggregation; written as they arrive."""

    def __init__(self, folder: Path | None, dataset: str):
        self._folder, self._dataset = folder, dataset
        self._tables: dict[tuple[str, str], pd.DataFrame] = {}

    def table(self, arch: str, aggr: str) -> pd.DataFrame:
        """The accuracies so far."""
        if (arch, aggr) not in self._tables:
            path = self._path(arch, aggr)
            found = path is not None and path.is_file()
            self._tables[arch, aggr] = pd.read_csv(path) if found else pd.DataFrame(columns=COLUMNS)
        return self._tables[arch, aggr]

    def missing(self, cell: Cell, seeds: int, folds: int) -> list[tuple[int, int]]:
        """The seeds and folds of a cell that are not kept yet."""
        table = self.table(cell.arch, cell.aggr)
        mine = table[(table.variant == cell.variant) & (table.readout == cell.readout)]
        done = set(zip(mine.seed, mine.fold, strict=True))
        return [pair for pair in itertools.product(range(seeds), range(folds)) if pair not in done]

    def add(self, cell: Cell, seed: int, fold: int, result: RunResult) -> None:
        """Keeps the accuracy of a training on the graphs that judge it."""
        row = pd.DataFrame([(cell.variant, cell.readout, seed, fold, score(result))], columns=COLUMNS)
        table = self.table(cell.arch, cell.aggr)
        self._tables[cell.arch, cell.aggr] = table = pd.concat([table, row]) if len(table) else row
        if (path := self._path(cell.arch, cell.aggr)) is not None:
            write_csv(path, table)

    def _path(self, arch: str, aggr: str) -> Path | None:
        return None if self._folder is None else self._folder / f"{self._dataset}-{arch}-{aggr}.csv"


def train_missing(graphs: GraphSet, cells: Sequence[Cell], kept: Kept, options: argparse.Namespace) -> None:
    """Trains what is not kept of a dataset: all cells that are trained alike side by side."""
    runner = make_runner(options.device, options.workers, "here", print)
    sizes = options.seeds, 2 if options.quick else options.folds
    with_folds = with_inner_folds(graphs, *sizes)
    for training in dict.fromkeys(cell.training for cell in cells):
        alike = [cell for cell in cells if cell.training == training]
        wanted = {  # a run holds a dictionary: its text stands for it
            repr(cell.run(seed, fold, *sizes)): (cell, seed, fold)
            for cell in alike
            for seed, fold in kept.missing(cell, *sizes)
        }
        runs = [cell.run(seed, fold, *sizes) for cell, seed, fold in wanted.values()]
        if options.quick:
            training = dataclasses.replace(training, epochs=2, patience=2)
        for result in runner.train(with_folds, runs, training):
            kept.add(*wanted[repr(result.run)], result)


def show(kept: pd.DataFrame) -> None:
    """Prints a line per variant: mean accuracy of both readouts, its standard error, and over how many trainings."""
    for variant in VARIANTS:
        cells = []
        for readout in READOUTS:
            found = 100 * kept.accuracy[(kept.variant == variant) & (kept.readout == readout)]
            cells.append(f"{found.mean():.1f} ({found.sem():.1f}) of {found.count()}" if len(found) else "-")
        if set(cells) != {"-"}:
            print(f"  {variant:42}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="MUTAG", help="names, separated by commas")
    parser.add_argument("--arch", default="gcn")
    parser.add_argument("--aggr", default="sum")
    parser.add_argument("--variants", default="", metavar="TEXT", help="only variants with this in their names")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds are trained")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--workers", type=int, help="worker processes (default: one per core, or as many as pay on a GPU)"
    )
    parser.add_argument("--out", type=Path, default=Path("runs/recipe"), help="the folder of the accuracies")
    parser.add_argument("--show", action="store_true", help="train nothing; show all that is kept")
    parser.add_argument("--quick", action="store_true", help="two folds, two epochs, nothing kept: that it runs")
    options = parser.parse_args()
    print(
        f"{'':44}" + "".join(f"{name:>18}" for name in READOUTS) + "   accuracy in percent (standard error), trainings"
    )
    if options.show:
        for path in sorted(options.out.glob("*.csv")):
            print(path.stem)
            show(pd.read_csv(path))
        return
    archs, aggrs = options.arch.split(","), options.aggr.split(",")
    for name in options.datasets.split(","):
        graphs, kept = dataset(name, options.quick), Kept(None if options.quick else options.out, name)
        cells = [
            Cell(variant, readout, arch, aggr)
            for variant, readout, arch, aggr in itertools.product(VARIANTS, READOUTS, archs, aggrs)
            if options.variants in variant and (readout == "SSRead" or "position_hops" not in VARIANTS[variant][0])
        ]
        train_missing(graphs, cells, kept, options)
        for arch, aggr in itertools.product(archs, aggrs):
            print(f"{graphs.name}-{arch}-{aggr}")
            show(kept.table(arch, aggr))


if __name__ == "__main__":
    main()
