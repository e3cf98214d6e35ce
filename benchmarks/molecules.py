"""Own molecules: this package against a random forest on Morgan fingerprints, under the same splits.

    python benchmarks/molecules.py [--datasets tox21,clintox,esol] [--splits scaffold,random] [--seeds 3]
    python benchmarks/molecules.py --save sets                     # for a machine without RDKit:
    python benchmarks/molecules.py --sets sets --rivals "" --device cuda

Of every split one fold of five is the test part; a tenth of the rest chooses. Ours: as many candidates as
``--candidates`` are trained once, the best by the validation part is trained as an ensemble of ``--members``. Quality
is the mean over the labels of ROC-AUC (classes) or RMSE (numbers) on the test part.
"""

import argparse
import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from rich.console import Console
from rich.table import Table

from ssread.apply.search import Candidate, candidates
from ssread.apply.training import make_training
from ssread.common.workers import one_thread
from ssread.data.cross_validation import folds_of, with_split
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold
from ssread.metrics import METRICS, evaluate
from ssread.train.cohort import Cohort
from ssread.train.fit import fit
from ssread.train.runs import Run, RunResult, Training
from ssread.train.single import Single

FOLDER = Path(__file__).parents[2] / "shared" / "molecules"
EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "mutag.csv"
LABELS: dict[str, str] = {
    "tox21": "NR-AR,NR-AR-LBD,NR-AhR,NR-Aromatase,NR-ER,NR-ER-LBD,NR-PPAR-gamma,SR-ARE,SR-ATAD5,SR-HSE,SR-MMP,SR-p53",
    "clintox": "FDA_APPROVED,CT_TOX",
    "esol": "measured log solubility in mols per litre",
}
#: A candidate and the seeds that it is trained with.
Job = tuple[Candidate, list[int]]
METRIC = {"multilabel": "roc_auc", "regression": "rmse", "classification": "roc_auc"}


def molecules(name: str, limit: int | None) -> GraphSet:
    """A dataset of the folder without rows that cannot be used; the example of the documentation if it is missing."""
    from ssread.data.molecules import read_molecules

    path, label = FOLDER / f"{name}.csv", LABELS[name]
    if not path.is_file():
        path, label = EXAMPLE, "mutagenic"
        print(f"{name} is not at hand: {path.name} stands in for it.")
    graphs = read_molecules(path, label=label, on_error="skip")
    if limit is None:
        return graphs
    drawn = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:limit]
    return graphs[drawn.sort().values]


def ours(graphs: GraphSet, fold: Fold, seed: int, options: argparse.Namespace) -> tuple[np.ndarray, str]:
    """Predictions for the test part, and the chosen candidate."""
    training = make_training(graphs, epochs=options.epochs, metric=METRIC[graphs.task])
    tried = candidates(options.candidates, seed=seed)
    results = [
        result for one in _train(graphs, fold, [(one, [seed]) for one in tried], training, options) for result in one
    ]
    metric = METRICS[training.selection]
    best = int(np.argmax([metric.quality(result.valid_score) for result in results]))
    seeds = [seed + 100 * member for member in range(1, options.members)]
    jobs = [(tried[best], seeds)] if options.device != "cpu" else [(tried[best], [one]) for one in seeds]
    members = [result for one in _train(graphs, fold, jobs, training, options) for result in one]
    return np.mean([result.test_predictions for result in (results[best], *members)], axis=0), tried[best].name


def _train(
    graphs: GraphSet, fold: Fold, jobs: list[Job], training: Training, options: argparse.Namespace
) -> list[list[RunResult]]:
    """Trains every job's candidate with its seeds on the fold: on a CPU a job per core, on a GPU its seeds together."""
    jobs = [job for job in jobs if job[1]]
    if options.device == "cpu":
        with parallel_config(backend="loky", inner_max_num_threads=1):
            return Parallel(n_jobs=-1)(delayed(_fit)(graphs, fold, *job, training, "cpu") for job in jobs)
    return [_fit(graphs, fold, *job, training, options.device) for job in jobs]


def _fit(
    graphs: GraphSet, fold: Fold, candidate: Candidate, seeds: list[int], training: Training, device: str
) -> list[RunResult]:
    training = dataclasses.replace(training, learning_rate=candidate.learning_rate)
    runs = [Run(candidate.model, seed, 0) for seed in seeds]
    if device != "cpu":
        return fit(Cohort(graphs, runs, training, device), graphs, runs, [fold] * len(runs), training)
    with one_thread():
        return [fit(Single(graphs, run, training), graphs, [run], [fold], training)[0] for run in runs]


def forest(graphs: GraphSet, fold: Fold, seed: int, options: argparse.Namespace) -> tuple[np.ndarray, str]:
    """Predictions of random forests for the test part."""
    from ssread.apply.usual_methods import forest as forests

    (found,) = forests(graphs, [fold], seed)
    return found.predictions, "no choice"


METHODS: dict[str, Any] = {"ssread": ours, "forest": forest}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="tox21,clintox,esol")
    parser.add_argument("--splits", default="scaffold,random")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--members", type=int, default=5)
    parser.add_argument("--epochs", type=int, help="fewer epochs than ssread train takes")
    parser.add_argument("--rivals", default="forest")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=int, help="only so many molecules of each set")
    parser.add_argument("--save", help="write the sets with their splits to this folder, and stop")
    parser.add_argument("--sets", help="read the sets from a folder that --save wrote")
    parser.add_argument("--quick", action="store_true", help="a few molecules and epochs: that it runs")
    options = parser.parse_args()
    if options.quick:
        options.limit, options.epochs, options.candidates, options.members, options.seeds = 120, 2, 2, 2, 1
    table = Table("set", "split", "seed", "method", "metric", "test", "seconds", "chosen", title="Molecules not seen")
    means: dict[tuple[str, str], list[float]] = {}
    console = Console(width=160)
    for name in options.datasets.split(","):
        for split in options.splits.split(","):
            path = Path(options.sets or options.save or ".") / f"{name}-{split}.safetensors"
            graphs = GraphSet.load(path) if options.sets else with_split(molecules(name, options.limit), split)[0]
            if options.save:
                path.parent.mkdir(parents=True, exist_ok=True)
                graphs.save(path)
                continue
            assert graphs.y is not None
            for seed in range(options.seeds):
                fold = folds_of(graphs, split, 5, seed)[0]
                for method in ("ssread", *filter(None, options.rivals.split(","))):
                    start = time.perf_counter()
                    predicted, chosen = METHODS[method](graphs, fold, seed, options)
                    seconds = time.perf_counter() - start
                    metric = METRIC[graphs.task]
                    value = evaluate(metric, graphs.y[fold.test].numpy(), predicted)
                    table.add_row(name, split, str(seed), method, metric, f"{value:.3f}", f"{seconds:.0f}", chosen)
                    means.setdefault((f"{name}, {split}", method), []).append(value)
                    print(f"{name} {split} {seed} {method} {metric} {value:.4f} {seconds:.0f} s {chosen}", flush=True)
    if options.save:
        return
    console.print(table)
    for (where, method), values in means.items():
        error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else float("nan")
        console.print(f"{where}: {method} {np.mean(values):.3f} (standard error {error:.3f})")


if __name__ == "__main__":
    main()
