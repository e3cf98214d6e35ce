"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "DEGREE",
    "DEVICE",
    "FOLDS",
    "ID",
    "LABEL",
    "MODEL",
    "ON",
    "OUT",
    "RECIPE",
    "SEEDS",
    "SMILES",
    "SPLIT",
    "STRICT",
    "TASK",
    "WORKERS",
    "on_error",
]

DEGREE = Annotated[
    bool,
    typer.Option(
        "--degree",
        help="Nodes without labels (IMDB-BINARY, IMDB-MULTI) get their degree as a feature instead of a constant.",
    ),
]
DEVICE = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
FOLDS = Annotated[int | None, typer.Option(help="Number of cross-validation folds. (default: 10)")]
ID = Annotated[
    str | None, typer.Option(help="Column that identifies the rows. (default: a molecule's name, or the line number)")
]
LABEL = Annotated[
    str | None,
    typer.Option(help="Column of a file of molecules to predict; several with commas between. (default: label)"),
]
MODEL = Annotated[Path, typer.Argument(help="The folder of a model, as ssread train writes it.")]
ON = Annotated[str, typer.Option(help="Where trainings run: here, ray, or ray://host:port.")]
OUT = Annotated[Path, typer.Option(help="Folder for the results; a command that is run again continues from there.")]
RECIPE = Annotated[
    str | None,
    typer.Option(help="How models are built and trained: fair, paper or public (docs/recipes.md). (default: fair)"),
]
SEEDS = Annotated[int | None, typer.Option(help="Number of repetitions, each with its own seed. (default: 5)")]
SMILES = Annotated[
    str | None, typer.Option(help="Column of a file of molecules that holds the SMILES. (default: smiles)")
]
SPLIT = Annotated[
    str | None,
    typer.Option(
        help="How folds are drawn: random, scaffold, duplicates, groups:COLUMN, parts:COLUMN, time:COLUMN, or a JSON "
        "file. (default: random)"
    ),
]
TASK = Annotated[
    str | None,
    typer.Option(help="classification, multilabel or regression. (default: detected from the labels)"),
]
STRICT = Annotated[
    bool, typer.Option("--strict", help="Stop at a row that cannot be used, instead of leaving such rows out.")
]
WORKERS = Annotated[
    int | None, typer.Option(help="Number of worker processes. (default: one per core; up to 4 for each GPU)")
]


def number_or_word(text: str | None) -> int | float | str | None:
    """What a settings file would hold for an option that takes a number or a word.

    >>> number_or_word("8"), number_or_word("0.5"), number_or_word("auto")
    (8, 0.5, 'auto')
    """
    for kind in (int, float):
        try:
            return kind(text or "")
        except ValueError:
            continue
    return text


def on_error(strict: bool, settings: dict[str, Any] | None = None) -> str:
    """What the library calls ``--strict``; without it, what a settings file says, which is taken out of it, or skip."""
    found = (settings or {}).pop("on_error", "skip")
    return "raise" if strict else found
