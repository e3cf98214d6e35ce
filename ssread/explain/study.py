"""The settings of a study of explanations; checked without torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.train.runs import Run, Training

__all__ = ["FOLDS", "NO_MODEL", "TRAINED", "Study"]

#: The models that are trained, and the name for methods that need none.
TRAINED = ("SSRead", "global readout", "TopKPool", "DiffPool")
NO_MODEL = "no model"

FOLDS = 5


@dataclass(frozen=True)
class Study:
    """The settings of a study.

    Attributes:
        positions: The number of positions K, and of clusters of the poolings.
        seeds: The number of repetitions, each with its own folds, weights and order of graphs.
        explained: The largest number of test graphs in which the motif is localised, drawn at random with the seed.
            GNNExplainer takes about a second for each.
        training: How models are trained.
        model: Further arguments of the GCN, such as ``hidden_channels``.
    """

    positions: int = 4
    seeds: int = 5
    explained: int = 100
    training: Training = field(default_factory=Training)
    model: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Experiment(positions=self.positions, seeds=self.seeds, training=self.training)  # checks them
        if self.explained < 1:
            raise InputError(f"explained must be 1 or more, but {self.explained} was given.")

    def run(self, model: str, seed: int) -> Run:
        """The training of one model; the first of five folds is the test part."""
        arguments: dict[str, dict[str, Any]] = {
            "SSRead": {"name": "gcn", "readout": "ssread", "num_positions": self.positions, **self.model},
            "global readout": {"name": "gcn", "readout": "global", **self.model},
            "TopKPool": {"name": "gunet", "readout": "global"},
            "DiffPool": {"name": "diffpool", "readout": "global", "num_clusters": self.positions},
        }
        return Run(arguments.get(model, {}), seed, 0, FOLDS)
