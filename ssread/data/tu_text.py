"""The text files of a dataset in the TU format, from a folder or a zip, parsed by pandas' C reader."""

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

#: What Python's reader of zips may raise where one is damaged, UnicodeDecodeError and NotImplementedError among them.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError)


class TextFiles:
    """The text files of one dataset, parsed on demand.

    Args:
        path: A folder with files ``NAME_graph_indicator.txt``, ``NAME_A.txt``, ..., or a zip of one.
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
                f"{path} holds {len(names) or 'no'} files NAME{INDICATOR}: a dataset in TU format has one."
            )
        self.name = names[0]
        if not self.has("A"):
            raise InputError(f"{path} lacks {self.name}_A.txt, the list of edges.")

    @staticmethod
    def _members(path: Path) -> dict[str, Callable[[], bytes]]:
        try:
            with zipfile.ZipFile(path) as archive:
                members = [member for member in archive.namelist() if member.endswith(".txt")]
        except DAMAGE as error:
            raise InputError(f"{path} is not a readable zip, or only part of one ({error}).") from None
        return {Path(member).name: partial(_unzip, path, member) for member in members}

    def has(self, kind: str) -> bool:
        """Whether there is a file ``NAME_kind.txt``."""
        return f"{self.name}_{kind}.txt" in self._open

    def called(self, kind: str) -> str:
        """The file as error messages name it."""
        return f"{self.name}_{kind}.txt in {self.path}"

    def _frame(self, kind: str, dtype: type) -> pd.DataFrame:
        try:
            content = self._open[f"{self.name}_{kind}.txt"]()
        except DAMAGE as error:
            raise InputError(f"{self.called(kind)} cannot be read ({error}): get the data again.") from None
        if not content or content.isspace():
            return pd.DataFrame(np.empty((0, 1), dtype=dtype))
        try:
            with np.errstate(invalid="raise"):  # an infinity is no whole number
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
            place, what = _first_bad_line(content, dtype) or ("", f"not a table of numbers ({error})")
            raise InputError(f"{self.called(kind)}{place} is {what}.") from None

    def numbers(self, kind: str, lines: int | None = None) -> np.ndarray:
        """The file as an array of floats ``[lines, columns]``."""
        return self._check_length(self._frame(kind, np.float64).to_numpy(), kind, lines)

    def whole_numbers(self, kind: str, lines: int | None = None, columns: int | None = None) -> np.ndarray:
        """The file as an array of whole numbers ``[lines, columns]``."""
        table = self._frame(kind, np.int64).to_numpy()
        if columns is not None and len(table) == 0:
            table = table.reshape(0, columns)
        if columns is not None and table.shape[1] != columns:
            raise InputError(f"{self.called(kind)} has {table.shape[1]} columns, not {columns}.")
        return self._check_length(table, kind, lines)

    def _check_length(self, table: np.ndarray, kind: str, lines: int | None) -> np.ndarray:
        if lines is not None and len(table) != lines:
            raise InputError(f"{self.called(kind)} has {len(table)} lines where {lines} are needed.")
        return table


def _unzip(path: Path, member: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(member)


def _first_bad_line(content: bytes, dtype: type) -> tuple[str, str] | None:
    """Where a table that could not be parsed goes wrong first, and how; a slow look, taken only then."""
    whole = dtype is np.int64
    lines = content.decode("utf-8", "replace").splitlines()
    width = lines[0].count(",") + 1
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != width or not all(_is_number(cell, whole) for cell in cells):
            what = f"{width} {'whole numbers' if whole else 'numbers'}"
            return f", line {number}", f"{line[:60]!r}, not {what}"
    return None


def _is_number(cell: str, whole: bool) -> bool:
    if whole:
        return re.fullmatch(r"[+-]?[0-9]{1,18}", cell) is not None
    try:
        float(cell)
    except ValueError:
        return False
    return True
