"""Predictions or vectors for libraries of molecules: files that outgrow a machine, in parts that survive a kill.

The input is read here, a part of it at a time; a part is parsed, evaluated and written by one worker, on this machine
or on a Ray cluster. With a GPU, workers parse, and this process evaluates and writes. A part has its name once it is
complete, so a command that was killed does only what is missing, and a part that is done twice replaces itself.
"""

import csv
import glob
import hashlib
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow
import pyarrow.compute
import pyarrow.parquet
from joblib import cpu_count

from ssread.apply import chunks as reading
from ssread.apply.checks import check_coverage
from ssread.apply.chunks import Chunk, chunks_of
from ssread.apply.embedding import embedding_table
from ssread.apply.model_folder import CONFIG
from ssread.apply.output_tables import RowsCallback
from ssread.apply.part_runners import run_parts
from ssread.apply.prediction import prediction_table
from ssread.apply.streaming import MakeTable, choose_device, loaded, read_by_workers
from ssread.apply.trained_model import TrainedModel
from ssread.common.checking import parse_json, read_text
from ssread.common.files import make_folder, replacing, write_json
from ssread.common.workers import one_thread
from ssread.data.sources import MOLECULE_ENDINGS, ending_of
from ssread.errors import InputError
from ssread.evaluate.placement import check_placement

__all__ = ["MANIFEST", "Screened", "library_files", "screen"]

#: What is told of a row that cannot be used.
BAD_COLUMNS = ["file", "id", "smiles", "problem"]

MANIFEST, SKIPPED, TOP = "manifest.json", "skipped.csv", "top.parquet"

#: Chunks of rows in a part: about ten seconds of work.
PART_CHUNKS = 20


class Screened(NamedTuple):
    """What was written: the folder, its rows, those without a result, and how many parts were there already."""

    folder: Path
    rows: int
    problems: int
    parts: int
    found: int


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


class _Task(NamedTuple):
    """A part to be made: the name of the file that its rows are from, these rows, and where it is written."""

    file: str
    chunks: Sequence[Chunk]
    path: Path


def library_files(data: str | os.PathLike[str]) -> list[Path]:
    """The files of molecules in a folder, those that fit a pattern such as ``library/*.smi.gz``, or one file."""
    path = Path(data).expanduser()
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and ending_of(p) in MOLECULE_ENDINGS)
    else:
        found = sorted(Path(name) for name in glob.glob(str(path), recursive=True) if Path(name).is_file())
    wrong = [p for p in found if ending_of(p) not in MOLECULE_ENDINGS]
    if wrong or not found:
        what = f"{wrong[0]} is not one" if wrong else f"{data} has none"
        raise InputError(f"Files of molecules are needed, which end in {', '.join(MOLECULE_ENDINGS)}, but {what}.")
    return found


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

    The same call goes on where an earlier one stopped. Rows that cannot be used have a ``problem`` in their part, and
    are listed in ``skipped.csv``. The column ``file`` says where a row comes from.

    Args:
        model: The folder of a model.
        data: A folder of molecule files, a pattern, or one file.
        out: The folder to write.
        what: ``predict`` or ``embed``.
        coverage: As for :func:`ssread.apply.predict`, like ``contributions``.
        top: Keep only the best so many rows, in ``top.parquet``; the parts hold their own best rows.
        by: The column that says what is best, the largest first; by default the first probability or number.
        smiles: The column of the SMILES.
        id: The column of the ids.
        workers: Worker processes of this machine; one per core by default.
        device: ``cpu``; ``cuda``: workers read rows, this process evaluates the model on the GPU; or ``auto``: the GPU,
            if there is one. A cluster computes on cores.
        on: ``here``, or a Ray cluster: ``ray`` or ``ray://host:port``; its nodes must see the folders.
        progress: Callback, called with the number of rows done.
    """
    check_placement(device, workers, on)
    if on != "here" and device not in ("auto", "cpu"):
        raise InputError(f"A Ray cluster screens on cores: leave --device {device} out, or --on {on}.")
    folder, files = Path(out), library_files(data)
    trained = TrainedModel.load(model)
    trained = trained.on(choose_device(device if on == "here" else "cpu", trained))
    check_coverage(coverage, calibrated=trained.calibration is not None)
    job = _Job(Path(model).resolve(), what, coverage, contributions, top, by)
    make_folder(folder)
    _begin(folder, job, files, smiles, id)
    found = rows = 0

    def tasks() -> Iterator[_Task]:
        nonlocal found, rows
        for number, (file, chunks) in enumerate(_parts(files, trained, smiles, id)):
            path = folder.resolve() / f"part-{number:06d}.parquet"
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
    return _finish(folder, job, found)


def _parts(
    files: Sequence[Path], model: TrainedModel, smiles: str, id: str | None
) -> Iterator[tuple[str, list[Chunk]]]:
    """The rows of all files in order, a part at a time; a part is of one file."""
    for path in files:
        chunks = chunks_of(model.features, path, smiles=smiles, id=id)
        while some := list(islice(chunks, PART_CHUNKS)):
            yield path.name, some


def write_part(job: _Job, task: _Task) -> int:
    """Parses, evaluates and writes one part; returns the number of its rows. Runs in a worker."""
    import torch

    torch.set_num_threads(1)
    model = loaded(job.model)
    return _write(job, task, [job.make_table(model, chunk.read(model.features)) for chunk in task.chunks])


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
                yield _write(job, under_way.popleft(), tables)
                tables = []


def _write(job: _Job, task: _Task, tables: Sequence[pyarrow.Table]) -> int:
    """Writes the tables of a part; returns the number of its rows."""
    whole = pyarrow.concat_tables(tables)
    count = len(whole)
    whole = whole.add_column(0, "file", pyarrow.array([task.file] * count, pyarrow.string()))
    problems = whole.column("problem")
    bad = whole.filter(pyarrow.compute.is_valid(problems)).select(BAD_COLUMNS)
    if job.top is not None:
        whole = _best(whole.filter(pyarrow.compute.is_null(problems)), job.top, _score_column(whole, job.by))
    about = {b"ssread": json.dumps({"rows": count, "bad": bad.to_pylist()}).encode()}
    with replacing(task.path) as new:
        pyarrow.parquet.write_table(whole.replace_schema_metadata(about), new, compression="zstd")
    return count


def _score_column(table: pyarrow.Table, by: str | None) -> str:
    """The column that says which rows are best."""
    kinds = zip(table.column_names, table.schema.types, strict=True)
    numbers = [name for name, kind in kinds if pyarrow.types.is_floating(kind)]
    chosen = numbers[0] if by is None and numbers else by
    if chosen is None or chosen not in numbers:
        raise InputError(f"There is no column {by!r} to choose rows by; choose one of {', '.join(numbers)}.")
    return chosen


def _best(table: pyarrow.Table, count: int, column: str) -> pyarrow.Table:
    """The rows with the largest values, the first ones of equal ones."""
    order = pyarrow.compute.sort_indices(table, [(column, "descending")])
    return table.take(order[:count])


def _begin(folder: Path, job: _Job, files: Sequence[Path], smiles: str, id: str | None) -> None:
    """Writes what is done here, or compares it with what an earlier call began."""
    digest = hashlib.sha256((job.model / CONFIG).read_bytes()).hexdigest()
    inputs = [{"file": str(path.resolve()), "bytes": path.stat().st_size} for path in files]
    rows = reading.CHUNK_ROWS * PART_CHUNKS
    options = {**asdict(job), "model": digest, "smiles": smiles, "id": id, "rows_of_a_part": rows}
    wanted = {"options": options, "inputs": inputs}
    path = folder / MANIFEST
    if not path.is_file():
        if any(folder.iterdir()):
            raise InputError(f"{folder} exists already and has no {MANIFEST}: choose another folder.")
        write_json(path, wanted)
        return
    begun = parse_json(read_text(path), str(path))
    for name, value in wanted.items():
        if not isinstance(begun, dict) or begun.get(name) != value:
            raise InputError(
                f"{folder} was begun with other {name} ({path}): choose another folder, or the same {name}."
            )


def _finish(folder: Path, job: _Job, found: int) -> Screened:
    """Writes the manifest with all parts, the list of bad rows, and the best rows of all parts."""
    parts, rows, problems = [], 0, 0
    best: pyarrow.Table | None = None
    with replacing(folder / SKIPPED) as new, new.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(BAD_COLUMNS)
        for path in sorted(folder.glob("part-*.parquet")):
            about = json.loads(pyarrow.parquet.read_schema(path).metadata[b"ssread"])
            writer.writerows(
                [row.get("file"), row.get("id"), row.get("smiles"), row["problem"]] for row in about["bad"]
            )
            parts.append({"part": path.name, "rows": about["rows"], "problems": len(about["bad"])})
            rows, problems = rows + about["rows"], problems + len(about["bad"])
            if job.top is not None:
                table = pyarrow.parquet.read_table(path)
                table = table if best is None else pyarrow.concat_tables([best, table])
                best = _best(table, job.top, _score_column(table, job.by))
    if best is not None:
        with replacing(folder / TOP) as new:
            pyarrow.parquet.write_table(best, new)
    begun = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    write_json(folder / MANIFEST, {**begun, "rows": rows, "problems": problems, "parts": parts})
    return Screened(folder, rows, problems, len(parts), found)
