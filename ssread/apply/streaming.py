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
from ssread.apply.trained_model import TrainedModel
from ssread.common.workers import as_worker, one_thread
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
    **options: Any,
) -> Iterator[pyarrow.Table]:
    """Yields a table for every chunk of the data, in order; the whole is never in memory.

    Args:
        model: A trained model, or its folder.
        data: As for :meth:`ssread.apply.TrainedModel.read`.
        make_table: Makes the table of a chunk; a function that worker processes can import.
        workers: Worker processes, by default one per core; a few thousand rows are processed without any.
        options: Where to find things in the data: ``smiles`` and ``id`` columns.
    """
    check_workers(workers)
    trained = as_model(model)
    chunks = chunks_of(trained.features, data, **options)
    first = list(islice(chunks, FEW_CHUNKS + 1))
    count = workers or cpu_count()
    if len(first) <= FEW_CHUNKS or count == 1:
        with one_thread():
            for chunk in chain(first, chunks):
                yield make_table(trained, chunk.read(trained.features))
        return
    with _saved(model) as folder:
        executor = get_reusable_executor(max_workers=count, env={"OMP_NUM_THREADS": "1"})
        pending: deque[Any] = deque()  # bounds the memory, however fast the workers are
        try:
            for chunk in chain(first, chunks):
                pending.append(executor.submit(_make_table_in_worker, folder, chunk, make_table, os.getpid()))
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


def _make_table_in_worker(folder: Path, chunk: Chunk, make_table: MakeTable, parent: int) -> pyarrow.Table:
    as_worker(parent)
    model = _loaded(folder)
    return make_table(model, chunk.read(model.features))


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> TrainedModel:
    return TrainedModel.load(folder)
