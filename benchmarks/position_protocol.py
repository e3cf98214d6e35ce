"""Positions from the structure under the fair protocol, beside learnt ones and the global readout of Table III.

    python benchmarks/position_protocol.py MUTAG [--positions 8] [--dropout 0] [--hops 1] [--seeds 5]
    python benchmarks/position_protocol.py IMDB-BINARY --results results/position-hops

GCN with the sum and the recipe ``fair``, ten folds. K and dropout are given: those that validation chose for learnt
positions (docs/results.md). ``--results`` keeps the trainings and repeats none; what they are compared with are the
stored trainings of Table III. Test folds are used once.
"""

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
from measuring import dataset

from ssread.common.files import temporary_folder
from ssread.evaluate.results_export import export
from ssread.evaluate.runners import make_runner
from ssread.evaluate.statistics import compare
from ssread.evaluate.store import Store
from ssread.evaluate.trainer import Trainer
from ssread.evaluate.trainings_csv import read_trainings
from ssread.train.recipes import RECIPES
from ssread.train.runs import Run

FAIR = RECIPES["fair"]
TABLE_3 = Path(__file__).parents[1] / "results" / "fair" / "table3"


def trained(options: argparse.Namespace, folder: Path) -> pd.DataFrame:
    """The trainings with positions from the structure."""
    path = folder / f"{options.dataset.lower()}.csv"
    if path.is_file():
        return read_trainings([path])
    graphs = dataset(options.dataset, options.quick)
    model = {"name": "gcn", "aggr": "sum", "dropout": options.dropout, **FAIR.model, "gamma": 0.01}
    model |= {"readout": "ssread", "num_positions": options.positions, "position_hops": options.hops}
    runs = [Run(model, seed, fold, 10) for seed in range(options.seeds) for fold in range(10)]
    training = dataclasses.replace(FAIR.training, epochs=2, patience=2) if options.quick else FAIR.training
    with Store(folder / "trainings.sqlite") as store:
        trainer = Trainer(graphs, make_runner(options.device, None, "here", print), store, lambda *_: None)
        trainer.train([(run, training) for run in runs])
        export(store, path)
    return read_trainings([path])


def stored(options: argparse.Namespace, readout: str) -> pd.DataFrame:
    """The trainings of Table III with the sum, the same dropout and K."""
    table = read_trainings(sorted(TABLE_3.glob("*.csv")))
    positions = options.positions if readout == "ssread" else 1
    wanted = (table["dataset"] == options.dataset) & (table["aggr"] == "sum") & (table["readout"] == readout)
    wanted &= (table["num_positions"] == positions) & (table["seed"] < options.seeds)
    dropout = table["run"].map(lambda run: json.loads(run)["model"].get("dropout"))
    return table[wanted & (dropout == options.dropout)]


def accuracies(table: pd.DataFrame, part: str) -> np.ndarray:
    """Accuracies in percent, [seeds, folds]."""
    return 100 * table.pivot_table(f"{part}_accuracy", "seed", "fold").to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--positions", type=int, default=8)
    parser.add_argument("--dropout", type=float, default=0)
    parser.add_argument("--hops", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--results", type=Path, help="the folder that keeps the trainings")
    parser.add_argument("--quick", action="store_true", help="one seed, two epochs, nothing kept: that it runs")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.results = 1, None
    with temporary_folder() as temporary:
        structure = trained(options, options.results or temporary)
    for part in ("valid", "test"):
        found = accuracies(structure, part)
        print(f"{options.dataset}, {part}: positions from the structure {found.mean():.2f} %")
        for name, readout in (("global readout", "global"), ("learnt positions", "ssread")):
            before = accuracies(stored(options, readout), part)
            result = compare(before, found)
            low, high = result.interval
            print(
                f"   {name} {before.mean():.2f} %: {result.difference:+.2f} [{low:+.2f}, {high:+.2f}], "
                f"p {result.p:.3f}, corrected p {result.corrected_p:.3f}"
            )


if __name__ == "__main__":
    main()
