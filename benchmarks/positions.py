"""What positions from the structure cost on own molecules, by validation parts alone.

    python benchmarks/positions.py [--datasets esol,clintox,tox21] [--splits scaffold,random] [--seeds 3] [--hops 1]

The splits are those of ``benchmarks/molecules.py``, and models are trained as ``ssread train --quick --with
descriptors`` does: once with positions that are learnt, as in the paper, once with those from the structure within so
many hops. Both are judged by the best epoch on the validation part; no test part is used. For the datasets of the paper
see ``benchmarks/recipe.py``, variant "positions from structure".
"""

import argparse

import numpy as np
from molecules import METRIC, Splits, molecules, with_features, with_parts

from ssread.apply.search import candidates
from ssread.apply.training import QUICK_EPOCHS, make_training
from ssread.common.files import temporary_folder
from ssread.evaluate.runners import make_runner
from ssread.evaluate.store import Store
from ssread.evaluate.trainer import Trainer
from ssread.metrics import METRICS
from ssread.models.architectures import LEARNT
from ssread.train.runs import Run


def validation_scores(splits: Splits, hops: int | str, options: argparse.Namespace) -> np.ndarray:
    """The metric on the validation part of every split, [seeds]."""
    graphs = with_features(splits.graphs, options)
    training = make_training(graphs, epochs=options.epochs, metric=METRIC[graphs.task])
    (candidate,) = candidates(1, arch="gcn", readout="ssread", position_hops=hops)
    runs = [Run(candidate.model, seed, seed, len(splits.folds), split=splits.name) for seed in range(options.seeds)]
    with temporary_folder() as folder, Store(folder / "trainings.sqlite") as store:
        trainer = Trainer(graphs, make_runner("cpu", options.workers, "here", print), store, lambda *_: None)
        trainer.train([(run, training) for run in runs])
        return np.array([result.valid_score for result in trainer.results(runs, training)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="esol,clintox,tox21")
    parser.add_argument("--splits", default="scaffold,random")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--hops", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=QUICK_EPOCHS)
    parser.add_argument("--with", dest="graph_features", default="descriptors", help="features of whole graphs, or ''")
    parser.add_argument("--limit", type=int, help="only so many molecules of each set")
    parser.add_argument("--workers", type=int, help="worker processes; by default one per core")
    parser.add_argument("--quick", action="store_true", help="a few molecules and epochs: that it runs")
    options = parser.parse_args()
    if options.quick:
        options.limit, options.epochs, options.seeds = 120, 2, 1
    for name in options.datasets.split(","):
        graphs = molecules(name, options.limit, options.quick)
        metric = METRIC[graphs.task]
        for split in options.splits.split(","):
            splits = Splits.of(with_parts(graphs, split, options.seeds), split)
            learnt, structure = (validation_scores(splits, hops, options) for hops in (LEARNT, options.hops))
            gain = (structure - learnt) * (1 if METRICS[metric].higher_is_better else -1)
            error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else float("nan")
            print(
                f"{name}, {split}, {metric}: learnt {learnt.mean():.3f}, from structure {structure.mean():.3f}, "
                f"gain {gain.mean():+.3f} (standard error {error:.3f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
