"""Rows of a source that cannot be used: the sentence about them, and the file that lists them all."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from ssread.common.files import replacing
from ssread.errors import InputError

__all__ = [
    "ON_ERROR",
    "SkippedList",
    "SkippedRow",
    "check_on_error",
    "list_rows",
    "list_skipped",
    "skipped_path",
]

#: What happens at a row that cannot be used: an error that names the first ones, or it is left out and counted.
ON_ERROR = ("raise", "skip")

#: Sentences show this many rows, and this many characters of each.
EXAMPLES, EXAMPLE_LENGTH = 3, 40

#: Endings that ``.skipped.csv`` replaces.
OUTPUT_ENDINGS = (".csv", ".parquet", ".npy", ".html", ".md")


class SkippedRow(NamedTuple):
    """A row that cannot be used.

    Attributes:
        row: Its number among all rows that were read with it, from 0.
        place: Where to find it, such as "line 3".
        text: Its content: the SMILES, or the name of a record or file.
        reason: Why it cannot be used.
    """

    row: int
    place: str
    text: str
    reason: str

    def __str__(self) -> str:
        text = self.text if len(self.text) <= EXAMPLE_LENGTH else f"{self.text[:EXAMPLE_LENGTH]}..."
        return f"{self.place}, {text!r} ({self.reason})" if text else f"{self.place} ({self.reason})"


def check_on_error(on_error: str) -> None:
    """Raises an ``InputError`` unless ``on_error`` is one of :data:`ON_ERROR`."""
    if on_error not in ON_ERROR:
        raise InputError(f"on_error={on_error!r} is not an option: choose {' or '.join(map(repr, ON_ERROR))}.")


def list_rows(rows: Sequence[SkippedRow], count: int | None = None) -> str:
    """Returns the first few rows as text, and how many more there are of ``count`` (by default of ``rows``).

    >>> list_rows([SkippedRow(1, "line 3", "C1CC", "RDKit cannot read it")])
    "line 3, 'C1CC' (RDKit cannot read it)"
    """
    count = len(rows) if count is None else count
    listed = "; ".join(map(str, rows[:EXAMPLES]))
    return listed if count <= EXAMPLES else f"{listed}; and {count - EXAMPLES} more"


def skipped_path(out: Path) -> Path:
    """Returns the file beside the output ``out`` that lists the rows left out.

    >>> [skipped_path(Path(name)).name for name in ("out.csv", "report.html", "model", "v1.1")]
    ['out.skipped.csv', 'report.skipped.csv', 'model.skipped.csv', 'v1.1.skipped.csv']
    """
    name = out.stem if out.suffix.lower() in OUTPUT_ENDINGS else out.name
    return out.with_name(f"{name}.skipped.csv")


class SkippedList:
    """The rows left out so far, all of them in a file, the first few in memory.

    Attributes:
        path: The file.
        count: The number of rows.
        first: The first few.
    """

    def __init__(self, path: Path, file: IO[str]):
        self.path, self.count, self.first = path, 0, list[SkippedRow]()
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(["where", "text", "reason"])

    def add(self, rows: Sequence[SkippedRow]) -> None:
        """Adds rows to the end of the file."""
        self._writer.writerows(row[1:] for row in rows)
        self.count += len(rows)
        self.first += rows[: EXAMPLES - len(self.first)]

    def __str__(self) -> str:
        return f"{list_rows(self.first, self.count)}. Full list: {self.path}"


@contextmanager
def list_skipped(out: Path) -> Iterator[SkippedList]:
    """Yields a list that is in :func:`skipped_path` at the end, unless an error was raised.

    An empty list leaves no file, nor that of an earlier run.
    """
    path = skipped_path(out)
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
        skipped = SkippedList(path, file)
        yield skipped
    if not skipped.count:
        path.unlink(missing_ok=True)
