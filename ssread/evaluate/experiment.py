"""The settings of a comparison: classifiers, positions, folds and seeds, training.

Settings are checked without importing torch, so that a wrong one is reported at once.
"""

import dataclasses
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssread.common.checking import checked
from ssread.data.properties import PROPERTIES
from ssread.data.split_names import RANDOM, check_split
from ssread.errors import InputError
from ssread.evaluate.significance import MARGIN, fold_ratio
from ssread.metrics import METRICS
from ssread.models.architectures import ARCHITECTURES, check_places
from ssread.train.recipes import DEFAULT, Recipe, recipe_named
from ssread.train.runs import OBJECTIVES, Training

__all__ = ["BASE", "LINEAR_BASE", "POSITIONS", "SHARES", "TASKS", "Experiment", "experiments_of"]

#: The numbers of positions that validation accuracy chooses from, and the classifier it chooses with (section V-A).
POSITIONS = (2, 4, 8, 16)
BASE = ("gcn", "sum")

#: The same for encoders that a linear classifier evaluates: what K is chosen with, and how encoders are built.
LINEAR_BASE = ("gin", "sum")
ENCODER = {"hidden_channels": 32, "dropout": 0.0}

#: Epochs of an encoder that learns without labels: fixed, since choosing the best one would need labels.
UNSUPERVISED_EPOCHS = 100

#: The schema of the settings, with those of the training among them.
SCHEMA = "ssread.evaluate.settings_schema:ComparisonSettings"

#: What may be predicted: the class, or a property of a molecule.
TASKS = ("class", *PROPERTIES)

#: Metrics that a comparison can show in points of a hundred, more being better.
SHARES = [name for name, metric in METRICS.items() if metric.higher_is_better]


@dataclass(frozen=True)
class Experiment:
    """Does SSRead help these classifiers on a dataset?

    Attributes:
        arch: Architectures by name.
        aggr: Aggregations by name, ``max+mean`` for a concatenation; empty for every architecture's own.
        positions: The number of structural positions K, or None to choose it by validation accuracy.
        gamma: The smoothing of the alignment loss.
        dropout: The dropout rate, None for each architecture's own, ``auto`` to choose one of
            the recipe's candidates by validation accuracy of the base classifier with the global readout.
        folds: The number of folds.
        seeds: How often the cross-validation is repeated.
        metric: The metric to compare by, one of :data:`SHARES`; it also chooses the epoch, unless the training says
            otherwise.
        training: How models are trained.
        model: Further arguments of :func:`ssread.models.make_model`, such as ``hidden_channels`` or ``dropout``.
        learn: What encoders learn from: see :data:`ssread.train.runs.OBJECTIVES`.
        task: What is predicted: see :data:`TASKS`.
        split: How folds are drawn: a name of :data:`ssread.data.split_names.SPLITS` or a JSON file of folds.
        margin: Differences up to this many points count as equal.
        position_hops: SSRead's positions from the structure within so many hops, the same in every training, instead of
            learnt ones; None for learnt ones.
    """

    arch: Sequence[str] = ("gcn",)
    aggr: Sequence[str] = ()
    positions: int | None = None
    gamma: float = 0.01
    dropout: float | str | None = None
    folds: int = 10
    seeds: int = 5
    metric: str = "accuracy"
    training: Training = field(default_factory=Training)
    model: Mapping[str, Any] = field(default_factory=dict)
    learn: str = "supervised"
    task: str = "class"
    split: str = RANDOM
    margin: float = 100 * MARGIN
    position_hops: int | None = None

    def __post_init__(self) -> None:
        own = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "training"}
        own["model"] = dict(self.model)
        checked(SCHEMA, {**own, **dataclasses.asdict(self.training)})
        if self.position_hops is not None:
            if self.learn != "supervised":
                raise InputError("position_hops is for models that learn from labels: leave it out.")
            for arch in self.arch:
                check_places(self.position_hops, arch)
        if self.dropout == "auto" and self.linear:
            raise InputError(
                "dropout: auto chooses by the validation accuracy of a classifier with a head, which an encoder "
                "evaluated by a linear classifier does not have: give a number."
            )

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Experiment":
        """Makes an experiment from plain settings, as in a configuration file or on the command line.

        ``arch`` and ``aggr`` may be comma-separated strings, ``positions`` may be ``auto``. The fields of
        :class:`ssread.train.Training` are settings like the others. Defaults come from the recipe; those of the
        architecture and the epochs also depend on ``learn`` and ``task``.
        """
        values = dict(checked(SCHEMA, settings))
        check_split(values.get("split", RANDOM))
        for name in ("arch", "aggr"):
            if name in values:
                values[name] = tuple(_listed(values[name]))
        for name in ("learn", "task"):
            if name in values:
                values[name], *others = _listed(values[name])
                if others:
                    raise InputError(f"An experiment has one {name}, but {values[name]}, {others[0]} are given.")
        recipe = recipe_named(values.get("recipe", DEFAULT))
        values.setdefault("positions", recipe.positions)
        if values["positions"] == "auto":
            values["positions"] = None
        learn, task = values.get("learn", "supervised"), values.get("task", "class")
        if (learn, task) != ("supervised", "class"):
            values.setdefault("arch", LINEAR_BASE[:1])
        if learn != "supervised":
            values.setdefault("epochs", UNSUPERVISED_EPOCHS)
        given = {f.name: values.pop(f.name) for f in dataclasses.fields(Training) if f.name in values}
        if "epochs" in given and recipe.training.patience >= recipe.training.epochs:  # the recipe does not stop early
            given.setdefault("patience", given["epochs"])
        if recipe.training.selection == "accuracy" and (learn, task) == ("supervised", "class"):
            given.setdefault("selection", values.get("metric", "accuracy"))
        training = dataclasses.replace(recipe.training, **given)
        if (learn, task) == ("supervised", "class"):
            values.setdefault("dropout", recipe.dropout)
        return cls(training=training, **values)

    @property
    def recipe(self) -> Recipe:
        """The recipe that settings come from unless they are given."""
        return recipe_named(self.training.recipe)

    @property
    def linear(self) -> bool:
        """Whether a linear classifier on the encoder's vectors is evaluated, not a head trained with the encoder."""
        return (self.learn, self.task) != ("supervised", "class")

    @property
    def base(self) -> tuple[str, str]:
        """The classifier whose validation accuracy chooses K."""
        return LINEAR_BASE if self.linear else BASE

    @property
    def test_to_train(self) -> float:
        """The ratio of test graphs to graphs that are fitted to, for the corrected test.

        Without labels the encoder sees all graphs, and the linear classifier is fitted to the validation part as well.
        """
        return fold_ratio(self.folds) if self.learn == "supervised" else fold_ratio(self.folds, 0)

    def model_of(self, arch: str) -> dict[str, Any]:
        """Returns the arguments of an architecture's model; encoders evaluated linearly return all their layers."""
        recipe = self.recipe.model
        dropout = {} if self.dropout in (None, "auto") else {"dropout": self.dropout}
        if not self.linear:
            return {**recipe, **dropout, **self.model}
        layers = {"jumping": True} if "jumping" in inspect.signature(ARCHITECTURES[arch].encoder).parameters else {}
        return {**recipe, **ENCODER, **layers, **dropout, **self.model}

    def dropouts(self) -> "list[Experiment]":
        """Returns the experiments that ``dropout: auto`` chooses from; only this one if there is no choice."""
        if self.dropout != "auto":
            return [self]
        return [dataclasses.replace(self, dropout=dropout) for dropout in self.recipe.dropouts]

    def cells(self) -> list[tuple[str, str | list[str]]]:
        """Returns every architecture with every aggregation to compare."""
        return [(arch, aggr) for arch in self.arch for aggr in map(_aggregation, self.aggr or [_own(arch)])]


def experiments_of(settings: Mapping[str, Any]) -> list[Experiment]:
    """Returns an experiment for every ``learn`` and ``task``; properties by default with every ``learn``."""
    checked(SCHEMA, settings)
    tasks = _listed(settings.get("task", "class"))
    ways = _listed(settings.get("learn", "supervised" if tasks == ["class"] else OBJECTIVES))
    return [Experiment.of({**settings, "learn": learn, "task": task}) for learn in ways for task in tasks]


def _listed(value: str | Iterable[str]) -> list[str]:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else [*value]


def _own(arch: str) -> str:
    aggr = ARCHITECTURES[arch].aggr
    return aggr if isinstance(aggr, str) else "+".join(aggr)


def _aggregation(name: str) -> str | list[str]:
    return name.split("+") if "+" in name else name
