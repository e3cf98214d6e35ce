"""Files of molecules (.csv, .tsv, .smi, .sdf, the same with .gz, .parquet), read in blocks of rows.

Reading in blocks makes it possible to work through a file that is larger than the memory.
"""

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import pyarrow
import pyarrow.parquet

from ssread.data.molecule_rows import TITLE, Block, Columns, joined_labels, properties_of, split_name
from ssread.data.sources import MOLECULE_ENDINGS, ending_of
from ssread.errors import InputError

__all__ = ["TABLE_NAME", "read_blocks", "table_blocks"]

#: What stands for a file in the blocks and sentences about a table in memory.
TABLE_NAME = Path("table")


def read_blocks(path: Path, columns: Columns, size: int | None = None) -> Iterator[Block]:
    """Yields the rows of a file in blocks of ``size`` (all in one block by default).

    The ending of the name determines the format. Other content raises an ``InputError``.
    """
    ending = ending_of(path)
    if ending not in MOLECULE_ENDINGS:
        raise InputError(
            f"{path}: files of molecules must end in {', '.join(MOLECULE_ENDINGS)}, not in {ending or 'nothing'!r}."
        )
    return _READERS[ending.removesuffix(".gz")](path, columns, size)


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if ending_of(path).endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def _lines(path: Path) -> Iterator[str]:
    """Yields the lines of a text file with their line ends."""
    try:
        with io.TextIOWrapper(_open(path), encoding="utf-8-sig", newline="") as file:
            for line in file:
                if "\0" in line:
                    raise InputError(
                        f"{path} contains binary data, so it is not a {ending_of(path)} file: correct the ending."
                    )
                yield line
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(
            f"{path} is damaged or not compressed by gzip ({error}): copy it again, or correct the ending."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not text in UTF-8 (byte {_first_wrong_byte(path)} is wrong), so it is not a {ending_of(path)} "
            "file: save it again as UTF-8, or correct the ending."
        ) from None


def _first_wrong_byte(path: Path) -> int:
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    with _open(path) as file:
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
    delimiter = "\t" if ending_of(path).startswith(".tsv") else comma
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
    rows = ((number, _split_line(line)) for number, line in enumerate(_lines(path), start=1) if line.strip())
    header, wanted = ["smiles", "name", "label"], None
    for block in _batched(rows, size):
        if wanted is None:
            found = header[: max((len(cells) for _, cells in block), default=1)]
            if block and block[0][1][0].lower() == "smiles":
                found = header = block.pop(0)[1]
            if columns.id is None and found.count("name") == 1:
                columns = replace(columns, id="name")
            wanted = _wanted(path, found, columns)
        yield _text_block(path, header, wanted, block, replace(columns, all=False))


def _split_line(line: str) -> list[str]:
    """Returns the cells of a line: SMILES, name, label. Where the line has tabs, a name may contain blanks."""
    smiles, rest = split_name(line)
    cells = rest.split("\t") if "\t" in line.strip() else rest.split(None, 1)
    return [smiles, *(cell.strip() for cell in cells if rest)]


def _text_block(
    path: Path, header: list[str], wanted: list[str], rows: list[tuple[int, list[str]]], columns: Columns
) -> Block:
    """Returns the wanted columns; the last cells of a row may be missing, but extra cells are a problem."""

    def column(index: int) -> list[str | None]:
        return [cells[index] if index < len(cells) else None for _, cells in rows]

    cells_of = {name: column(header.index(name)) for name in wanted}
    kept = [index for index, name in enumerate(header) if columns.all or name in columns.keep]
    inputs = [pyarrow.array(column(index), pyarrow.string()) for index in kept]
    return Block(
        path,
        "line",
        numbers=[number for number, _ in rows],
        smiles=cells_of[columns.smiles],
        labels=joined_labels([cells_of[name] for name in columns.labels]),
        ids=None if columns.id is None else cells_of[columns.id],
        reasons={
            index: f"it has {len(cells)} cells, but the header has {len(header)}"
            for index, (_, cells) in enumerate(rows)
            if len(cells) > len(header)
        },
        inputs=pyarrow.Table.from_arrays(inputs, [header[index] for index in kept]) if kept else None,
    )


def _wanted(path: Path, found: Sequence[str], columns: Columns) -> list[str]:
    """Returns the names of the columns of SMILES, labels and ids; each must occur exactly once, like those to keep."""
    twice = [name for name in columns.labels if columns.labels.count(name) > 1]
    if twice:
        raise InputError(f"{path}: the label {twice[0]!r} is named twice.")
    options = [("smiles", columns.smiles), *(("label", name) for name in columns.labels)]
    if columns.id is not None:
        options.append(("id", columns.id))
    for option, name in (*options, *(("", name) for name in columns.keep)):
        if found.count(name) != 1:
            listed = ", ".join(repr(column[:40]) for column in found[:50]) or "none"
            count = "no column" if name not in found else f"{found.count(name)} columns"
            by = f" ({option}={name!r})" if option else ""
            raise InputError(f"{path} has {count} {name!r}{by}; its columns are {listed}.")
    return list(dict.fromkeys(name for _, name in options))


def _read_parquet(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    first = 1
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            wanted = _wanted(path, file.schema_arrow.names, columns)
            needed = None if columns.all else list(dict.fromkeys([*wanted, *columns.keep]))
            whole = size is None or not file.metadata.num_rows  # no rows are one block without rows, as elsewhere
            tables = [file.read(needed)] if whole else file.iter_batches(size, columns=needed)
            for table in _complete(path, tables, file.metadata.num_rows):
                cells = {name: table.column(name).to_pylist() for name in wanted}
                smiles = cells[columns.smiles]
                yield Block(
                    path,
                    "row",
                    numbers=range(first, first + len(smiles)),
                    smiles=smiles,
                    labels=joined_labels([cells[name] for name in columns.labels]),
                    ids=None if columns.id is None else cells[columns.id],
                    inputs=_kept(pyarrow.table(table.columns, schema=table.schema), columns),
                )
                first += len(smiles)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if not path.is_file():
            raise InputError(f"{path} cannot be read: there is no such file.") from None
        reason = str(error).split("\n")[0][:200]
        raise InputError(f"{path} cannot be read as a Parquet file: {reason}") from None


def _kept(table: pyarrow.Table, columns: Columns) -> pyarrow.Table | None:
    """Returns the further columns to keep, if any."""
    if columns.all:
        return table
    return table.select([name for name in table.column_names if name in columns.keep]) if columns.keep else None


def _complete(path: Path, tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """Yields the tables of a file that has so many rows; raises an error in place of the last one if some are missing.

    Where a page is damaged, pyarrow may return fewer rows than the file has, without an error.
    """
    found, last = 0, None
    for table in tables:
        if last is not None:
            yield last
        last = table
        found += len(table)
    if found != rows:
        raise InputError(f"{path} is damaged: it should have {rows} rows, but {found} can be read; copy it again.")
    if last is not None:
        yield last


def table_blocks(table: Any, columns: Columns, size: int | None = None) -> Iterator[Block]:
    """Yields the rows of a pandas ``DataFrame`` in blocks of ``size``; without an id column, its index has the ids."""
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    wanted = _wanted(TABLE_NAME, list(table.columns), columns)
    inputs = _arrow_table(table.loc[:, [columns.all or name in columns.keep for name in table.columns]])
    for start in range(0, max(len(table), 1), size or max(len(table), 1)):
        part = table.iloc[start : start + size if size else None]
        cells = {name: part[name].astype(object).where(part[name].notna(), None).tolist() for name in wanted}
        yield Block(
            TABLE_NAME,
            "row",
            numbers=range(start, start + len(part)),
            smiles=cells[columns.smiles],
            labels=joined_labels([cells[name] for name in columns.labels]),
            ids=part.index.tolist() if columns.id is None else cells[columns.id],
            inputs=inputs.slice(start, len(part)) if columns.all or columns.keep else None,
        )


def _arrow_table(table: Any) -> pyarrow.Table:
    """Returns the columns of a ``DataFrame``; one that Arrow has no type for becomes text."""
    arrays = []
    for index in range(table.shape[1]):
        column = table.iloc[:, index]
        try:
            arrays.append(pyarrow.Array.from_pandas(column))
        except (pyarrow.ArrowException, TypeError):
            arrays.append(pyarrow.array([None if value is None else str(value) for value in column], pyarrow.string()))
    return pyarrow.Table.from_arrays(arrays, names=list(table.columns))


def _read_sdf(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    kept = _properties_to_keep(path, columns) if columns.all or columns.keep else []
    for block in _batched(_records(path), size):
        if not any("M  END" in record for _, record in block) and (not block or block[0][0] == 1):
            raise InputError(f"{path} has no molecule block ('M  END'), so it is not an .sdf file.")
        numbers = [number for number, _ in block]
        yield Block(path, "line", numbers, records=[record for _, record in block], columns=columns, properties=kept)


def _properties_to_keep(path: Path, columns: Columns) -> list[str]:
    found = _property_names(path)
    for name in columns.keep:
        if name not in found:
            listed = ", ".join(repr(known[:40]) for known in found[:50]) or "none"
            raise InputError(f"{path}: no record has a property {name!r}; the properties are {listed}.")
    return found if columns.all else list(columns.keep)


def _property_names(path: Path) -> list[str]:
    """Returns what the records of a file have beside their molecule, in the order of the file: titles, properties."""
    names: dict[str, None] = {}
    for _, record in _records(path):
        if record.split("\n", 1)[0].strip():
            names[TITLE] = None
        names |= dict.fromkeys(properties_of(record))
    return list(names)


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
