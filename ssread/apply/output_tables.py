"""Tables with a row for every row of the input, written to files all or nothing."""

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

__all__ = ["RowsCallback", "Written", "table_of", "with_progress", "write_tables"]

#: Callback, called with the number of rows done; None for none.
RowsCallback = Callable[[int], None] | None


class Written(NamedTuple):
    """A file that was written, its number of rows, and how many of them have a problem instead of a result."""

    path: Path
    rows: int
    problems: int


def table_of(rows: Rows, columns: dict[str, tuple[Any, pyarrow.DataType]]) -> pyarrow.Table:
    """Fills up columns of the usable rows to all rows; the others are null there and have a ``problem`` at the end."""
    usable = np.array(rows.usable, dtype=np.int64)
    index = np.full(len(rows.ids), -1)
    index[usable] = np.arange(len(usable))
    taken = pyarrow.array(index, mask=index < 0)
    table = {"id": pyarrow.array(rows.ids, pyarrow.string())}
    if rows.texts is not None:
        table["smiles"] = pyarrow.array(rows.texts, pyarrow.string())
    for name, (values, kind) in columns.items():
        if values is None:
            table[name] = pyarrow.nulls(len(rows.ids), kind)
        else:
            table[name] = pyarrow.array(values, kind).take(taken)
    problems = [rows.problems.get(row) for row in range(len(rows.ids))]
    table["problem"] = pyarrow.array(problems, pyarrow.string())
    return pyarrow.table(table)


def with_progress(tables: Iterable[pyarrow.Table], progress: RowsCallback) -> Iterator[pyarrow.Table]:
    """Yields the same tables, and calls ``progress`` after each with the number of rows so far."""
    done = 0
    for table in tables:
        yield table
        done += len(table)
        if progress is not None:
            progress(done)


def write_tables(tables: Iterable[pyarrow.Table], path: Path) -> Written:
    """Writes tables one after another into a file, all or nothing."""
    check_ending(path)
    new_writer = pyarrow.csv.CSVWriter if path.suffix.lower() == ".csv" else pyarrow.parquet.ParquetWriter
    rows = problems = 0
    writer: Any = None
    with replacing(path) as new:
        try:
            for table in tables:
                writer = writer or new_writer(str(new), table.schema)
                writer.write_table(table)
                rows += len(table)
                problems += len(table) - table.column("problem").null_count
        finally:
            if writer is not None:
                writer.close()
    return Written(path, rows, problems)
