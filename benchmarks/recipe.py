"""What every part of the recipe `fair` is worth, alone and together, for both readouts. No test fold is used.

Of every training part a ninth is held out to judge by; the epoch is chosen on the validation part, as always.
Accuracies are kept as they arrive, a file per dataset, architecture and aggregation, and not trained again.

    python benchmarks/recipe.py                           # MUTAG, GCN, sum
    python benchmarks/recipe.py --datasets NCI1,DD --arch gcn,gin --aggr sum,mean,max --device cuda --out results/recipe
    python benchmarks/recipe.py --out results/recipe --show
"""

import argparse
import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from measuring import dataset
from sklearn.model_selection import train_test_split

from ssread.common.files import write_csv
from ssread.common.workers import one_thread
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold
from ssread.published.datasets import TABLE_1
from ssread.train.cohort import Cohort
from ssread.train.fit import fit, fold_of_run
from ssread.train.recipes import RECIPES
from ssread.train.runs import Run, Training
from ssread.train.single import Single

FAIR, PAPER = RECIPES["fair"].training, dataclasses.replace(RECIPES["paper"].training, epochs=150, patience=150)
READOUTS: dict[str, dict[str, Any]] = {
    "GRead": {"readout": "global"},
    "SSRead": {"readout": "ssread", "num_positions": 4},
}

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
    "fair, no dropout, positions from structure": ({"dropout": 0.0, "normalize": True, "position_hops": 1}, FAIR),
}


def inner_fold(graphs: GraphSet, run: Run) -> Fold:
    """The fold of a run with a ninth of its training part in place of the test part."""
    fold = fold_of_run(graphs, run)
    assert graphs.y is not None
    labels = graphs.y[fold.train].numpy()
    train, judged = train_test_split(fold.train.numpy(), test_size=1 / 9, stratify=labels, random_state=run.seed)
    return Fold(torch.from_numpy(np.sort(train)), fold.validation, torch.from_numpy(np.sort(judged)))


def accuracies(graphs: GraphSet, runs: list[Run], training: Training, device: str) -> np.ndarray:
    """The accuracy of every run on the graphs that judge it."""
    folds = [inner_fold(graphs, run) for run in runs]
    if device == "cpu":
        pairs = zip(runs, folds, strict=True)
        results = [fit(Single(graphs, r, training), graphs, [r], [f], training)[0] for r, f in pairs]
    else:
        results = fit(Cohort(graphs, runs, training, device), graphs, runs, folds, training)
    return np.array([(r.test_predictions.argmax(axis=1) == r.test_targets).mean() for r in results])


def missing(kept: pd.DataFrame, chosen: str) -> Iterator[tuple[str, str, dict[str, Any], Training]]:
    """What is not kept yet of the variants with this in their names: variant, readout, arguments and training."""
    for variant, (model, training) in VARIANTS.items():
        for readout, arguments in READOUTS.items():
            fits = readout == "SSRead" or "position_hops" not in model
            if chosen in variant and fits and not ((kept.variant == variant) & (kept.readout == readout)).any():
                yield variant, readout, {**arguments, **model}, training


def show(kept: pd.DataFrame) -> None:
    """Prints a line per variant: mean accuracy of both readouts and its standard error over trainings."""
    for variant in VARIANTS:
        cells = []
        for readout in READOUTS:
            found = 100 * kept.accuracy[(kept.variant == variant) & (kept.readout == readout)]
            cells.append(f"{found.mean():10.1f} ({found.sem():.1f})" if len(found) else "-")
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
    parser.add_argument("--out", type=Path, default=Path("runs/recipe"), help="the folder of the accuracies")
    parser.add_argument("--show", action="store_true", help="train nothing; show all that is kept")
    parser.add_argument("--quick", action="store_true", help="two folds, two epochs, nothing kept: that it runs")
    options = parser.parse_args()
    print(f"{'':44}" + "".join(f"{name:>18}" for name in READOUTS) + "   accuracy in percent (standard error)")
    if options.show:
        for path in sorted(options.out.glob("*.csv")):
            print(path.stem)
            show(pd.read_csv(path))
        return
    folds = 2 if options.quick else options.folds
    limit: dict[str, Any] = {"epochs": 2, "patience": 2} if options.quick else {}
    sizes = {row.name: (round(row.mean_nodes), row.graphs) for row in TABLE_1}
    lists = (getattr(options, name).split(",") for name in ("datasets", "arch", "aggr"))
    with one_thread():
        for name, arch, aggr in itertools.product(*lists):
            graphs, path = dataset(name, *sizes.get(name, (20, 200))), options.out / f"{name}-{arch}-{aggr}.csv"
            kept = pd.DataFrame(columns=["variant", "readout", "seed", "fold", "accuracy"])
            if path.is_file() and not options.quick:
                kept = pd.read_csv(path)
            for variant, readout, model, training in missing(kept, options.variants):
                runs = [
                    Run({"name": arch, "aggr": aggr, **model}, seed, fold)
                    for seed in range(options.seeds)
                    for fold in range(folds)
                ]
                found = accuracies(graphs, runs, dataclasses.replace(training, **limit), options.device)
                rows = [(variant, readout, r.seed, r.fold, value) for r, value in zip(runs, found, strict=True)]
                new = pd.DataFrame(rows, columns=kept.columns)
                kept = pd.concat([kept, new]) if len(kept) else new
                if not options.quick:
                    write_csv(path, kept)
            print(path.stem)
            show(kept)


if __name__ == "__main__":
    main()
