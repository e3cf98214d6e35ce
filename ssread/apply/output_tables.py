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
from ssread.data.skipped import SkippedList, SkippedRow, list_skipped

__all__ = ["OUTSIDE", "Part", "RowsCallback", "Written", "table_of", "with_progress", "write_parts"]

#: Callback, called with the number of rows done; None for none.
RowsCallback = Callable[[int], None] | None


#: The column that says why a graph is outside of what the model was trained on.
OUTSIDE = "outside"

#: Added to the name of a column of the input that a column of ours has too.
CLASH = " (input)"


class Part(NamedTuple):
    """The table of a chunk, with a row for every row, and the rows that have a problem instead of a result."""

    table: pyarrow.Table
    skipped: list[SkippedRow]


class Written(NamedTuple):
    """A file that was written.

    Attributes:
        path: The file.
        rows: Its number of rows.
        skipped: The rows with a problem instead of a result.
        outside: The number of graphs outside of what the model was trained on.
    """

    path: Path
    rows: int
    skipped: SkippedList
    outside: int

    @property
    def problems(self) -> int:
        """The number of rows with a problem."""
        return self.skipped.count


def table_of(rows: Rows, columns: dict[str, tuple[Any, pyarrow.DataType]]) -> pyarrow.Table:
    """Fills up columns of the usable rows to all rows; the others are null there and have a ``problem`` at the end.

    The columns of the input come first. One that has the name of a column of ours gets :data:`CLASH` at its end; but
    ``id`` and ``smiles`` are those of the input where it has them.
    """
    usable = np.array(rows.usable, dtype=np.int64)
    index = np.full(len(rows.ids), -1)
    index[usable] = np.arange(len(usable))
    taken = pyarrow.array(index, mask=index < 0)
    table: dict[str, Any] = {}
    if rows.inputs is not None:
        for name, column in zip(rows.inputs.column_names, rows.inputs.columns, strict=True):
            while name in table or name in columns or name == "problem":
                name += CLASH
            table[name] = column
    table.setdefault("id", pyarrow.array(rows.ids, pyarrow.string()))
    if rows.texts is not None:
        table.setdefault("smiles", pyarrow.array(rows.texts, pyarrow.string()))
    for name, (values, kind) in columns.items():
        if values is None:
            table[name] = pyarrow.nulls(len(rows.ids), kind)
        else:
            table[name] = pyarrow.array(values, kind).take(taken)
    problems = [rows.problems.get(row) for row in range(len(rows.ids))]
    table["problem"] = pyarrow.array(problems, pyarrow.string())
    return pyarrow.table(table)


def with_progress(parts: Iterable[Part], progress: RowsCallback) -> Iterator[Part]:
    """Yields the same parts, and calls ``progress`` after each with the number of rows so far."""
    done = 0
    for part in parts:
        yield part
        done += len(part.table)
        if progress is not None:
            progress(done)


def write_parts(parts: Iterable[Part], path: Path) -> Written:
    """Writes the tables one after another into a file, all or nothing, and the rows with a problem into another."""
    check_ending(path)
    new_writer = pyarrow.csv.CSVWriter if path.suffix.lower() == ".csv" else pyarrow.parquet.ParquetWriter
    rows = outside = 0
    writer: Any = None
    with list_skipped(path) as skipped, replacing(path) as new:
        try:
            for table, problems in parts:
                writer = writer or new_writer(str(new), table.schema)
                writer.write_table(table)
                rows += len(table)
                skipped.add(problems)
                if OUTSIDE in table.column_names:
                    outside += len(table) - table.column(OUTSIDE).null_count
        finally:
            if writer is not None:
                writer.close()
    return Written(path, rows, skipped, outside)
