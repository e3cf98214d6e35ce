"""Tables with a line for every row of the input, and the files they are written to, all or nothing."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet

from ssread.apply.checks import check_ending
from ssread.apply.chunks import Rows
from ssread.common.files import replacing

__all__ = ["Progress", "Written", "table_of", "watched", "write_tables"]

#: Told the number of rows done.
Progress = Callable[[int], None] | None


class Written(NamedTuple):
    """A file that was written: how many rows it has, and how many of them say only what is wrong with them."""

    path: Path
    rows: int
    problems: int


def table_of(rows: Rows, columns: dict[str, tuple[Any, pyarrow.DataType]]) -> pyarrow.Table:
    """A table of all rows from columns of the usable ones; the others have nothing there, and say why at the end."""
    usable = np.array(rows.usable, dtype=np.int64)
    places = np.full(len(rows.ids), -1)
    places[usable] = np.arange(len(usable))
    index = pyarrow.array(places, mask=places < 0)
    made = {"id": pyarrow.array(rows.ids, pyarrow.string())}
    if rows.texts is not None:
        made["smiles"] = pyarrow.array(rows.texts, pyarrow.string())
    for name, (values, kind) in columns.items():
        if values is None:
            made[name] = pyarrow.nulls(len(rows.ids), kind)
        else:
            made[name] = pyarrow.array(values, kind).take(index)
    problems = [rows.problems.get(place) for place in range(len(rows.ids))]
    made["problem"] = pyarrow.array(problems, pyarrow.string())
    return pyarrow.table(made)


def watched(tables: Iterable[pyarrow.Table], progress: Progress) -> Iterator[pyarrow.Table]:
    """The same tables, while ``progress`` is told how many rows there were so far."""
    done = 0
    for table in tables:
        yield table
        done += len(table)
        if progress is not None:
            progress(done)


def write_tables(tables: Iterable[pyarrow.Table], path: Path) -> Written:
    """Writes tables one after another into a file, all or nothing."""
    check_ending(path)
    make = pyarrow.csv.CSVWriter if path.suffix.lower() == ".csv" else pyarrow.parquet.ParquetWriter
    rows = problems = 0
    writer: Any = None
    with replacing(path) as new:
        try:
            for table in tables:
                writer = writer or make(str(new), table.schema)
                writer.write_table(table)
                rows += len(table)
                problems += len(table) - table.column("problem").null_count
        finally:
            if writer is not None:
                writer.close()
    return Written(path, rows, problems)
