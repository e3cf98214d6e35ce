"""Does Optuna's TPE sampler find better settings than today's random candidates, within the same number of trainings?

    python benchmarks/search.py [--datasets mutag,esol,clintox] [--seeds 3] [--trainings 16] [--limit 250] [--epochs 15]

Both begin with the usual settings of every architecture and readout. Then one draws the other candidates at random, as
``ssread train`` does, the other asks TPE for four at a time (a round) and tells it how good they were. Candidates are
judged by the validation part of the first fold; the best is trained on the second fold, and its validation part says
how good the choice is. No test part is looked at. It needs Optuna, which the package does not.
"""

import argparse
import dataclasses
import importlib.util
import random

import numpy as np
from molecules import EXAMPLE, METRIC, molecules

from ssread.apply.search import ARCHITECTURES, SPACE, Candidate, candidates, make_candidate
from ssread.apply.training import make_training
from ssread.common.workers import one_thread
from ssread.data.cross_validation import folds_of
from ssread.data.graphset import GraphSet
from ssread.data.molecules import read_molecules
from ssread.metrics import METRICS
from ssread.models.architectures import READOUTS
from ssread.train.fit import fit
from ssread.train.runs import Run
from ssread.train.single import Single

#: Candidates of a round.
ROUND = 4


class Judge:
    """Trains candidates on folds of a set; every training once."""

    def __init__(self, graphs: GraphSet, seed: int, epochs: int):
        self.graphs, self.seed, self.folds = graphs, seed, folds_of(graphs, "random", 5, seed)
        self.training = make_training(graphs, epochs=epochs, metric=METRIC[graphs.task])

    def quality(self, candidate: Candidate, fold: int) -> float:
        """The metric on the validation part, more is better."""
        training = dataclasses.replace(self.training, learning_rate=candidate.learning_rate)
        run = Run(candidate.model, self.seed, fold)
        with one_thread():
            (result,) = fit(Single(self.graphs, run, training), self.graphs, [run], [self.folds[fold]], training)
        return METRICS[training.selection].quality(result.valid_score)


def by_chance(judge: Judge, count: int, seed: int) -> tuple[Candidate, float]:
    """The best of random candidates, and how good it is on the first fold."""
    tried = [(judge.quality(candidate, 0), candidate) for candidate in candidates(count, seed=seed)]
    return max(tried, key=lambda one: one[0])[::-1]


def by_tpe(judge: Judge, count: int, seed: int) -> tuple[Candidate, float]:
    """The best of candidates that TPE proposed in rounds, and how good it is on the first fold."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=ROUND, constant_liar=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    usual = {name: values[0] for name, values in SPACE.items()}
    for arch in ARCHITECTURES:
        for readout in READOUTS:
            study.enqueue_trial({"arch": arch, "readout": readout, **usual})
    found: list[tuple[float, Candidate]] = []
    while len(found) < count:
        trials = [study.ask() for _ in range(min(ROUND, count - len(found)))]
        for trial in trials:
            drawn = {name: trial.suggest_categorical(name, values) for name, values in SPACE.items()}
            kind = trial.suggest_categorical("arch", ARCHITECTURES), trial.suggest_categorical("readout", READOUTS)
            candidate = make_candidate(*kind, None, drawn, sizes=trial.number >= ROUND)
            found.append((judge.quality(candidate, 0), candidate))
        for trial, (quality, _) in zip(trials, found[-len(trials) :], strict=True):
            study.tell(trial, quality)
    return max(found, key=lambda one: one[0])[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="mutag,esol,clintox")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trainings", type=int, default=16)
    parser.add_argument("--limit", type=int, default=250)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="a few molecules and epochs: that it runs")
    options = parser.parse_args()
    if options.quick:
        options.datasets, options.seeds, options.trainings, options.limit, options.epochs = "mutag", 1, 5, 60, 1
    if importlib.util.find_spec("optuna") is None:
        print("Optuna is not installed: pip install optuna.")
        return
    for name in options.datasets.split(","):
        if name == "mutag":
            graphs = read_molecules(EXAMPLE, label="mutagenic")
            graphs = graphs[sorted(random.Random(0).sample(range(len(graphs)), min(options.limit, len(graphs))))]
        else:
            graphs = molecules(name, options.limit, options.quick)
        gains = []
        for seed in range(options.seeds):
            judge, found = Judge(graphs, seed, options.epochs), {}
            for method, choose in (("chance", by_chance), ("TPE", by_tpe)):
                best, first = choose(judge, options.trainings, seed)
                found[method] = judge.quality(best, 1)
                print(f"{name} seed {seed} {method}: fold 0 {first:.4f}, fold 1 {found[method]:.4f}", flush=True)
            gains.append(found["TPE"] - found["chance"])
        error = np.std(gains, ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else float("nan")
        metric = METRIC[graphs.task]
        print(f"{name}: TPE is {np.mean(gains):+.4f} better in {metric} (standard error {error:.4f})", flush=True)


if __name__ == "__main__":
    main()
