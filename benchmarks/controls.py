"""Is it the positions, or only that vectors are wider? Encoders that learnt without labels, judged on validation data.

    python benchmarks/controls.py [--dataset NCI1] [--learn graphcl] [--positions 4] [--seeds 3] [--epochs 100]

A linear SVM names the class from the vectors of GIN encoders, ten folds each: of GRead; of GRead with layers K times as
wide; of GRead's own encoder with its nodes parted by K random directions; of SSRead. No test fold is looked at.
"""

import argparse
from statistics import mean
from typing import Any

import torch
from joblib import Parallel, delayed
from measuring import dataset
from rich.console import Console
from rich.table import Table
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.data.splits import stratified_folds
from ssread.evaluate.linear_evaluation import linear_evaluation
from ssread.functional import align
from ssread.models.graphs import Graphs
from ssread.train import Run, Training
from ssread.train.batch_plans import even_plan
from ssread.train.single import Single
from ssread.train.unsupervised import unlabelled

WIDTH = 32


def measure(graphs: GraphSet, which: str, learn: str, positions: int, seed: int, epochs: int) -> dict[str, Any]:
    """Trains one encoder and judges its vectors: validation accuracy and width, by name."""
    torch.set_num_threads(1)
    wide = positions if which == "GRead, wider layers" else 1
    model = {"name": "gin", "hidden_channels": WIDTH * wide, "dropout": 0.0, "jumping": True, "readout": "global"}
    if which == "SSRead":
        model |= {"readout": "ssread", "num_positions": positions}
    training = Training(epochs=epochs)
    engine = Single(unlabelled(graphs), Run(model, seed, 0, learn=learn), training)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        order = torch.randperm(len(graphs), generator=generator).unsqueeze(0)
        engine.train_epoch(even_plan(order, training.batch_size))
    found = {which: engine.vectors(torch.arange(len(graphs)).unsqueeze(0))[0]}
    if which == "GRead":
        found["GRead, parted by random directions"] = _parted(engine, graphs, positions, generator)
    return {name: (_judge(graphs, vectors, seed), vectors.size(1)) for name, vectors in found.items()}


@torch.no_grad()
def _parted(engine: Single, graphs: GraphSet, positions: int, generator: torch.Generator) -> Tensor:
    """Sums per position, where prototypes are random directions."""
    engine._model.eval()
    every = graphs.batch(torch.arange(len(graphs)))
    x = engine._model.encoder(Graphs.of(every)).x
    closest = align(x, torch.randn(positions, x.size(1), generator=generator))
    return segment.reduce_sum(x, every.batch * positions + closest, len(graphs) * positions).view(len(graphs), -1)


def _judge(graphs: GraphSet, vectors: Tensor, seed: int) -> float:
    folds = stratified_folds(graphs, 10, seed=seed)
    return mean(100 * linear_evaluation(vectors, graphs.y, graphs.num_classes, f).valid_accuracy for f in folds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="NCI1")
    parser.add_argument("--learn", default="graphcl", choices=["graphcl", "infograph"])
    parser.add_argument("--positions", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="one seed, a part of the dataset, two passes")
    options = parser.parse_args()
    graphs = dataset(options.dataset, options.quick)
    if min(options.seeds, options.epochs, options.positions) < 1:
        parser.error("seeds, epochs and positions are 1 or more")
    if options.quick:
        graphs, options.seeds, options.epochs = graphs[::20], 1, 2
    jobs = [(which, seed) for which in ("GRead, wider layers", "GRead", "SSRead") for seed in range(options.seeds)]
    results = Parallel(n_jobs=-1)(
        delayed(measure)(graphs, which, options.learn, options.positions, seed, options.epochs) for which, seed in jobs
    )
    found: dict[str, list[tuple[float, int]]] = {}
    for result in results:
        for name, judged in result.items():
            found.setdefault(name, []).append(judged)
    table = Table(
        *("encoder", "channels", "validation accuracy", "by seed"),
        title=f"{graphs.name}, {options.learn}, K = {options.positions}, {options.epochs} passes",
    )
    for name in ("GRead", "GRead, parted by random directions", "GRead, wider layers", "SSRead"):
        values = [value for value, _ in found[name]]
        by_seed = " ".join(f"{value:.1f}" for value in values)
        table.add_row(name, str(found[name][0][1]), f"{mean(values):.2f}", by_seed)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
