"""Files of molecules (.csv, .tsv, .smi, .sdf, .parquet), read in blocks of rows.

Reading in blocks makes it possible to work through a file that is larger than the memory.
"""

import codecs
import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from ssread.data.molecule_rows import Block, Columns, joined_labels
from ssread.errors import InputError

__all__ = ["read_blocks"]


def read_blocks(path: Path, columns: Columns, size: int | None = None) -> Iterator[Block]:
    """Yields the rows of a file in blocks of ``size`` (all in one block by default).

    The ending of the name determines the format. Other content raises an ``InputError``.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: files of molecules must end in {', '.join(_READERS)}, not in {path.suffix or 'nothing'!r}."
        )
    return reader(path, columns, size)


def _lines(path: Path) -> Iterator[str]:
    """Yields the lines of a text file with their line ends."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line in file:
                if "\0" in line:
                    raise InputError(
                        f"{path} contains binary data, so it is not a {path.suffix} file: correct the ending."
                    )
                yield line
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not text in UTF-8 (byte {_first_wrong_byte(path)} is wrong), so it is not a {path.suffix} "
            "file: save it again as UTF-8, or correct the ending."
        ) from None


def _first_wrong_byte(path: Path) -> int:
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(piece)
            except UnicodeDecodeError as error:
                return offset - pending + error.start
            offset += len(piece)
    return offset


def _batched(rows: Iterable[Any], size: int | None) -> Iterator[list[Any]]:
    """Yields the rows in lists of ``size``; yields one empty list if there are no rows."""
    rows = iter(rows)
    block = list(islice(rows, size))
    while True:
        following = list(islice(rows, size))
        yield block
        if not following:
            return
        block = following


def _read_delimited(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    rows = _delimited_rows(path)
    _, header = next(rows, (0, None))
    if header is None:
        raise InputError(f"{path} is empty; a line of column names and then one line per molecule are needed.")
    wanted = _wanted(path, header, columns)
    for block in _batched(rows, size):
        yield _text_block(path, header, wanted, block, columns)


def _delimited_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yields every row that is not blank with its line number, the header first."""
    lines = _lines(path)
    first_line = next(lines, "")
    comma = ";" if ";" in first_line and "," not in first_line else ","  # many European spreadsheets write ;
    delimiter = "\t" if path.suffix.lower() == ".tsv" else comma
    reader = csv.reader(chain([first_line], lines), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {line}: {error}; a quote may be missing there.") from None


def _read_smi(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    numbered = enumerate(_lines(path), start=1)
    rows = ((number, line.strip().split(None, 2)) for number, line in numbered if line.strip())
    header, wanted = ["smiles", "name", "label"], None
    for block in _batched(rows, size):
        if wanted is None:
            found = header[: max((len(cells) for _, cells in block), default=1)]
            if block and block[0][1][0].lower() == "smiles":
                found = header = block.pop(0)[1]
            wanted = _wanted(path, found, columns)
        yield _text_block(path, header, wanted, block, columns)


def _text_block(
    path: Path, header: list[str], wanted: list[str], rows: list[tuple[int, list[str]]], columns: Columns
) -> Block:
    """Returns the wanted columns; the last cells of a row may be missing, but extra cells are a problem."""
    index = {name: header.index(name) for name in wanted}
    too_long = [number for number, cells in rows if len(cells) > len(header)]

    def column(name: str) -> list[str | None]:
        return [cells[index[name]] if index[name] < len(cells) else None for _, cells in rows]

    return Block(
        path,
        "line",
        numbers=[number for number, _ in rows],
        smiles=column(columns.smiles),
        labels=joined_labels([column(name) for name in columns.labels]),
        ids=None if columns.id is None else column(columns.id),
        problems={f"more than the header's {len(header)} cells in": too_long} if too_long else {},
    )


def _wanted(path: Path, found: Sequence[str], columns: Columns) -> list[str]:
    """Returns the names of the columns to read; each must occur exactly once."""
    options = [("smiles", columns.smiles), *(("label", name) for name in columns.labels)]
    if columns.id is not None:
        options.append(("id", columns.id))
    for option, name in options:
        if found.count(name) != 1:
            listed = ", ".join(repr(column[:40]) for column in found[:50]) or "none"
            count = "no column" if name not in found else f"{found.count(name)} columns"
            raise InputError(f"{path} has {count} {name!r} ({option}={name!r}); its columns are {listed}.")
    return list(dict.fromkeys(name for _, name in options))


def _read_parquet(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    first = 1
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            wanted = _wanted(path, file.schema_arrow.names, columns)
            tables = [file.read(wanted)] if size is None else file.iter_batches(size, columns=wanted)
            for table in tables:
                cells = {name: table.column(name).to_pylist() for name in wanted}
                smiles = cells[columns.smiles]
                yield Block(
                    path,
                    "row",
                    numbers=range(first, first + len(smiles)),
                    smiles=smiles,
                    labels=joined_labels([cells[name] for name in columns.labels]),
                    ids=None if columns.id is None else cells[columns.id],
                )
                first += len(smiles)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if not path.is_file():
            raise InputError(f"{path} cannot be read: there is no such file.") from None
        reason = str(error).split("\n")[0][:200]
        raise InputError(f"{path} cannot be read as a Parquet file: {reason}") from None


def _read_sdf(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    for block in _batched(_records(path), size):
        if not any("M  END" in record for _, record in block) and (not block or block[0][0] == 1):
            raise InputError(f"{path} has no molecule block ('M  END'), so it is not an .sdf file.")
        numbers = [number for number, _ in block]
        yield Block(path, "line", numbers, records=[record for _, record in block], columns=columns)


def _records(path: Path) -> Iterator[tuple[int, str]]:
    """Yields every record with the number of its first line; records end with ``$$$$`` or with the file."""
    start, record = 1, list[str]()
    for number, line in enumerate(_lines(path), start=1):
        record.append(line)
        if line.startswith("$$$$"):
            yield start, "".join(record)
            start, record = number + 1, []
    if "".join(record).strip():
        yield start, "".join(record)


_READERS: dict[str, Callable[[Path, Columns, int | None], Iterator[Block]]] = {
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".smi": _read_smi,
    ".sdf": _read_sdf,
    ".parquet": _read_parquet,
}
