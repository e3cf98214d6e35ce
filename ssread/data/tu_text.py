"""The text files of a dataset in TU format, from a folder or a zip, parsed by pandas."""

from __future__ import annotations

import csv
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from ssread.data.sources import INDICATOR
from ssread.errors import InputError

#: What Python's ``zipfile`` may raise for a damaged zip, including UnicodeDecodeError and NotImplementedError.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError)


class TextFiles:
    """The text files of one dataset, parsed on demand.

    Args:
        path: A folder with the files ``NAME_graph_indicator.txt``, ``NAME_A.txt``, ..., or a zip of such a folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open: dict[str, Callable[[], bytes]] = {}
        if path.is_dir():
            self._open = {file.name: file.read_bytes for file in path.iterdir() if file.suffix == ".txt"}
        elif path.is_file():
            self._open = self._members(path)
        else:
            raise InputError(f"There is no file or folder {path}.")
        names = [file.removesuffix(INDICATOR) for file in self._open if file.endswith(INDICATOR)]
        if len(names) > 1 and path.stem in names:
            names = [path.stem]
        if len(names) != 1:
            raise InputError(
                f"{path} contains {len(names) or 'no'} files NAME{INDICATOR}: a dataset in TU format has one."
            )
        self.name = names[0]
        if not self.has("A"):
            raise InputError(f"{path} does not contain {self.name}_A.txt, the list of edges.")

    @staticmethod
    def _members(path: Path) -> dict[str, Callable[[], bytes]]:
        try:
            with zipfile.ZipFile(path) as archive:
                members = [member for member in archive.namelist() if member.endswith(".txt")]
        except ZIP_ERRORS as error:
            raise InputError(f"{path} is not a readable zip, or only part of one ({error}).") from None
        return {Path(member).name: partial(_unzip, path, member) for member in members}

    def has(self, kind: str) -> bool:
        """Whether there is a file ``NAME_kind.txt``."""
        return f"{self.name}_{kind}.txt" in self._open

    def called(self, kind: str) -> str:
        """Returns the name of a file in error messages."""
        return f"{self.name}_{kind}.txt in {self.path}"

    def _table(self, kind: str, dtype: type) -> pd.DataFrame:
        try:
            content = self._open[f"{self.name}_{kind}.txt"]()
        except ZIP_ERRORS as error:
            raise InputError(f"{self.called(kind)} cannot be read ({error}): download the data again.") from None
        if not content or content.isspace():
            return pd.DataFrame(np.empty((0, 1), dtype=dtype))
        try:
            with np.errstate(invalid="raise"):  # infinity is not an integer
                return pd.read_csv(
                    io.BytesIO(content),
                    header=None,
                    dtype=dtype,
                    skipinitialspace=True,
                    engine="c",
                    na_filter=dtype is np.float64,
                    quoting=csv.QUOTE_NONE,
                )
        except (ValueError, ArithmeticError) as error:
            line, found = _first_bad_line(content, dtype) or ("", f"not a table of numbers ({error})")
            raise InputError(f"{self.called(kind)}{line} is {found}.") from None

    def numbers(self, kind: str, lines: int | None = None) -> np.ndarray:
        """Returns the file as an array of floats ``[lines, columns]``."""
        return self._check_length(self._table(kind, np.float64).to_numpy(), kind, lines)

    def whole_numbers(self, kind: str, lines: int | None = None, columns: int | None = None) -> np.ndarray:
        """Returns the file as an array of integers ``[lines, columns]``."""
        table = self._table(kind, np.int64).to_numpy()
        if columns is not None and len(table) == 0:
            table = table.reshape(0, columns)
        if columns is not None and table.shape[1] != columns:
            raise InputError(f"{self.called(kind)} has {table.shape[1]} columns, not {columns}.")
        return self._check_length(table, kind, lines)

    def _check_length(self, table: np.ndarray, kind: str, lines: int | None) -> np.ndarray:
        if lines is not None and len(table) != lines:
            raise InputError(f"{self.called(kind)} has {len(table)} lines, but {lines} are needed.")
        return table


def _unzip(path: Path, member: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(member)


def _first_bad_line(content: bytes, dtype: type) -> tuple[str, str] | None:
    """Finds the first line that is not a row of numbers; slow, so called only when pandas has failed."""
    whole = dtype is np.int64
    lines = content.decode("utf-8", "replace").splitlines()
    width = lines[0].count(",") + 1
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != width or not all(_is_number(cell, whole) for cell in cells):
            expected = f"{width} {'integers' if whole else 'numbers'}"
            return f", line {number}", f"{line[:60]!r}, not {expected}"
    return None


def _is_number(cell: str, whole: bool) -> bool:
    if whole:
        return re.fullmatch(r"[+-]?[0-9]{1,18}", cell) is not None
    try:
        float(cell)
    except ValueError:
        return False
    return True
