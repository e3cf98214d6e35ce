"""The models that a search within a budget of trainings tries, and how many of them go on to the next round."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssread.errors import InputError
from ssread.models.architectures import READOUTS, hops_of
from ssread.train.recipes import DEFAULT, recipe_named

__all__ = ["Budget", "Candidate", "candidates", "make_candidate", "num_candidates", "num_trainings", "rounds"]

#: Trainings of a search unless the caller says otherwise.
TRAININGS = 30

#: Minutes in a unit of time.
UNITS = {"min": 1, "m": 1, "h": 60}

#: The architectures unless the caller names one: on a few hundred to a few thousand graphs no larger one is better, and
#: which of these is best depends on the data.
ARCHITECTURES = ("gcn", "gin")

#: What is tried; the first value of each is the usual one.
SPACE: Mapping[str, Sequence[Any]] = {
    "hidden_channels": (128, 64, 192),
    "num_layers": (3, 4, 5, 2),
    "dropout": (0.2, 0.0, 0.4),
    "num_positions": (4, 2, 8),
    "learning_rate": (1e-3, 5e-4, 2e-3),
}

#: After the first fold the best third is trained on a second one, and the best two of these on all.
SHARE, FINALISTS = 3, 2


@dataclass(frozen=True)
class Budget:
    """How much a search may take.

    Attributes:
        trainings: The number of trainings; ``None`` if time is given instead.
        minutes: About how long the trainings of the search take; ``None`` if their number is given instead.
    """

    trainings: int | None = TRAININGS
    minutes: float | None = None

    @classmethod
    def parse(cls, text: str | int | None) -> Budget:
        """Reads a number of trainings, or a time.

        >>> Budget.parse(12), Budget.parse("1.5 h"), Budget.parse(None)
        (Budget(trainings=12, minutes=None), Budget(trainings=None, minutes=90.0), Budget(trainings=30, minutes=None))
        """
        if text is None:
            return cls()
        found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)\s*(min|m|h)?", str(text).strip())
        if found is None or float(found[1]) == 0 or (found[2] is None and "." in found[1]):
            raise InputError(
                "budget must be 1 to 999999 trainings, such as 30, or a time, such as 10min or 1h, "
                f"but {str(text)[:50]} was given."
            )
        if found[2] is None:
            return cls(int(found[1]))
        return cls(None, float(found[1]) * UNITS[found[2]])

    def num_trainings(self, seconds: float) -> int:
        """Returns the number of trainings if one takes so many seconds, those beside it counted in."""
        if self.minutes is None:
            assert self.trainings is not None
            return self.trainings
        return max(1, int(60 * self.minutes / max(seconds, 1e-3)))

    def __str__(self) -> str:
        return f"{self.trainings} trainings" if self.minutes is None else f"{self.minutes:g} minutes"


@dataclass(frozen=True)
class Candidate:
    """Arguments of a model, and the learning rate it is trained with."""

    model: dict[str, Any]
    learning_rate: float

    @property
    def name(self) -> str:
        """The candidate in a few words."""
        model, aggr = self.model, self.model.get("aggr")
        named = "" if aggr is None else f", {aggr if isinstance(aggr, str) else '+'.join(aggr)}"
        hops = model.get("position_hops")
        source = "learnt" if hops is None else f"{hops} hop{'s' * (hops != 1)}"
        readout = f"SSRead, K = {model['num_positions']}, {source}" if "num_positions" in model else "global readout"
        size = f"{model['num_layers']} layers of {model['hidden_channels']}, " if "num_layers" in model else ""
        return f"{model['name']} ({readout}{named}, {size}dropout {model['dropout']:g}, rate {self.learning_rate:g})"


def candidates(
    count: int,
    *,
    arch: str | None = None,
    readout: str | None = None,
    aggr: str | list[str] | None = None,
    positions: int | None = None,
    position_hops: int | str | None = None,
    seed: int = 0,
) -> list[Candidate]:
    """Returns ``count`` different candidates: first the usual settings of every architecture and readout, then others.

    The others are drawn at random, with a seed. What is named is fixed. There may be fewer if no more differ.
    """
    names, reads = [arch] if arch else ARCHITECTURES, [readout] if readout else READOUTS
    kinds = [(name, read) for name in names for read in reads]
    usual = {name: values[0] for name, values in SPACE.items()}
    fixed = {"position_hops": position_hops} | ({} if positions is None else {"num_positions": positions})
    found = [make_candidate(*kind, aggr, usual | fixed, sizes=False) for kind in kinds]
    generator = random.Random(seed)
    for _ in range(50 * count):
        if len(found) >= count:
            break
        drawn = {name: generator.choice(values) for name, values in SPACE.items()}
        candidate = make_candidate(*generator.choice(kinds), aggr, drawn | fixed, sizes=True)
        if candidate not in found:
            found.append(candidate)
    return found[:count]


def make_candidate(
    arch: str, readout: str, aggr: str | list[str] | None, settings: Mapping[str, Any], *, sizes: bool
) -> Candidate:
    """Returns the candidate with these settings of :data:`SPACE`, and positions by :func:`hops_of`.

    Without ``sizes`` it has the architecture's own.
    """
    model = {"name": arch, "readout": readout, "dropout": settings["dropout"], **recipe_named(DEFAULT).model}
    if sizes:
        model |= {"hidden_channels": settings["hidden_channels"], "num_layers": settings["num_layers"]}
    if aggr is not None:
        model["aggr"] = aggr
    if readout == "ssread":
        model["num_positions"] = settings["num_positions"]
        if (hops := hops_of(settings.get("position_hops"), arch, readout)) is not None:
            model["position_hops"] = hops
    return Candidate(model, settings["learning_rate"])


def rounds(count: int, folds: int) -> list[tuple[int, int]]:
    """Returns how many candidates are trained on how many folds (so far) in every round.

    >>> rounds(18, 5), rounds(1, 5)
    ([(18, 1), (6, 2), (2, 5)], [(1, 5)])
    """
    if count == 1:
        return [(1, folds)]
    finalists = min(FINALISTS, count)
    steps = [(count, 1), (max(finalists, -(-count // SHARE)), min(2, folds)), (finalists, folds)]
    return [step for step, following in zip(steps, [*steps[1:], None], strict=True) if step != following]


def num_trainings(count: int, folds: int) -> int:
    """Returns how many trainings a search takes.

    >>> num_trainings(18, 5)
    30
    """
    before, total = 0, 0
    for kept, upto in rounds(count, folds):
        total += kept * (upto - before)
        before = upto
    return total


def num_candidates(budget: int, folds: int) -> int:
    """Returns how many candidates a budget of trainings allows for; at least one, which takes a training per fold."""
    count = 1
    while num_trainings(count + 1, folds) <= budget:
        count += 1
    return count
