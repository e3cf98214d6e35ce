"""Tables made of new graphs chunk by chunk, in this process or in several worker processes, on cores or on a GPU."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow
import torch
from joblib import cpu_count

from ssread.apply.chunks import Chunk, Rows, chunks_of
from ssread.apply.output_tables import Part
from ssread.apply.trained_model import TrainedModel
from ssread.common.files import temporary_folder
from ssread.common.workers import in_order, one_thread
from ssread.data.skipped import check_on_error, list_rows
from ssread.errors import BadRowsError, InputError
from ssread.evaluate.placement import check_placement

__all__ = ["MakeTable", "Model", "as_model", "choose_device", "loaded", "read_by_workers", "stream"]

#: Makes a table with a row for every row of a chunk.
MakeTable = Callable[[TrainedModel, Rows], pyarrow.Table]

#: Up to this many chunks are processed here: a worker process takes seconds to import what it needs.
FEW_CHUNKS = 8

#: A trained model, or its folder.
Model = TrainedModel | str | os.PathLike[str]


def stream(
    model: Model,
    data: Any,
    make_table: MakeTable,
    workers: int | None = None,
    on_error: str = "skip",
    keep_columns: bool = False,
    device: str = "auto",
    **options: Any,
) -> Iterator[Part]:
    """Yields a table for every chunk of the data, in order; the whole is never in memory.

    Args:
        model: A trained model, or its folder.
        data: As for :meth:`ssread.apply.TrainedModel.read`.
        make_table: Makes the table of a chunk; a function that worker processes can import.
        workers: Worker processes, by default one per core; a few thousand rows are processed without any.
        on_error: ``"skip"``: a row that cannot be used has a problem in its table; ``"raise"``: it raises an error.
        keep_columns: Whether to pass all columns of a table of molecules on.
        device: ``cpu``: every worker process reads rows and evaluates the model; ``cuda``: workers read rows, this
            process evaluates the model on the GPU; ``auto``: the GPU, if there is one, unless rows are few.
        options: Where to find things in the data: ``smiles`` and ``id`` columns.
    """
    check_on_error(on_error)
    for part in _parts(model, data, make_table, workers, keep_columns, device, options):
        if part.skipped and on_error == "raise":
            source = f"{data}: " if isinstance(data, str | os.PathLike) else ""
            count = "one row" if len(part.skipped) == 1 else f"{len(part.skipped)} rows"
            raise BadRowsError(f"{source}{count} cannot be used: {list_rows(part.skipped)}.")
        yield part


def _parts(
    model: Model,
    data: Any,
    make_table: MakeTable,
    workers: int | None,
    keep_columns: bool,
    device: str,
    options: dict[str, Any],
) -> Iterator[Part]:
    check_placement(device, workers)
    trained = as_model(model)
    chunks = chunks_of(trained.features, data, keep_columns=keep_columns, **options)
    first = list(islice(chunks, FEW_CHUNKS + 1))
    few, count = len(first) <= FEW_CHUNKS, workers or cpu_count()
    trained = trained.on(choose_device(device, trained, few))
    every = chain(first, chunks)
    with one_thread():
        if few or count == 1:
            for chunk in every:
                yield _make_part(trained, chunk, make_table)
        elif trained.device.type == "cpu":
            with _saved(model) as folder:
                yield from in_order(_make_part_in_worker, ((folder, chunk, make_table) for chunk in every), count)
        else:
            with _saved(model) as folder:
                yield from read_by_workers(trained, folder, every, make_table, count)


def read_by_workers(
    model: TrainedModel, folder: Path, chunks: Iterable[Chunk], make_table: MakeTable, workers: int
) -> Iterator[Part]:
    """Yields the table of every chunk, in order: worker processes read the rows, the model computes here.

    Args:
        model: The model, on the device that computes.
        folder: The folder of the same model.
        chunks: The chunks.
        make_table: Makes the table of a chunk.
        workers: The number of worker processes.
    """
    for rows in in_order(_read_in_worker, ((folder, chunk) for chunk in chunks), workers):
        yield Part(make_table(model, rows), rows.skipped)


def choose_device(device: str, model: TrainedModel, few: bool = False) -> str | torch.device:
    """Where a model computes.

    Args:
        device: ``auto``, ``cpu`` or a GPU.
        model: The model.
        few: Whether its rows are few: these are done before a GPU is ready.
    """
    if device == "auto":
        return model.device if few or not torch.cuda.is_available() else "cuda"
    if device != "cpu" and not torch.cuda.is_available():
        raise InputError(f"There is no GPU that torch can use for --device {device}; use cpu.")
    return device


def as_model(model: Model) -> TrainedModel:
    """The model itself, or the one loaded from this folder."""
    return model if isinstance(model, TrainedModel) else TrainedModel.load(model)


@contextmanager
def _saved(model: Model) -> Iterator[Path]:
    """The folder that worker processes load the model from; a temporary one for a model in memory."""
    if not isinstance(model, TrainedModel):
        yield Path(model)
        return
    with temporary_folder() as folder:
        model.save(folder / "model")
        yield folder / "model"


def _make_part(model: TrainedModel, chunk: Chunk, make_table: MakeTable) -> Part:
    rows = chunk.read(model.features)
    return Part(make_table(model, rows), rows.skipped)


def _read_in_worker(folder: Path, chunk: Chunk) -> Rows:
    return chunk.read(loaded(folder).features)


def _make_part_in_worker(folder: Path, chunk: Chunk, make_table: MakeTable) -> Part:
    return _make_part(loaded(folder), chunk, make_table)


@lru_cache(maxsize=1)
def loaded(folder: Path) -> TrainedModel:
    """The model of a folder, in a worker process, which loads it once."""
    return TrainedModel.load(folder)
