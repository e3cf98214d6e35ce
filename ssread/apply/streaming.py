"""Tables made of new graphs chunk by chunk, in this process or in several worker processes."""

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow
from joblib import cpu_count
from joblib.externals.loky import get_reusable_executor

from ssread.apply.chunks import Chunk, Rows, chunks_of
from ssread.apply.output_tables import Part
from ssread.apply.trained_model import TrainedModel
from ssread.common.workers import as_worker, one_thread
from ssread.data.skipped import check_on_error, list_rows
from ssread.errors import BadRowsError
from ssread.evaluate.placement import check_workers

__all__ = ["MakeTable", "Model", "as_model", "stream"]

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
        options: Where to find things in the data: ``smiles`` and ``id`` columns.
    """
    check_on_error(on_error)
    for part in _parts(model, data, make_table, workers, keep_columns, options):
        if part.skipped and on_error == "raise":
            source = f"{data}: " if isinstance(data, str | os.PathLike) else ""
            count = "one row" if len(part.skipped) == 1 else f"{len(part.skipped)} rows"
            raise BadRowsError(f"{source}{count} cannot be used: {list_rows(part.skipped)}.")
        yield part


def _parts(
    model: Model, data: Any, make_table: MakeTable, workers: int | None, keep_columns: bool, options: dict[str, Any]
) -> Iterator[Part]:
    check_workers(workers)
    trained = as_model(model)
    chunks = chunks_of(trained.features, data, keep_columns=keep_columns, **options)
    first = list(islice(chunks, FEW_CHUNKS + 1))
    count = workers or cpu_count()
    if len(first) <= FEW_CHUNKS or count == 1:
        with one_thread():
            for chunk in chain(first, chunks):
                yield _make_part(trained, chunk, make_table)
        return
    with _saved(model) as folder:
        executor = get_reusable_executor(max_workers=count, env={"OMP_NUM_THREADS": "1"})
        pending: deque[Any] = deque()  # bounds the memory, however fast the workers are
        try:
            for chunk in chain(first, chunks):
                pending.append(executor.submit(_make_part_in_worker, folder, chunk, make_table, os.getpid()))
                if len(pending) > 2 * count:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            executor.shutdown(kill_workers=bool(pending))


def as_model(model: Model) -> TrainedModel:
    """The model itself, or the one loaded from this folder."""
    return model if isinstance(model, TrainedModel) else TrainedModel.load(model)


@contextmanager
def _saved(model: Model) -> Iterator[Path]:
    """The folder that worker processes load the model from; a temporary one for a model in memory."""
    if not isinstance(model, TrainedModel):
        yield Path(model)
        return
    with tempfile.TemporaryDirectory(prefix="ssread-") as folder:
        model.save(Path(folder) / "model")
        yield Path(folder) / "model"


def _make_part(model: TrainedModel, chunk: Chunk, make_table: MakeTable) -> Part:
    rows = chunk.read(model.features)
    return Part(make_table(model, rows), rows.skipped)


def _make_part_in_worker(folder: Path, chunk: Chunk, make_table: MakeTable, parent: int) -> Part:
    as_worker(parent)
    return _make_part(_loaded(folder), chunk, make_table)


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> TrainedModel:
    return TrainedModel.load(folder)
