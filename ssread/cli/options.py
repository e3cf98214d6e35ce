"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

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
    "TASK",
    "WORKERS",
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
ID = Annotated[str | None, typer.Option(help="Column that identifies the rows. (default: the line number)")]
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
TASK = Annotated[
    str | None,
    typer.Option(help="classification, multilabel or regression. (default: told from the labels)"),
]
WORKERS = Annotated[
    int | None, typer.Option(help="Number of worker processes. (default: one per core; up to 3 on a GPU)")
]
