"""Predictions or vectors for libraries of molecules: files that outgrow a machine, in parts that survive a kill.

The input is read here, a part of it at a time; a part is parsed, evaluated and written by one worker, on this machine
or on a Ray cluster. A part has its name once it is complete, so a command that was killed does only what is missing,
and a part that is done twice replaces itself.
"""

import csv
import glob
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from ssread.apply.checks import check_coverage
from ssread.apply.chunks import MoleculeChunk
from ssread.apply.embedding import embedding_table
from ssread.apply.model_folder import CONFIG
from ssread.apply.output_tables import RowsCallback
from ssread.apply.part_runners import run_parts
from ssread.apply.prediction import prediction_table
from ssread.apply.trained_model import TrainedModel
from ssread.common.checking import parse_json, read_text
from ssread.common.files import make_folder, replacing, write_json
from ssread.data.molecule_files import read_blocks
from ssread.data.molecule_rows import Block, Columns
from ssread.data.sources import MOLECULE_ENDINGS, ending_of
from ssread.errors import InputError

__all__ = ["MANIFEST", "Screened", "library_files", "screen"]

#: What is told of a row that cannot be used.
BAD_COLUMNS = ["file", "id", "smiles", "problem"]

MANIFEST, SKIPPED, TOP = "manifest.json", "skipped.csv", "top.parquet"

#: Rows that are read at once, and blocks of them in a part: about ten seconds of work.
BLOCK_ROWS, PART_BLOCKS = 1000, 20


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
        on: ``here``, or a Ray cluster: ``ray`` or ``ray://host:port``; its nodes must see the folders.
        progress: Callback, called with the number of rows done.
    """
    folder, files = Path(out), library_files(data)
    trained = TrainedModel.load(model)
    check_coverage(coverage, calibrated=trained.calibration is not None)
    job = _Job(Path(model).resolve(), what, coverage, contributions, top, by)
    make_folder(folder)
    _begin(folder, job, files, smiles, id)
    hydrogens = bool(trained.features.options.get("hydrogens", False))
    columns = Columns(smiles, None, id, hydrogens, all=what == "predict")
    found = rows = 0

    def tasks() -> Iterator[tuple[Any, ...]]:
        nonlocal found, rows
        for number, blocks in enumerate(_parts(files, columns)):
            path = folder.resolve() / f"part-{number:06d}.parquet"
            if path.is_file():  # complete, since it has its name
                found += 1
                rows += sum(map(len, blocks))
                continue
            yield job, blocks, path

    for done in run_parts(write_part, tasks(), workers, on):
        rows += done
        if progress is not None:
            progress(rows)
    return _finish(folder, job, found)


def _parts(files: Sequence[Path], columns: Columns) -> Iterator[list[Block]]:
    """The rows of all files in order, a part at a time; a part is of one file."""
    for path in files:
        blocks = read_blocks(path, columns, BLOCK_ROWS)
        while some := list(islice(blocks, PART_BLOCKS)):
            yield some


def write_part(job: _Job, blocks: Sequence[Block], path: Path) -> int:
    """Parses, evaluates and writes one part; returns the number of its rows. Runs in a worker."""
    import torch

    torch.set_num_threads(1)
    model = _loaded(job.model)
    options = {name: value for name, value in model.features.options.items() if name in ("features", "hydrogens")}
    tables, count = [], 0
    for block in blocks:
        rows = MoleculeChunk(block, options).read(model.features)
        if job.what == "embed":
            table = embedding_table(model, rows)
        else:
            table = prediction_table(model, rows, job.coverage, job.contributions)
        file = pyarrow.array([block.path.name] * len(rows.ids), pyarrow.string())
        tables.append(table.add_column(0, "file", file))
        count += len(rows.ids)
    whole = pyarrow.concat_tables(tables)
    problems = whole.column("problem")
    bad = whole.filter(pyarrow.compute.is_valid(problems)).select(BAD_COLUMNS)
    if job.top is not None:
        whole = _best(whole.filter(pyarrow.compute.is_null(problems)), job.top, _score_column(whole, job.by))
    about = {b"ssread": json.dumps({"rows": count, "bad": bad.to_pylist()}).encode()}
    with replacing(path) as new:
        pyarrow.parquet.write_table(whole.replace_schema_metadata(about), new, compression="zstd")
    return count


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> TrainedModel:
    return TrainedModel.load(folder)


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
    options = {**asdict(job), "model": digest, "smiles": smiles, "id": id, "rows_of_a_part": BLOCK_ROWS * PART_BLOCKS}
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
