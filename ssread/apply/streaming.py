"""Work on piece after piece of new graphs: in this process, or in several while one writes the results down."""

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

__all__ = ["Model", "Work", "as_model", "stream"]

#: From a model and the rows of a piece to a table with a line for every row.
Work = Callable[[TrainedModel, Rows], pyarrow.Table]

#: Pieces that are worked on here before worker processes pay: each takes seconds to import what it needs.
FEW = 8

#: A trained model, or its directory.
Model = TrainedModel | str | os.PathLike[str]


def stream(
    model: Model,
    data: Any,
    work: Work,
    workers: int | None = None,
    **options: Any,
) -> Iterator[pyarrow.Table]:
    """A table for every piece of the data, in order; the whole is never in memory.

    Args:
        model: A trained model, or its directory.
        data: As for :meth:`ssread.apply.TrainedModel.read`.
        work: What to do; a function that worker processes can import.
        workers: Worker processes, by default one per core; a few thousand rows are worked on here.
        options: Where things stand: ``smiles`` and ``id`` columns.
    """
    check_workers(workers)
    trained = as_model(model)
    pieces = chunks_of(trained.features, data, **options)
    first = list(islice(pieces, FEW + 1))
    count = workers or cpu_count()
    if len(first) <= FEW or count == 1:
        with one_thread():
            for piece in chain(first, pieces):
                yield work(trained, piece.read(trained.features))
        return
    with _folder_of(model, trained) as folder:
        executor = get_reusable_executor(max_workers=count, env={"OMP_NUM_THREADS": "1"})
        under_way: deque[Any] = deque()  # no more than this is in memory, however fast the workers are
        try:
            for piece in chain(first, pieces):
                under_way.append(executor.submit(_work_in_worker, folder, piece, work, os.getpid()))
                if len(under_way) > 2 * count:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            executor.shutdown(kill_workers=bool(under_way))


def as_model(model: Model) -> TrainedModel:
    """A model, loaded if its directory was named."""
    return model if isinstance(model, TrainedModel) else TrainedModel.load(model)


@contextmanager
def _folder_of(model: Model, trained: TrainedModel) -> Iterator[Path]:
    """The directory that worker processes load the model from."""
    if not isinstance(model, TrainedModel):
        yield Path(model)
        return
    with tempfile.TemporaryDirectory(prefix="ssread-") as folder:
        trained.save(Path(folder) / "model")
        yield Path(folder) / "model"


def _work_in_worker(folder: Path, piece: Chunk, work: Work, parent: int) -> pyarrow.Table:
    as_worker(parent)
    model = _loaded(folder)
    return work(model, piece.read(model.features))


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> TrainedModel:
    return TrainedModel.load(folder)
