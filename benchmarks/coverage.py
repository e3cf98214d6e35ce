"""How often sets and intervals hold the truth, on molecules that were not trained on, against what was asked for.

    python benchmarks/coverage.py [--datasets esol,clintox] [--seeds 5] [--epochs 40]

Of every dataset a fifth is drawn at random and kept away; ``ssread train --quick`` learns from the rest.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import torch
from molecules import molecules

from ssread.apply import TrainedModel, train
from ssread.data.graphset import GraphSet

COVERAGES = (0.8, 0.9, 0.95)


def held(model: TrainedModel, graphs: GraphSet, coverage: float) -> np.ndarray:
    """Whether the truth of every known label or number is in its set or interval."""
    assert model.calibration is not None
    assert graphs.y is not None
    predicted, y = model.predictions(graphs), graphs.y
    if graphs.task == "classification":
        return model.calibration.sets(predicted, coverage).gather(1, y.unsqueeze(1)).squeeze(1).numpy()
    known = ~y.isnan()
    if graphs.task == "regression":
        low, high = model.calibration.intervals(predicted, coverage)
        return ((low <= y) & (y <= high))[known].numpy()
    sets = model.calibration.sets(predicted, coverage)
    return sets.gather(2, y.nan_to_num().long().unsqueeze(-1)).squeeze(-1)[known].numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="esol,clintox")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="a few molecules and epochs: that it runs")
    options = parser.parse_args()
    seeds, epochs, limit = (1, 2, 150) if options.quick else (options.seeds, options.epochs, None)
    for name in options.datasets.split(","):
        graphs = molecules(name, limit)
        shares: dict[float, list[float]] = {coverage: [] for coverage in COVERAGES}
        for seed in range(seeds):
            order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(seed))
            new, seen = order[: len(graphs) // 5].sort().values, order[len(graphs) // 5 :].sort().values
            with tempfile.TemporaryDirectory() as folder:
                model = train(graphs[seen], Path(folder) / "model", quick=True, epochs=epochs, seed=seed)
            for coverage in COVERAGES:
                shares[coverage].append(100 * float(held(model, graphs[new], coverage).mean()))
        for coverage, found in shares.items():
            error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else float("nan")
            print(f"{name}: asked {100 * coverage:.0f} %, held {np.mean(found):.1f} % (standard error {error:.1f})")


if __name__ == "__main__":
    main()
