"""Why SSRead gains most with sort: is it the positions, or the nodes that are read? On validation data alone.

    python benchmarks/sorting.py [--dataset DD] [--folds 10] [--positions 16] [--only NAME ...] [--quick]

The sort aggregation reads the first k = 16 nodes of a graph, with SSRead the first 16 of every position. Beside both
stands GRead with as many nodes as SSRead may read: 16 K. GCN without dropout, trained with early stopping on the folds
of seed 0 as in Table III; validation accuracy in percent, its standard error over folds. No test fold is touched.
"""

import argparse
from math import sqrt
from statistics import mean, stdev
from typing import Any

from measuring import dataset
from rich.console import Console
from rich.progress import track
from rich.table import Table

from ssread.evaluate.runners import CPURunner
from ssread.train import Run, Training

LENGTH = 16  # of the sort aggregation by default


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="DD")
    parser.add_argument("--folds", type=int, default=10, choices=range(2, 11), metavar="2 ... 10")
    parser.add_argument("--positions", type=int, default=16)
    parser.add_argument("--only", nargs="+", help="parts of names")
    parser.add_argument("--quick", action="store_true", help="two folds of MUTAG, one pass")
    options = parser.parse_args()
    if options.positions < 1:
        parser.error("positions are 1 or more")
    many = LENGTH * options.positions
    variants: dict[str, dict[str, Any]] = {
        f"GRead, first {LENGTH} nodes": {"readout": "global"},
        f"GRead, first {many} nodes": {"readout": "global", "aggr_kwargs": {"k": many}},
        f"SSRead, first {LENGTH} of {options.positions} positions": {"num_positions": options.positions},
    }
    chosen = [name for name in variants if options.only is None or any(part in name for part in options.only)]
    if not chosen:
        parser.error(f"no variant has that in its name; there are {'; '.join(variants)}")
    graphs = dataset("MUTAG" if options.quick else options.dataset, options.quick)
    folds, training = (2, Training(epochs=1)) if options.quick else (options.folds, Training())
    table = Table("variant", "validation", "standard error", title=f"{graphs.name}, {folds} folds")
    for name in chosen:
        model = {"name": "gcn", "aggr": "sort", "dropout": 0.0, **variants[name]}
        runs = [Run(model, seed=0, fold=fold) for fold in range(folds)]
        results = track(CPURunner().train(graphs, runs, training), name, total=folds, console=Console(stderr=True))
        found = [100 * result.valid_accuracy for result in results]
        table.add_row(name, f"{mean(found):.1f}", f"{stdev(found) / sqrt(folds):.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
