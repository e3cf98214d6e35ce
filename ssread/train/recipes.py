"""Training recipes by name: every setting of how models are built and trained.

``docs/recipes.md`` shows them side by side. The name is part of every stored result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ssread.errors import InputError
from ssread.train.runs import Training

__all__ = ["DEFAULT", "RECIPES", "Recipe", "recipe_named"]

DEFAULT = "fair"


@dataclass(frozen=True)
class Recipe:
    """A named set of settings.

    Attributes:
        about: A one-sentence description.
        training: How models are trained.
        model: Arguments of every model.
        dropout: The dropout rate, None for each architecture's own, ``auto`` to choose it by validation accuracy.
        dropouts: The rates that ``auto`` chooses from.
        positions: The number of structural positions K, None to choose it by validation accuracy.
    """

    about: str
    training: Training
    model: Mapping[str, Any] = field(default_factory=dict)
    dropout: float | str | None = None
    dropouts: tuple[float | None, ...] = (None, 0.0)
    positions: int | None = None


RECIPES = {
    "fair": Recipe(
        "Ours: normalised graph vectors, positions read before dropout, a falling learning rate, averaged weights.",
        Training(epochs=150, patience=150, schedule="cosine", averaging=0.1, recipe="fair"),
        {"normalize": True},
        "auto",
        (0.0, 0.3),
    ),
    "paper": Recipe(
        "What the paper's text says: sums as they are, one learning rate, the epoch of the best validation accuracy.",
        Training(),
    ),
    "public": Recipe(
        "The authors' public code: width 300, 500 epochs, the epoch chosen with the training part.",
        Training(epochs=500, patience=500, selection="seen", recipe="public"),
        {"hidden_channels": 300, "dropout": 0.5, "epsilon": 1e-12},
        dropouts=(0.5,),
        positions=4,  # chosen with the training part, the largest K would win
    ),
}


def recipe_named(name: str) -> Recipe:
    """Returns a recipe by its name."""
    if name not in RECIPES:
        raise InputError(f"There is no recipe {name!r}. Choose from {', '.join(RECIPES)}.")
    return RECIPES[name]
