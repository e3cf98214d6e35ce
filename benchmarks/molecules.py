"""Own molecules: this package, a random forest on Morgan fingerprints and chemprop's defaults, under the same splits.

    python benchmarks/molecules.py [--datasets tox21,clintox,esol] [--splits scaffold,random] [--seeds 3]
    python benchmarks/molecules.py --save sets                     # for a machine without RDKit:
    python benchmarks/molecules.py --sets sets --methods ssread --device cuda --results found
    python benchmarks/molecules.py --results results/molecules --table docs/benchmarks.md

Of every split a fifth is the test part; a tenth of the rest chooses. ``scaffold`` has the frequent scaffolds in the
training part and draws the others (:func:`ssread.data.scaffold.scaffold_split`): the first folds of a cross-validation
by scaffold all test the most frequent one, whatever the seed. Ours: as ``ssread train --quick --with
descriptors`` does, the usual settings and 40 epochs. With ``--candidates`` as many are trained once, for as many epochs
as ``ssread train`` takes, and the best by the validation part of a split is trained as an ensemble of ``--members``.
Quality is the mean over the labels of ROC-AUC (classes) or RMSE (numbers) on the test part. Seconds are processor time,
descriptors and worker processes included; on a GPU, which trains all splits together, a split's share of the time by
the clock. ``--results`` keeps every figure and every training as it ends, and repeats none. chemprop is installed at
the first run into an environment of its own, ``runs/chemprop``.
"""

import argparse
import dataclasses
import os
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from joblib.externals.loky import get_reusable_executor
from molecule_figures import Figures, write_table

from ssread.apply.search import Candidate, candidates
from ssread.apply.training import QUICK_EPOCHS, make_training
from ssread.common.files import temporary_folder
from ssread.data.cross_validation import FOLD_COLUMN, VALIDATION, folds_of
from ssread.data.graph_features import with_graph_features
from ssread.data.graphset import GraphSet
from ssread.data.scaffold import scaffold_split
from ssread.data.splits import Fold
from ssread.evaluate.runners import make_runner
from ssread.evaluate.store import Store
from ssread.evaluate.trainer import Trainer
from ssread.metrics import METRICS, evaluate
from ssread.train.runs import Run, RunResult

FOLDER = Path(os.environ.get("SSREAD_MOLECULES") or Path(__file__).parents[2] / "shared" / "molecules")
EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "mutag.csv"
LABELS: dict[str, str] = {
    "tox21": "NR-AR,NR-AR-LBD,NR-AhR,NR-Aromatase,NR-ER,NR-ER-LBD,NR-PPAR-gamma,SR-ARE,SR-ATAD5,SR-HSE,SR-MMP,SR-p53",
    "clintox": "FDA_APPROVED,CT_TOX",
    "esol": "measured log solubility in mols per litre",
}
METRIC = {"multilabel": "roc_auc", "regression": "rmse", "classification": "roc_auc"}

#: The share of the molecules that is the test part.
TEST = 0.2

#: Predictions for a test part, and what was chosen.
Answer = tuple[np.ndarray, str]


@dataclasses.dataclass(frozen=True)
class Splits:
    """A set and its splits: number ``seed`` of ``folds`` is fold ``seed`` of the split that is called ``name``."""

    graphs: GraphSet
    name: str
    folds: Sequence[Fold]

    @classmethod
    def of(cls, graphs: GraphSet, split: str) -> "Splits":
        """Takes the splits that :func:`with_parts` has stored."""
        stored = {name: part for name, part in graphs.graph_columns.items() if name.startswith(f"{split} ")}
        columns = {name.replace(split, FOLD_COLUMN): part for name, part in stored.items()}
        graphs = dataclasses.replace(graphs, graph_columns=columns)
        return cls(graphs, f"stored {split}", folds_of(graphs, f"stored {split}", len(columns), 0))


def molecules(name: str, limit: int | None, quick: bool) -> GraphSet:
    """A dataset of the folder without rows that cannot be used.

    A quick run only shows that a benchmark runs: the example of the documentation then stands in for a missing file.
    """
    from ssread.data.molecules import read_molecules

    path, label = FOLDER / f"{name}.csv", LABELS[name]
    if not path.is_file():
        if not quick:
            where = "put it there, or set SSREAD_MOLECULES to the folder that has it"
            raise SystemExit(f"Error: {path} is missing: {where} ({name} of MoleculeNet, with a column smiles).")
        print(f"{path} is missing: {EXAMPLE.name} stands in for it.")
        path, label = EXAMPLE, "mutagenic"
    graphs = read_molecules(path, label=label, on_error="skip")
    if limit is None:
        return graphs
    drawn = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:limit]
    return graphs[drawn.sort().values]


def with_parts(graphs: GraphSet, split: str, seeds: int) -> GraphSet:
    """Stores the parts of every seed's split with the set, so that every machine has the same."""
    columns = {}
    for seed in range(seeds):
        if split == "scaffold":
            fold = scaffold_split(graphs, (1 - TEST) * VALIDATION, TEST, seed)
        else:
            fold = folds_of(graphs, split, round(1 / TEST), seed)[0]
        columns[f"{split} {seed}"] = part = torch.full((len(graphs),), -1)
        for number, ids in enumerate((fold.train, fold.validation, fold.test)):
            part[ids] = number
    return dataclasses.replace(graphs, graph_columns=graphs.graph_columns | columns)


def read(name: str, options: argparse.Namespace) -> GraphSet:
    """A set with the parts of all splits."""
    if options.sets:
        return GraphSet.load(options.sets / f"{name}.safetensors")
    graphs = molecules(name, options.limit, options.quick)
    for split in options.splits.split(","):
        graphs = with_parts(graphs, split, options.seeds)
    return graphs


def with_features(graphs: GraphSet, options: argparse.Namespace) -> GraphSet:
    """The set with features of whole graphs, unless it was saved with them."""
    if not options.graph_features or graphs.graph_attr is not None:
        return graphs
    return with_graph_features(graphs, options.graph_features.split(","))[0]


def ours(splits: Splits, seeds: Sequence[int], options: argparse.Namespace) -> list[Answer]:
    """Trains every candidate on every split, and the best of each as an ensemble."""
    graphs = with_features(splits.graphs, options)
    training = make_training(graphs, epochs=options.epochs, metric=METRIC[graphs.task])
    quality = METRICS[training.selection].quality
    tried = candidates(options.candidates, **({"arch": "gcn", "readout": "ssread"} if options.candidates == 1 else {}))
    with temporary_folder() as folder, Store((options.results or folder) / "trainings.sqlite") as store:
        runner = make_runner(options.device, options.workers, "here", print)
        trainer = Trainer(graphs, runner, store, _say if options.candidates > 1 else lambda *_: None)

        def train(wanted: list[tuple[Candidate, int, int]]) -> list[RunResult]:
            """Candidates, each with the number of a split and of a member."""
            pairs = [
                (
                    Run(one.model, seed + 100 * member, seed, len(splits.folds), split=splits.name),
                    dataclasses.replace(training, learning_rate=one.learning_rate),
                )
                for one, seed, member in wanted
            ]
            trainer.train(pairs)
            return [trainer.results([run], rated)[0] for run, rated in pairs]

        first = np.array([quality(one.valid_score) for one in train([(c, s, 0) for c in tried for s in seeds])])
        best = [tried[number] for number in first.reshape(len(tried), len(seeds)).argmax(axis=0)]
        members = range(options.members)
        trained = train([(one, seed, m) for one, seed in zip(best, seeds, strict=True) for m in members])
    of_split = [trained[start : start + options.members] for start in range(0, len(trained), options.members)]
    return [
        (np.mean([one.test_predictions for one in ensemble], axis=0), chosen.name)
        for ensemble, chosen in zip(of_split, best, strict=True)
    ]


def forest(splits: Splits, seeds: Sequence[int], options: argparse.Namespace) -> list[Answer]:
    """Random forests."""
    from ssread.apply.usual_methods import forest as forests

    return [(forests(splits.graphs, [splits.folds[seed]], seed)[0].predictions, "no choice") for seed in seeds]


def chemprop(splits: Splits, seeds: Sequence[int], options: argparse.Namespace) -> list[Answer]:
    """chemprop with its defaults."""
    from chemprop_rival import predict

    return [(predict(splits.graphs, splits.folds[seed], seed), "defaults") for seed in seeds]


METHODS: dict[str, Any] = {"ssread": ours, "forest": forest, "chemprop": chemprop}


def processor_seconds() -> float:
    """The processor time of this process and of all that it has waited for; ends idle worker processes first."""
    get_reusable_executor().shutdown(wait=True)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _say(done: int, total: int, result: RunResult | None) -> None:
    if result is not None:
        print(f"  {done} of {total} trainings, the last in {result.seconds:.1f} s", flush=True)


def settings(method: str, options: argparse.Namespace) -> str:
    """All that a figure of a method depends on, in words."""
    if method == "ssread":
        features = f", {options.graph_features}" if options.graph_features else ""
        words = f"{options.epochs} epochs{features}"
        if options.candidates > 1 or options.members > 1:
            epochs = options.epochs or "usual"
            words = f"{options.candidates} candidates, {options.members} members, {epochs} epochs{features}"
    else:
        words = {"forest": "300 trees on Morgan fingerprints", "chemprop": "its defaults"}[method]
    return words + (f", {options.limit} molecules" if options.limit else "")


def measure(name: str, split: str, splits: Splits, options: argparse.Namespace, figures: Figures) -> None:
    """Adds the figures of all methods on the splits of a set that are not known yet."""
    graphs, seeds = splits.graphs, range(min(options.seeds, len(splits.folds)))
    assert graphs.y is not None
    metric = METRIC[graphs.task]
    for method in options.methods.split(","):
        what = {"set": name, "split": split, "method": method, "settings": settings(method, options)}
        missing = [seed for seed in seeds if not figures.has(**what, seed=seed)]
        together = method == "ssread" and options.device != "cpu"
        for part in [missing] if together and missing else [[seed] for seed in missing]:
            clock = time.perf_counter if together else processor_seconds
            start = clock()
            answers = METHODS[method](splits, part, options)
            seconds = (clock() - start) / len(part)
            for seed, (predicted, chosen) in zip(part, answers, strict=True):
                y = graphs.y[splits.folds[seed].test].numpy()
                values = {"mean": evaluate(metric, y, predicted)}
                if y.ndim == 2 and y.shape[1] > 1:
                    names = enumerate(graphs.target_names)
                    values |= {label: evaluate(metric, y[:, [t]], predicted[:, [t]]) for t, label in names}
                figures.add(what | {"seed": seed, "device": options.device, "chosen": chosen}, metric, values, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="tox21,clintox,esol")
    parser.add_argument("--splits", default="scaffold,random")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--candidates", type=int, default=1)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--epochs", type=int, help=f"by default {QUICK_EPOCHS}, with candidates those of ssread train")
    parser.add_argument("--with", dest="graph_features", default="descriptors", help="features of whole graphs")
    parser.add_argument("--methods", default="ssread,forest,chemprop")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, help="worker processes; by default one per core, on a GPU up to 3")
    parser.add_argument("--limit", type=int, help="only so many molecules of each set")
    parser.add_argument("--save", type=Path, help="write the sets with their splits to this folder, and stop")
    parser.add_argument("--sets", type=Path, help="read the sets from a folder that --save wrote")
    parser.add_argument("--results", type=Path, help="the folder that keeps figures and trainings; none is repeated")
    parser.add_argument("--table", type=Path, help="put the figures of --results into this page, and stop")
    parser.add_argument("--quick", action="store_true", help="a few molecules and epochs: that it runs")
    options = parser.parse_args()
    if options.table:
        figures = Figures(options.results)
        if options.quick:
            print(figures.table())
        else:
            write_table(figures, options.table)
        return
    if options.quick:
        options.limit, options.epochs, options.candidates, options.members, options.seeds = 120, 2, 2, 2, 1
        options.methods = options.methods.replace(",chemprop", "")  # it takes minutes to install
        options.results = None
    if options.candidates == 1:
        options.epochs = options.epochs or QUICK_EPOCHS
    if options.save:
        for name in options.datasets.split(","):
            with_features(read(name, options), options).save(options.save / f"{name}.safetensors")
        return
    figures = Figures(options.results)
    for name in options.datasets.split(","):
        graphs = read(name, options)
        for split in options.splits.split(","):
            measure(graphs.name if options.quick else name, split, Splits.of(graphs, split), options, figures)
    print(figures.table())


if __name__ == "__main__":
    main()
