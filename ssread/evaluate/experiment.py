"""The settings of a comparison: classifiers, positions, folds and seeds, training.

Settings are checked without importing torch, so that a wrong one is reported at once.
"""

import dataclasses
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssread.data.properties import PROPERTIES
from ssread.data.split_names import RANDOM, check_split
from ssread.errors import InputError
from ssread.evaluate.significance import MARGIN, fold_ratio
from ssread.metrics import METRICS
from ssread.models.architectures import AGGREGATIONS, ARCHITECTURES
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

    def __post_init__(self) -> None:
        _one_of("way to learn", self.learn, OBJECTIVES)
        _one_of("task", self.task, TASKS)
        for name in self.arch:
            _one_of("architecture", name, ARCHITECTURES)
        for name in self.aggr:
            for part in name.split("+"):
                _one_of("aggregation", part, AGGREGATIONS)
        _one_of("metric", self.metric, SHARES)
        _one_of("precision", self.training.precision, ("float32", "tf32"))
        _one_of("schedule", self.training.schedule, ("constant", "cosine"))
        _one_of("selection", self.training.selection, (*METRICS, "loss", "seen"))
        if not self.arch:
            raise InputError("A comparison needs at least one architecture.")
        for name, value, least in (
            ("positions", self.positions, 1),
            ("folds", self.folds, 2),
            ("seeds", self.seeds, 1),
            ("epochs", self.training.epochs, 1),
            ("patience", self.training.patience, 1),
            ("batch_size", self.training.batch_size, 1),
            ("gamma", self.gamma, 0),
            ("margin", self.margin, 0),
        ):
            if value is not None and not value >= least:
                raise InputError(f"{name} must be {least} or more, but {value} was given.")
        if isinstance(self.dropout, float) and not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be at least 0 and below 1, but {self.dropout} was given.")
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
        own = {f.name: f for f in dataclasses.fields(cls) if f.name != "training"}
        of_training = {f.name: f for f in dataclasses.fields(Training)}
        unknown = [name for name in settings if name not in own and name not in of_training]
        if unknown:
            known = ", ".join(sorted([*own, *of_training]))
            raise InputError(f"There is no setting {unknown[0]!r}. Choose from {known}.")
        values = {name: _typed(name, value) for name, value in settings.items()}
        check_split(values.get("split", RANDOM))
        learn, task = values.get("learn", "supervised"), values.get("task", "class")
        if (learn, task) != ("supervised", "class"):
            values.setdefault("arch", LINEAR_BASE[:1])
        if learn != "supervised":
            values.setdefault("epochs", UNSUPERVISED_EPOCHS)
        recipe = recipe_named(values.get("recipe", DEFAULT))
        given = {name: value for name, value in values.items() if name in of_training}
        if "epochs" in given and recipe.training.patience >= recipe.training.epochs:  # the recipe does not stop early
            given.setdefault("patience", given["epochs"])
        if recipe.training.selection == "accuracy" and (learn, task) == ("supervised", "class"):
            given.setdefault("selection", values.get("metric", "accuracy"))
        training = dataclasses.replace(recipe.training, **given)
        if (learn, task) == ("supervised", "class"):
            values.setdefault("dropout", recipe.dropout)
        return cls(training=training, **{name: value for name, value in values.items() if name in own})

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
        dropout = {"dropout": self.dropout} if isinstance(self.dropout, float) else {}
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
    tasks = _listed(settings.get("task", "class"))
    ways = _listed(settings.get("learn", "supervised" if tasks == ["class"] else OBJECTIVES))
    return [Experiment.of({**settings, "learn": learn, "task": task}) for learn in ways for task in tasks]


def _listed(value: Any) -> list[str]:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else [str(part) for part in value]


def _own(arch: str) -> str:
    aggr = ARCHITECTURES[arch].aggr
    return aggr if isinstance(aggr, str) else "+".join(aggr)


def _aggregation(name: str) -> str | list[str]:
    return name.split("+") if "+" in name else name


def _one_of(what: str, name: str, choices: Iterable[str]) -> None:
    if name not in choices:
        raise InputError(f"There is no {what} {name!r}. Choose from {', '.join(choices)}.")


def _typed(name: str, value: Any) -> Any:
    if name == "positions" and value in (None, "auto"):
        return None
    if name == "dropout" and value in (None, "auto"):
        return value
    kinds: dict[str, type] = {"gamma": float, "dropout": float, "learning_rate": float, "weight_decay": float}
    kinds |= {"averaging": float, "margin": float, "metric": str, "precision": str, "learn": str, "task": str}
    kinds |= {"split": str, "schedule": str, "selection": str, "recipe": str}
    try:
        if name in ("arch", "aggr"):
            return (
                tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else tuple(map(str, value))
            )
        if name == "model":
            return dict(value)
        kind = kinds.get(name, int)
        if kind is int and int(value) != float(value):
            raise ValueError
        return kind(value)
    except (TypeError, ValueError):
        kind_of = {int: "a whole number", float: "a number", str: "a text"}[kinds.get(name, int)]
        wanted = {"model": "settings by name", "arch": "names", "aggr": "names"}.get(name, kind_of)
        words = " or auto" if name in ("positions", "dropout") else ""
        raise InputError(f"{name} cannot be {value!r}: give {wanted}{words}.") from None
