"""Where SSRead's gain goes, on validation data alone: how well variants of it learn, and how much positions move.

    python benchmarks/variants.py [--dataset NCI1] [--folds 2] [--passes 100] [--positions 8] [--only NAME ...]

GCN with the sum, no dropout. *Train loss* and *validation* are means of the last passes; *moved* is the share of
validation nodes whose position differs from that of ten passes before, *train / eval* the share whose position differs
between batch statistics and running ones, *least share* that of the rarest position, all at the end. *Over first* is
the gain in validation accuracy over the first variant of the table, with its standard error over folds. No test fold is
touched.
"""

import argparse
import math
from dataclasses import dataclass
from statistics import mean, stdev

import torch
from joblib import Parallel, delayed
from measuring import dataset
from rich.console import Console
from rich.table import Table

from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold, stratified_folds
from ssread.models.graphs import Graphs
from ssread.train import Run, Training
from ssread.train.batch_plans import full_plan
from ssread.train.single import Single

LAST = 10


@dataclass(frozen=True)
class Variant:
    """A way to train with SSRead.

    Attributes:
        name: For the table.
        readout: ``ssread`` or ``global``.
        pace: How fast prototypes turn: Adam's steps do not depend on their length, so that shorter ones turn faster.
        kmeans: Whether they start at node vectors far from each other (k-means++).
        falling: Whether the learning rate falls to 0 along half a cosine.
        after_global: Whether the first half is trained with the global readout; positions and a classifier that starts
            equal for all of them follow.
        frozen: Whether the encoder stands still from then on.
    """

    name: str
    readout: str = "ssread"
    pace: float = 1.0
    kmeans: bool = False
    falling: bool = False
    after_global: bool = False
    frozen: bool = False


VARIANTS = (
    Variant("GRead", "global"),
    Variant("SSRead, as in the paper"),
    Variant("prototypes turn 10 times as fast", pace=10),
    Variant("prototypes stand still", pace=1e-6),
    Variant("k-means++ start", kmeans=True),
    Variant("GRead, falling rate", "global", falling=True),
    Variant("SSRead, falling rate", falling=True),
    Variant("SSRead after GRead, falling rate", kmeans=True, falling=True, after_global=True),
    Variant("SSRead after GRead, encoder frozen", kmeans=True, falling=True, after_global=True, frozen=True),
    Variant("random positions on a frozen encoder", pace=1e-6, falling=True, after_global=True, frozen=True),
)


def measure(graphs: GraphSet, variant: Variant, number: int, positions: int, passes: int) -> dict[str, float]:
    """Trains one variant on one fold."""
    torch.set_num_threads(1)
    fold = stratified_folds(graphs, 10, seed=0)[number]
    generator = torch.Generator().manual_seed(number)
    training = Training()
    losses: list[float] = []
    accuracies: list[float] = []
    looks: list[torch.Tensor] = []

    def train(engine: Single, count: int) -> None:
        for done in range(count):
            if variant.falling:
                rate = training.learning_rate * (1 + math.cos(math.pi * done / count)) / 2
                for group in engine._optimizer.param_groups:
                    group["lr"] = rate
            losses.append(float(engine.train_epoch(full_plan([fold.train], [generator], training.batch_size))[0, 0]))
            found = engine.logits(fold.validation.unsqueeze(0))[0].argmax(dim=1)
            accuracies.append(100 * float((found == graphs.y[fold.validation]).double().mean()))
            if hasattr(engine._model.readout, "align"):
                looks.append(_positions(engine, graphs, fold))

    engine = Single(graphs, _run("global" if variant.after_global else variant.readout, positions, number), training)
    if variant.after_global:
        train(engine, passes // 2)
        before, engine = engine._model, Single(graphs, _run("ssread", positions, number), training)
        _start_from(engine._model, before, positions)
        if variant.frozen:
            _freeze(engine._model.encoder)
    if variant.readout == "ssread":
        _place(engine, variant, graphs, fold)
    train(engine, passes - len(losses))
    result = {
        "train loss": mean(losses[-LAST:]),
        "validation": mean(accuracies[-2 * LAST :]),
        "best validation": max(accuracies),
    }
    if looks:
        result["moved"] = 100 * float((looks[-1] != looks[-1 - LAST]).double().mean())
        shares = torch.bincount(looks[-1], minlength=positions) / len(looks[-1])
        result["least share"] = 100 * float(shares.min())
        result["train / eval"] = 100 * float((looks[-1] != _positions(engine, graphs, fold, True)).double().mean())
    return result


def _run(readout: str, positions: int, fold: int) -> Run:
    model = {"name": "gcn", "aggr": "sum", "dropout": 0.0, "readout": readout}
    return Run(model if readout == "global" else {**model, "num_positions": positions}, seed=0, fold=fold)


@torch.no_grad()
def _start_from(model: torch.nn.Module, trained: torch.nn.Module, positions: int) -> None:
    """The encoder of a model with the global readout, and its classifier for every position: the same function."""
    model.encoder.load_state_dict(trained.encoder.state_dict())
    model.head.weight.copy_(trained.head.weight.repeat(1, positions))
    model.head.bias.copy_(trained.head.bias)


def _freeze(encoder: torch.nn.Module) -> None:
    encoder.requires_grad_(False)
    encoder.eval()
    encoder.train = lambda mode=True: encoder  # its running statistics stay, too


@torch.no_grad()
def _place(engine: Single, variant: Variant, graphs: GraphSet, fold: Fold) -> None:
    readout = engine._model.readout
    if variant.kmeans:
        length = readout.prototypes.norm(dim=1).mean()
        torch.manual_seed(0)
        readout.init_prototypes(engine._model.encoder(Graphs.of(graphs.batch(fold.train[:500]))).x)
        readout.prototypes.mul_(length)
    readout.prototypes.div_(variant.pace)


@torch.no_grad()
def _positions(engine: Single, graphs: GraphSet, fold: Fold, batch_statistics: bool = False) -> torch.Tensor:
    """Positions of all validation nodes."""
    model = engine._model
    kept = {name: value.clone() for name, value in model.state_dict().items()}
    model.train(batch_statistics)
    positions = model.readout.align(model.encoder(Graphs.of(graphs.batch(fold.validation))).x)
    model.load_state_dict(kept)
    return positions


def _with_error(values: list[float]) -> str:
    error = f" +- {stdev(values) / math.sqrt(len(values)):.2f}" if len(values) > 1 else ""
    return f"{mean(values):+.2f}{error}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="NCI1")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--positions", type=int, default=8)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="parts of the names of variants")
    parser.add_argument("--quick", action="store_true", help="one fold of a part of the dataset, few passes")
    options = parser.parse_args()
    graphs = dataset(options.dataset, options.quick)
    if options.quick:
        graphs, options.folds, options.passes = graphs[::20], 1, 2 * (LAST + 1)
    chosen = [v for v in VARIANTS if options.only is None or any(part in v.name for part in options.only)]
    if not chosen:
        parser.error(f"no variant has that in its name; there are {', '.join(variant.name for variant in VARIANTS)}")
    if not 1 <= options.folds <= 10 or options.passes < 2 * (LAST + 1):
        parser.error(f"there are 1 to 10 folds, and it takes {2 * (LAST + 1)} passes at least")
    jobs = [(variant, number) for variant in chosen for number in range(options.folds)]
    pool = Parallel(n_jobs=-1)
    found = pool(delayed(measure)(graphs, *job, options.positions, options.passes) for job in jobs)
    columns = ("train loss", "validation", "best validation", "moved", "train / eval", "least share")
    table = Table(
        "variant", *columns, "over first", title=f"{graphs.name}, {options.folds} folds, {options.passes} passes, "
        f"K = {options.positions}; accuracies and shares in percent",
    )  # fmt: skip
    first = found[: options.folds]
    for variant in chosen:
        mine = [result for (one, _), result in zip(jobs, found, strict=True) if one == variant]
        gains = [mine[fold]["validation"] - first[fold]["validation"] for fold in range(options.folds)]
        cells = [
            f"{mean(r[c] for r in mine):.{3 if c == 'train loss' else 1}f}" if c in mine[0] else "" for c in columns
        ]
        table.add_row(variant.name, *cells, "" if mine[0] is first[0] else _with_error(gains))
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
