"""What a study of explanations scores, and how; checked without torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.train.runs import Run, Training

__all__ = ["FOLDS", "Study"]

FOLDS = 5


@dataclass(frozen=True)
class Study:
    """What is scored, and how.

    Attributes:
        positions: The number of positions K, and of clusters of the poolings.
        seeds: How often everything is repeated: folds, weights, order of graphs.
        explained: Graphs of the test part whose motif is looked for, drawn at random with the seed; GNNExplainer takes
            a second for each.
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

    def run(self, kind: str, seed: int) -> Run:
        """The training of one kind of model; the first of five folds is the test part."""
        own: dict[str, dict[str, Any]] = {
            "SSRead": {"name": "gcn", "readout": "ssread", "num_positions": self.positions, **self.model},
            "global readout": {"name": "gcn", "readout": "global", **self.model},
            "TopKPool": {"name": "gunet", "readout": "global"},
            "DiffPool": {"name": "diffpool", "readout": "global", "num_clusters": self.positions},
        }
        return Run(own.get(kind, {}), seed, 0, FOLDS)
