"""How often sets and intervals hold the truth, on graphs that were not trained on, against what was asked for.

    python benchmarks/coverage.py [--datasets esol,clintox,tox21,planted] [--seeds 5] [--epochs 40] [--limit 1500]

Of every dataset a fifth is drawn at random and kept away; ``ssread train --quick`` learns from the rest. tox21 has
three of its assays here; planted are 600 generated graphs with two classes. Of classes and labels the coverage of every
one is said, the rarest last.
"""

import argparse
import dataclasses
import tempfile
from pathlib import Path

import numpy as np
import torch
from molecules import molecules
from rich.console import Console

from ssread.apply import TrainedModel, train
from ssread.data import planted
from ssread.data.graphset import GraphSet

COVERAGES = (0.8, 0.9, 0.95)

#: Assays of tox21: the first three, of which 3 to 12 % are active.
ASSAYS = slice(0, 3)


def graphs_of(name: str, limit: int | None, quick: bool) -> GraphSet:
    """A dataset by name."""
    if name == "planted":
        return planted(limit if limit is not None and limit < 600 else 600, seed=0, feature_noise=0.3, label_noise=0.1)
    graphs = molecules(name, limit, quick)
    if name != "tox21" or graphs.y is None:
        return graphs
    graphs = dataclasses.replace(graphs, y=graphs.y[:, ASSAYS], target_names=graphs.target_names[ASSAYS])
    assert graphs.y is not None
    return graphs[~graphs.y.isnan().all(dim=1)]


def held(model: TrainedModel, graphs: GraphSet, coverage: float) -> dict[str, np.ndarray]:
    """Whether the truth is in its set or interval, for the graphs of each class, value of a label, or number."""
    assert model.calibration is not None
    assert graphs.y is not None
    predicted, y = model.predictions(graphs), graphs.y
    if graphs.task == "regression":
        low, high = model.calibration.intervals(predicted, coverage)
        inside = (low <= y) & (y <= high)
        return {name: inside[~y[:, t].isnan(), t].numpy() for t, name in enumerate(graphs.target_names)}
    sets = model.calibration.sets(predicted, coverage)
    if graphs.task == "classification":
        return {name: sets[y == c, c].numpy() for c, name in enumerate(graphs.class_names)}
    return {
        f"{name} = {value}": sets[y[:, t] == value, t, value].numpy()
        for t, name in enumerate(graphs.target_names)
        for value in (0, 1)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="esol,clintox,tox21,planted")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--limit", type=int, default=1500, help="most molecules of a set")
    parser.add_argument("--with", dest="graph_features", help="features of whole graphs, such as descriptors")
    parser.add_argument("--quick", action="store_true", help="a few molecules and epochs: that it runs")
    options = parser.parse_args()
    seeds, epochs, limit = (1, 2, 150) if options.quick else (options.seeds, options.epochs, options.limit)
    for name in options.datasets.split(","):
        graphs = graphs_of(name, limit, options.quick)
        found: dict[tuple[float, str], list[np.ndarray]] = {}
        shares: dict[float, list[float]] = {coverage: [] for coverage in COVERAGES}
        for seed in range(options.first_seed, options.first_seed + seeds):
            order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(seed))
            new, seen = order[: len(graphs) // 5].sort().values, order[len(graphs) // 5 :].sort().values
            features = {"graph_features": options.graph_features} if options.graph_features else {}
            with tempfile.TemporaryDirectory() as folder:
                settings = {"quick": True, "epochs": epochs, "seed": seed, "console": Console(quiet=True), **features}
                model = train(graphs[seen], Path(folder) / "model", **settings)
            for coverage in COVERAGES:
                parts = held(model, model.read(graphs[new]), coverage)
                for what, inside in parts.items():
                    found.setdefault((coverage, what), []).append(inside)
                shares[coverage].append(100 * float(np.concatenate(list(parts.values())).mean()))
        for coverage, values in shares.items():
            error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else float("nan")
            print(f"{name}: asked {100 * coverage:.0f} %, held {np.mean(values):.1f} % (standard error {error:.1f})")
            each = {what: np.concatenate(f) for (c, what), f in found.items() if c == coverage}
            if len(each) > 1:
                listed = sorted(each.items(), key=lambda one: -len(one[1]))
                print("   " + "; ".join(f"{what} {100 * f.mean():.1f} of {len(f)}" for what, f in listed), flush=True)


if __name__ == "__main__":
    main()
