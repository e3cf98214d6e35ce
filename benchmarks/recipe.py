"""What every part of the recipe `fair` is worth, alone and together, for both readouts. No test fold is used.

Of every training part a ninth is held out to judge by; the epoch is chosen on the validation part, as always.

    python benchmarks/recipe.py                           # MUTAG, GCN, sum
    python benchmarks/recipe.py --datasets NCI1,DD --arch gcn,gin --aggr sum,mean,max --seeds 5 --device cuda
"""

import argparse
import dataclasses
from typing import Any

import numpy as np
import torch
from measuring import dataset
from sklearn.model_selection import train_test_split

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
READOUTS = {"GRead": {"readout": "global"}, "SSRead": {"readout": "ssread", "num_positions": 4}}

#: Arguments of the model and changes of the training, by name; each but the first and the last two is one part alone.
VARIANTS: dict[str, tuple[dict[str, Any], Training]] = {
    "paper, 150 epochs, no dropout": ({"dropout": 0.0}, PAPER),
    "+ dropout 0.3 before alignment": ({"dropout": 0.3}, PAPER),
    "+ falling learning rate": ({"dropout": 0.0}, dataclasses.replace(PAPER, schedule="cosine")),
    "+ averaged weights": ({"dropout": 0.0}, dataclasses.replace(PAPER, averaging=FAIR.averaging)),
    "+ normalised graph vectors": ({"dropout": 0.0, "normalize": True}, PAPER),
    "fair, no dropout": ({"dropout": 0.0, "normalize": True}, FAIR),
    "fair, dropout 0.3": ({"dropout": 0.3, "normalize": True}, FAIR),
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="MUTAG", help="names, separated by commas")
    parser.add_argument("--arch", default="gcn")
    parser.add_argument("--aggr", default="sum")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds are trained")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true", help="two folds, two epochs: that it runs")
    options = parser.parse_args()
    folds, limit = (2, {"epochs": 2, "patience": 2}) if options.quick else (options.folds, {})
    sizes = {row.name: (round(row.mean_nodes), row.graphs) for row in TABLE_1}
    print(f"{'':32}" + "".join(f"{name:>18}" for name in READOUTS) + "   accuracy in percent (standard error)")
    with one_thread():
        for name in options.datasets.split(","):
            graphs = dataset(name, *sizes.get(name, (20, 200)))
            for arch in options.arch.split(","):
                for aggr in options.aggr.split(","):
                    print(f"{name}, {arch}, {aggr}")
                    for variant, (model, training) in VARIANTS.items():
                        cells = []
                        for readout in READOUTS.values():
                            arguments = {"name": arch, "aggr": aggr, **readout, **model}
                            runs = [
                                Run(arguments, seed, fold) for seed in range(options.seeds) for fold in range(folds)
                            ]
                            training = dataclasses.replace(training, **limit)
                            found = 100 * accuracies(graphs, runs, training, options.device)
                            cells.append(f"{found.mean():10.1f} ({found.std(ddof=1) / len(found) ** 0.5:.1f})")
                        print(f"  {variant:30}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
