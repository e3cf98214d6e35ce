"""Predictions or vectors for libraries of molecules: files that outgrow a machine, in parts that survive a kill.

The input is read here, a part of it at a time; a part is parsed, evaluated and written by one worker, on this machine
or on a Ray cluster. With a GPU, workers parse, and this process evaluates and writes. A part has its name once it is
complete, so a command that was killed does only what is missing, and a part that is done twice replaces itself.
"""

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
from joblib import cpu_count

from ssread.apply import chunks as reading
from ssread.apply.checks import check_coverage, check_top
from ssread.apply.chunks import Chunk, Rows, chunks_of
from ssread.apply.embedding import embedding_table
from ssread.apply.library import LibraryFile, library_files
from ssread.apply.model_folder import CONFIG
from ssread.apply.output_tables import RowsCallback
from ssread.apply.part_runners import run_parts
from ssread.apply.parts_folder import Best, Screened, begin, finish, part_path, write_part_of
from ssread.apply.prediction import prediction_table
from ssread.apply.streaming import MakeTable, choose_device, loaded, read_by_workers
from ssread.apply.trained_model import TrainedModel
from ssread.common.files import make_folder
from ssread.common.workers import one_thread
from ssread.errors import InputError
from ssread.evaluate.placement import check_placement

__all__ = ["Screened", "screen"]

#: Chunks of rows in a part: about ten seconds of work.
PART_CHUNKS = 20


@dataclass(frozen=True)
class _Job:
    """What is done to every part; plain data that is sent to workers."""

    model: Path
    what: str
    coverage: float | None
    contributions: bool
    top: int | None
    by: str | None

    @property
    def make_table(self) -> MakeTable:
        """Makes the table of a chunk."""
        if self.what == "embed":
            return embedding_table
        return partial(prediction_table, coverage=self.coverage, contributions=self.contributions)

    @property
    def best(self) -> Best | None:
        """The rows to keep; ``None`` for all."""
        return None if self.top is None else Best(self.top, self.by)


class _Task(NamedTuple):
    """A part to be made: the name of the file that its rows are from, these rows, and where it is written."""

    file: str
    chunks: Sequence[Chunk]
    path: Path


def screen(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    what: str = "predict",
    coverage: float | None = None,
    contributions: bool = False,
    top: int | None = None,
    by: str | None = None,
    smiles: str = "smiles",
    id: str | None = None,
    workers: int | None = None,
    device: str = "auto",
    on: str = "here",
    progress: RowsCallback = None,
) -> Screened:
    """Predicts or embeds a library of molecules into a folder of Parquet parts with a manifest.

    The same call goes on where an earlier one stopped, and refuses to if the model, the options or files that there are
    parts of have changed since. Rows that cannot be used have a ``problem`` in their part, and are listed in
    ``skipped.csv``. The column ``file`` says where a row comes from; other columns of the input are left out.

    Args:
        model: The folder of a model.
        data: A folder of molecule files, a pattern, or one file.
        out: The folder to write.
        what: ``predict`` or ``embed``.
        coverage: As for :func:`ssread.apply.predict`, like ``contributions``.
        top: Keep only the best so many rows, in ``top.parquet``; the parts hold their own best rows.
        by: With ``top``, the column that says what is best, the largest first; by default the first probability or
            number.
        smiles: The column of the SMILES.
        id: The column of the ids.
        workers: Worker processes of this machine; one per core by default.
        device: ``cpu``; ``cuda``: workers read rows, this process evaluates the model on the GPU; or ``auto``: the GPU,
            if there is one. A cluster computes on cores.
        on: ``here``, or a Ray cluster: ``ray`` or ``ray://host:port``; its nodes must see the folders.
        progress: Callback, called with the number of rows done.
    """
    check_top(top, by)
    check_placement(device, workers, on)
    if on != "here" and device not in ("auto", "cpu"):
        raise InputError(f"A Ray cluster screens on cores: leave --device {device} out, or --on {on}.")
    folder, files = Path(out), library_files(data, out)
    trained = TrainedModel.load(model)
    trained = trained.on(choose_device(device if on == "here" else "cpu", trained))
    check_coverage(coverage, calibrated=trained.calibration is not None)
    job = _Job(Path(model).resolve(), what, coverage, contributions, top, by)
    parts = _parts(files, trained, smiles, id)
    # What is wrong with the columns is found before anything is written. The iterator does not keep the first part.
    parts = chain(iter(list(islice(parts, 1))), parts)
    if job.best is not None:
        job.best.column(job.make_table(trained, Rows([], [], {}, None)))
    make_folder(folder)
    begin(folder, _options(job, smiles, id), files)
    found = rows = 0

    def tasks() -> Iterator[_Task]:
        nonlocal found, rows
        for number, (file, chunks) in enumerate(parts):
            path = part_path(folder, number)
            if path.is_file():  # complete, since it has its name
                found += 1
                rows += sum(map(len, chunks))
                continue
            yield _Task(file, chunks, path)

    if _evaluates_here(trained):
        counts = _write_here(trained, job, tasks(), workers or cpu_count())
    else:
        counts = run_parts(write_part, ((job, task) for task in tasks()), workers, on)
    for done in counts:
        rows += done
        if progress is not None:
            progress(rows)
    return finish(folder, job.best, found)


def _parts(
    files: Sequence[LibraryFile], model: TrainedModel, smiles: str, id: str | None
) -> Iterator[tuple[str, list[Chunk]]]:
    """The rows of all files in order, a part at a time; a part is of one file."""
    begun = False
    for file in files:
        try:
            chunks = chunks_of(model.features, file.path, smiles=smiles, id=id)
            while some := list(islice(chunks, PART_CHUNKS)):
                yield file.name, some
                begun = True
        except InputError as error:
            more = " When the file is corrected or removed, the same command continues." if begun else ""
            raise InputError(f"{error}{more}") from None


def _options(job: _Job, smiles: str, id: str | None) -> dict[str, Any]:
    """What decides the content of the parts beside the library."""
    digest = hashlib.sha256((job.model / CONFIG).read_bytes()).hexdigest()
    rows = reading.CHUNK_ROWS * PART_CHUNKS
    return {**asdict(job), "model": digest, "smiles": smiles, "id": id, "rows_of_a_part": rows}


def write_part(job: _Job, task: _Task) -> int:
    """Parses, evaluates and writes one part; returns the number of its rows. Runs in a worker."""
    import torch

    torch.set_num_threads(1)
    model = loaded(job.model)
    tables = [job.make_table(model, chunk.read(model.features)) for chunk in task.chunks]
    return write_part_of(task.file, tables, task.path, job.best)


def _evaluates_here(model: TrainedModel) -> bool:
    """Whether this process evaluates the model, and workers only parse."""
    return model.device.type != "cpu"


def _write_here(model: TrainedModel, job: _Job, tasks: Iterable[_Task], workers: int) -> Iterator[int]:
    """Writes the parts one after another, and yields the numbers of their rows: worker processes read the rows."""
    under_way: deque[_Task] = deque()

    def chunks() -> Iterator[Chunk]:
        for task in tasks:
            under_way.append(task)
            yield from task.chunks

    tables: list[pyarrow.Table] = []
    with one_thread():
        for part in read_by_workers(model, job.model, chunks(), job.make_table, workers):
            tables.append(part.table)
            if len(tables) == len(under_way[0].chunks):
                task = under_way.popleft()
                yield write_part_of(task.file, tables, task.path, job.best)
                tables = []
