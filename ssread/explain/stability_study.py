"""How far positions of different trainings agree, for learnt positions and for those from the structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd
import torch
from joblib import Parallel, cpu_count, delayed, parallel_config
from sklearn.metrics import adjusted_mutual_info_score
from torch import Tensor

from ssread.common.markdown import markdown_table
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.consensus import majority
from ssread.explain.ground_truth import ground_truth
from ssread.explain.positions import positions
from ssread.explain.retrain import trained_model
from ssread.explain.stability import stability
from ssread.explain.study import FOLDS, Study

__all__ = ["VARIANTS", "StabilityScores", "score_stability"]

#: The ways to positions that are compared, with the arguments of their models.
VARIANTS: dict[str, dict[str, Any]] = {
    "learnt (the paper)": {},
    "structure, 0 hops": {"position_hops": 0},
    "structure, 1 hop": {"position_hops": 1},
    "structure, 2 hops": {"position_hops": 2},
}


@dataclass(frozen=True)
class StabilityScores:
    """The agreement of trainings.

    Attributes:
        dataset: The name of the dataset.
        study: The settings.
        table: A row for every way to positions, with a column per measure; NaN where a measure does not apply.
    """

    dataset: str
    study: Study
    table: pd.DataFrame

    def markdown(self) -> str:
        """The table, with a sentence that says what it shows."""
        rows = [
            [name, *("-" if pd.isna(value) else f"{value:.3f}" for value in values)]
            for name, values in self.table.set_index("positions").iterrows()
        ]
        return (
            f"{self.dataset}: positions of all nodes by {self.study.seeds} trainings, each with its own weights, order "
            f"and training part (four of {FOLDS} folds, less those that choose the epoch). K = {self.study.positions}. "
            "Agreement is the mean over pairs of trainings; accuracy is that of the validation part, means over "
            "trainings.\n\n" + markdown_table(list(self.table.columns), rows)
        )


class _Trained(NamedTuple):
    variant: str
    seed: int
    position: Tensor
    valid_accuracy: float


def score_stability(
    graphs: GraphSet,
    study: Study,
    workers: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> StabilityScores:
    """Trains SSRead once per seed and way to positions, and compares the positions of the trainings.

    Args:
        graphs: Labelled graphs. Where the true roles of nodes are known, positions are compared with them, too.
        study: The settings; at least two seeds.
        workers: The number of processes, by default one per core.
        progress: Callback, called with a line of text after each training.
    """
    if study.seeds < 2:
        raise InputError(f"Agreement of trainings needs two seeds or more, but {study.seeds} was given.")
    try:
        roles = ground_truth(graphs).roles
    except InputError:  # no roles are known: trainings are compared with each other alone
        roles = None
    tasks = [(variant, seed) for seed in range(study.seeds) for variant in VARIANTS]
    trained: list[_Trained] = []
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=min(workers or cpu_count(), len(tasks)), return_as="generator_unordered")
        for one in pool(delayed(_train)(graphs, study, *task) for task in tasks):
            trained.append(one)
            progress(f"{len(trained)} of {len(tasks)}: {one.variant}, seed {one.seed}")
    rows = []
    for variant in VARIANTS:
        own = sorted((one for one in trained if one.variant == variant), key=lambda one: one.seed)
        rows.append({"positions": variant, **_measures([one.position for one in own], roles, study.positions)})
        accuracies = pd.Series([one.valid_accuracy for one in own])
        rows[-1] |= {"accuracy": accuracies.mean(), "sd of accuracy": accuracies.std()}
    return StabilityScores(graphs.name, study, pd.DataFrame(rows))


def _train(graphs: GraphSet, study: Study, variant: str, seed: int) -> _Trained:
    torch.set_num_threads(1)
    run = study.run("SSRead", seed)
    model, result = trained_model(graphs, replace(run, model={**run.model, **VARIANTS[variant]}), study.training)
    return _Trained(variant, seed, positions(model, graphs).position, result.valid_accuracy)


def _measures(trainings: list[Tensor], roles: Tensor | None, num_positions: int) -> dict[str, float]:
    agreement = stability(trainings, num_positions)
    agreed, certainty = majority(trainings, num_positions)
    measures = {
        "AMI between trainings": agreement.mutual_information,
        "same position": agreement.share,
        "certainty of the consensus": float(certainty.mean()),
        "AMI with roles": float("nan"),
        "AMI of the consensus with roles": float("nan"),
    }
    if roles is not None:
        known = roles >= 0
        with_roles = [float(adjusted_mutual_info_score(roles[known], p[known])) for p in (*trainings, agreed)]
        measures["AMI with roles"] = sum(with_roles[:-1]) / len(trainings)
        measures["AMI of the consensus with roles"] = with_roles[-1]
    return measures
