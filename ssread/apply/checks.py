"""Options that cannot be, refused without torch: the command line asks here before it imports what does the work."""

import os
from pathlib import Path
from typing import Any

from ssread.apply.model_folder import read_config
from ssread.apply.search import ARCHITECTURES, Budget
from ssread.common.files import refuse_existing
from ssread.data.skipped import skipped_path
from ssread.data.split_names import RANDOM, check_split
from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.placement import check_placement
from ssread.metrics import check_metric
from ssread.models.architectures import check_readout, find_architecture, hops_of
from ssread.train.runs import Training

__all__ = [
    "FORMATS",
    "TABLES",
    "VECTORS",
    "check_apart",
    "check_coverage",
    "check_ending",
    "check_top",
    "check_training",
    "check_use",
    "export_path",
]

#: Endings of the files that predictions and vectors are written to.
TABLES = (".csv", ".parquet")
VECTORS = (*TABLES, ".npy")

#: The ending of an exported model by its format.
FORMATS = {"onnx": ".onnx", "torch": ".pt2"}


def check_training(
    out: str | os.PathLike[str],
    *,
    arch: str | None = None,
    readout: str | None = None,
    aggr: str | None = None,
    positions: int | None = None,
    position_hops: int | str | None = None,
    ensemble: int = 1,
    epochs: int | None = None,
    metric: str | None = None,
    split: str = RANDOM,
    budget: str | int | None = None,
    folds: int | None = None,
    device: str = "auto",
    workers: int | None = None,
) -> None:
    """Raises an ``InputError`` for options of :func:`ssread.apply.train` that no data make right."""
    if arch is not None:
        find_architecture(arch)
    if readout is not None:
        check_readout(readout)
    training = Training() if epochs is None else Training(epochs=epochs)
    hops_of(position_hops, arch or ARCHITECTURES[0], readout or "ssread")
    Experiment(aggr=() if aggr is None else (aggr,), positions=positions, training=training)
    if metric is not None:
        check_metric(metric)
    check_split(split)
    if folds is not None and folds < 2:
        raise InputError(f"folds must be 2 or more, but {folds} was given.")
    Budget.parse(budget)
    if ensemble < 1:
        raise InputError(f"ensemble must be 1 or more, but {ensemble} was given.")
    check_placement(device, workers)
    refuse_existing(Path(out))


def check_use(
    model: Path,
    data: str,
    out: Path,
    endings: tuple[str, ...],
    workers: int | None,
    coverage: float | None = None,
    device: str = "auto",
) -> None:
    """Raises an ``InputError`` unless a folder holds a model and its results can be written to a file of this name."""
    check_ending(out, endings)
    check_apart(data, out)
    check_placement(device, workers)
    check_coverage(coverage, calibrated=read_config(model).get("calibration") is not None)


def check_apart(data: Any, out: str | os.PathLike[str]) -> None:
    """Raises an ``InputError`` if ``out``, or the list of rows that is written beside it, is the file of the data."""
    if not isinstance(data, str | os.PathLike):
        return
    source = os.path.expanduser(data)
    for path in (Path(out), skipped_path(Path(out))):
        if os.path.isfile(source) and os.path.isfile(path) and os.path.samefile(source, path):
            raise InputError(f"{path} has the data: choose another name than {out}, which would replace them.")


def check_coverage(coverage: float | None, calibrated: bool) -> None:
    """Raises an ``InputError`` unless sets or intervals of this coverage can be given, or none are asked for."""
    if coverage is None:
        return
    if not 0 < coverage < 1:
        raise InputError(f"coverage must lie between 0 and 1, such as 0.9, but {coverage} was given.")
    if not calibrated:
        raise InputError(
            "The model has no calibration, so that no coverage can be promised: train it again with ssread train."
        )


def check_top(top: int | None, by: str | None) -> None:
    """Raises an ``InputError`` unless so many best rows can be kept, or all are and no column says which are best."""
    if top is not None and top < 1:
        raise InputError(f"--top must be 1 or more, but {top} was given.")
    if by is not None and top is None:
        raise InputError(f"--by says which rows --top keeps: give --top N too, or leave --by {by!r} out.")


def check_ending(path: Path, endings: tuple[str, ...] = TABLES) -> None:
    """Raises an ``InputError`` unless the file's ending is one that can be written."""
    if path.suffix.lower() not in endings:
        raise InputError(f"{path} cannot be written: choose a name that ends in {' or '.join(endings)}.")


def export_path(
    folder: str | os.PathLike[str] | None, format: str = "onnx", out: str | os.PathLike[str] | None = None
) -> Path:
    """The file that a model is exported to: ``out``, or one next to the model's folder with the format's ending."""
    if format not in FORMATS:
        raise InputError(f"There is no format {format!r}. Choose one of {', '.join(FORMATS)}.")
    if out is None:
        if folder is None:
            raise InputError("A model in memory has no folder to put the file next to: name the file with out.")
        model = Path(folder).resolve()
        if not model.name:
            raise InputError(f"{folder} is not the folder of a model, as ssread train writes it.")
        out = model.with_name(f"{model.name}{FORMATS[format]}")
    path = Path(out)
    if path.suffix.lower() != FORMATS[format]:
        raise InputError(f"{path} cannot be written as {format}: choose a name that ends in {FORMATS[format]}.")
    return path
