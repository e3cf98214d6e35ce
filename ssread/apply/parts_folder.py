"""A folder of parts: the files in it, and the manifest that says what they were made from."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from ssread.apply.library import MANIFEST, LibraryFile, read_manifest
from ssread.common.checking import shorten
from ssread.common.files import replacing, write_json
from ssread.errors import InputError

__all__ = ["Best", "Screened", "begin", "finish", "part_path", "write_part_of"]

#: What is told of a row that cannot be used, each in so many characters: all of a part must fit into its metadata.
BAD_COLUMNS, LONGEST = ["file", "id", "smiles", "problem"], 200

SKIPPED, TOP, PARTS = "skipped.csv", "top.parquet", "part-*.parquet"


class Screened(NamedTuple):
    """What was written: the folder, its rows, those without a result, and how many parts were there already."""

    folder: Path
    rows: int
    problems: int
    parts: int
    found: int


@dataclass(frozen=True)
class Best:
    """The rows to keep: so many, with the largest values in this column, by default the first one of numbers."""

    count: int
    by: str | None

    def column(self, table: pyarrow.Table) -> str:
        """The column that says which rows are best; an ``InputError`` if a table does not have it."""
        kinds = zip(table.column_names, table.schema.types, strict=True)
        numbers = [name for name, kind in kinds if pyarrow.types.is_floating(kind)]
        chosen = numbers[0] if self.by is None and numbers else self.by
        if chosen is None or chosen not in numbers:
            raise InputError(f"There is no column {self.by!r} to choose rows by; choose one of {', '.join(numbers)}.")
        return chosen

    def of(self, table: pyarrow.Table) -> pyarrow.Table:
        """The best rows, the first ones of equal ones."""
        order = pyarrow.compute.sort_indices(table, [(self.column(table), "descending")])
        return table.take(order[: self.count])


def begin(folder: Path, options: dict[str, Any], files: Sequence[LibraryFile]) -> None:
    """Writes what the parts are made from, unless an earlier call did; raises an ``InputError`` if that was another.

    Files may have been changed, added or removed since then if there is no part of them or of files after them. Hidden
    files do not count: a call that was killed while it wrote the manifest leaves one.
    """
    inputs = [_identity(file) for file in files]
    wanted = {"options": options, "inputs": inputs}
    path = folder / MANIFEST
    if not path.is_file():
        if any(not entry.name.startswith(".") for entry in folder.iterdir()):
            raise InputError(f"{folder} exists already and has no {MANIFEST}: choose another folder.")
        write_json(path, wanted)
        return
    begun, parts = read_manifest(path), sorted(folder.glob(PARTS))
    if begun.get("options") != options and (parts or not begun):
        raise InputError(f"{folder} was begun with other options ({path}): choose another folder, or the same options.")
    if (begun["options"], begun["inputs"]) != (options, inputs):
        _check_inputs(folder, parts, begun["inputs"], inputs)
        write_json(path, wanted)


def _identity(file: LibraryFile) -> dict[str, Any]:
    """What a file is known by. Its content is not read twice for that: a library may be very large."""
    found = file.path.stat()
    return {"name": file.name, "file": str(file.path.resolve()), "bytes": found.st_size, "mtime_ns": found.st_mtime_ns}


def _check_inputs(folder: Path, parts: Sequence[Path], before: list[Any], now: list[Any]) -> None:
    """Raises an ``InputError`` if there is a part of the first input that is not as it was, or of one after it."""
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False))))
    names = {entry["name"] for entry in now[:same]}
    for part in parts:
        if _about(part).get("file") not in names:
            changed = (now[same:] or before[same:])[0]["file"]
            raise InputError(
                f"{folder} was begun with other inputs ({changed} was changed, added or removed since): choose "
                f"another folder, or remove {part.name} and all parts after it, which are then made anew."
            )


def part_path(folder: Path, number: int) -> Path:
    """The file of a part."""
    return folder.resolve() / f"part-{number:06d}.parquet"


def write_part_of(file: str, tables: Sequence[pyarrow.Table], path: Path, best: Best | None) -> int:
    """Writes the tables of a part of the file of this name; returns the number of its rows."""
    whole = pyarrow.concat_tables(tables)
    count = len(whole)
    whole = whole.add_column(0, "file", pyarrow.array([file] * count, pyarrow.string()))
    problems = whole.column("problem")
    bad = whole.filter(pyarrow.compute.is_valid(problems)).select(BAD_COLUMNS).to_pylist()
    if best is not None:
        whole = best.of(whole.filter(pyarrow.compute.is_null(problems)))
    told = [[shorten(row[name] or "", LONGEST) for name in BAD_COLUMNS] for row in bad]
    about = {"file": file, "rows": count, "bad": told}
    with replacing(path) as new:
        described = whole.replace_schema_metadata({b"ssread": json.dumps(about, ensure_ascii=False).encode()})
        pyarrow.parquet.write_table(described, new, compression="zstd")
    return count


def _about(part: Path) -> dict[str, Any]:
    """What a part says of itself: the name of its file, its number of rows, and those without a result."""
    try:
        return json.loads(pyarrow.parquet.read_schema(part).metadata[b"ssread"])
    except (pyarrow.ArrowException, OSError, KeyError, TypeError, ValueError):
        raise InputError(f"{part} is damaged: remove it, then the same command makes it anew.") from None


def finish(folder: Path, best: Best | None, found: int) -> Screened:
    """Writes the manifest with all parts, the list of bad rows, and the best rows of all parts."""
    parts, rows, problems = [], 0, 0
    top: pyarrow.Table | None = None
    with replacing(folder / SKIPPED) as new, new.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(BAD_COLUMNS)
        for path in sorted(folder.glob(PARTS)):
            about = _about(path)
            writer.writerows(about["bad"])
            parts.append(
                {"part": path.name, "file": about["file"], "rows": about["rows"], "problems": len(about["bad"])}
            )
            rows, problems = rows + about["rows"], problems + len(about["bad"])
            if best is not None:
                table = pyarrow.parquet.read_table(path)
                top = best.of(table if top is None else pyarrow.concat_tables([top, table]))
    if top is not None:
        with replacing(folder / TOP) as new:
            pyarrow.parquet.write_table(top, new)
    begun = read_manifest(folder / MANIFEST)
    write_json(folder / MANIFEST, {**begun, "rows": rows, "problems": problems, "parts": parts})
    return Screened(folder, rows, problems, len(parts), found)
