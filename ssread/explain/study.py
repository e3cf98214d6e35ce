"""The settings of a study of explanations; checked without torch."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.train.recipes import recipe_named
from ssread.train.runs import Run, Training

__all__ = ["FOLDS", "NO_MODEL", "ROLE_MODELS", "RULE_MODELS", "Study", "study_training"]

#: The name for methods that need no model; the models that positions are compared with, and those for rules.
NO_MODEL = "no model"
ROLE_MODELS = ("SSRead", "global readout", "TopKPool", "DiffPool", NO_MODEL)
RULE_MODELS = ("SSRead", "global readout", "attention readout")

FOLDS = 5

#: Models are built and trained by this recipe, without dropout: it is not chosen by validation here.
RECIPE = "fair"


def study_training(epochs: int = 60) -> Training:
    """The recipe's training for sets of about a thousand graphs: smaller batches, fewer epochs."""
    return dataclasses.replace(recipe_named(RECIPE).training, epochs=epochs, patience=epochs, batch_size=32)


@dataclass(frozen=True)
class Study:
    """The settings of a study.

    Attributes:
        positions: The number of positions K, and of clusters of the poolings.
        seeds: The number of repetitions, each with its own folds, weights and order of graphs.
        explained: The largest number of test graphs in which the motif is localised, drawn at random with the seed.
            GNNExplainer takes about half a second for each.
        training: How models are trained.
        model: Further arguments of all models, such as ``hidden_channels``.
        models: The models that are trained, of :data:`ROLE_MODELS` and :data:`RULE_MODELS`.
    """

    positions: int = 4
    seeds: int = 5
    explained: int = 100
    training: Training = field(default_factory=study_training)
    model: dict[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ROLE_MODELS

    def __post_init__(self) -> None:
        Experiment(positions=self.positions, seeds=self.seeds, training=self.training)  # checks them
        if self.explained < 1:
            raise InputError(f"explained must be 1 or more, but is {self.explained}.")

    def run(self, model: str, seed: int) -> Run:
        """The training of one model; the first of five folds is the test part."""
        arguments: dict[str, dict[str, Any]] = {
            "SSRead": {"name": "gcn", "readout": "ssread", "num_positions": self.positions},
            "global readout": {"name": "gcn", "readout": "global"},
            "attention readout": {"name": "gcn", "readout": "global", "aggr": "attention"},
            "TopKPool": {"name": "gunet", "readout": "global"},
            "DiffPool": {"name": "diffpool", "readout": "global", "num_clusters": self.positions},
        }
        shared = {**recipe_named(RECIPE).model, "dropout": 0.0, **self.model}
        return Run({**shared, **arguments.get(model, {})}, seed, 0, FOLDS)
