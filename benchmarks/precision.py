"""Whether TF32 changes a verdict: GRead against SSRead, trained in float32 and in TF32 on the same folds.

    python benchmarks/precision.py [--datasets MUTAG PROTEINS] [--seeds 5] [--quick]

Every row is a comparison of 10 folds x the seeds (GCN, sum, K = 8). The last rows compare the precisions with each
other, readout by readout.
"""

import argparse
import time

import numpy as np
import torch
from measuring import dataset
from rich.console import Console
from rich.table import Table

from ssread.evaluate.statistics import Comparison, compare, format_p
from ssread.train import Run, Training, train

PRECISIONS = {"float32": "float32", "TF32": "tf32"}
READOUTS = {"GRead": "global", "SSRead": "ssread"}


def accuracies(graphs, readout: str, precision: str, seeds: int, epochs: int) -> tuple[np.ndarray, float]:
    """Test accuracy of every (seed, fold), and the seconds it took."""
    model = {"name": "gcn", "aggr": "sum", "readout": readout, "num_positions": 8}
    runs = [Run(model, seed=seed, fold=fold) for seed in range(seeds) for fold in range(10)]
    start = time.perf_counter()
    results = train(graphs, runs, Training(precision=precision, epochs=epochs), "cuda")
    right = [(r.test_predictions.argmax(axis=1) == r.test_targets).mean() for r in results]
    return np.array(right).reshape(seeds, 10), time.perf_counter() - start


def row(what: str, found: Comparison, seconds: float) -> list[str]:
    means = [f"{100 * side.mean:.2f} +- {100 * side.sd:.2f}" for side in (found.baseline, found.candidate)]
    p = [format_p(found.p), format_p(found.corrected_p)]
    return [what, *means, f"{100 * found.difference:+.2f}", *p, found.finding, f"{seconds:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=["MUTAG", "PROTEINS"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one seed, few passes")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("seeds are 1 or more")
    if not torch.cuda.is_available():
        raise SystemExit("This benchmark needs a GPU that torch can use; there is none here.")
    seeds, epochs = (1, 5) if options.quick else (options.seeds, Training().epochs)
    for name in options.datasets:
        graphs = dataset(name, options.quick)
        table = Table("what", "first", "second", "difference", "p", "corrected p", "finding", "s", title=graphs.name)
        scores, findings = {}, []
        for precision, how in PRECISIONS.items():
            both = [accuracies(graphs, readout, how, seeds, epochs) for readout in READOUTS.values()]
            scores[precision] = [accuracy for accuracy, _ in both]
            found = compare(*scores[precision])
            findings.append(found.finding)
            table.add_row(*row(f"{precision}: GRead, SSRead", found, sum(seconds for _, seconds in both)))
        for number, readout in enumerate(READOUTS):
            found = compare(*(scores[precision][number] for precision in PRECISIONS))
            table.add_row(*row(f"{readout}: float32, TF32", found, 0.0)[:-1])
        Console(width=130).print(table)
        same = findings[0] == findings[1]
        print(f"{name}: {'the same verdict' if same else 'ANOTHER verdict'} in TF32 ({findings[0]}, {findings[1]})")


if __name__ == "__main__":
    main()
