"""Trainings read from CSV files, as ``ssread results`` and ``ssread reproduce`` write them."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ssread.errors import InputError
from ssread.evaluate.database import COLUMNS

__all__ = ["read_trainings"]

#: The columns of an exported training, and the SQLite type of each.
KINDS = {name: kind.split()[0] for name, kind in COLUMNS.items() if not kind.startswith("BLOB")}


def read_trainings(paths: Sequence[Path]) -> pd.DataFrame:
    """Trainings from CSV files as :meth:`ssread.evaluate.Store.table` has them, those of earlier files first."""
    tables = [_read(path) for path in paths]
    return pd.concat([table for table in tables if len(table)] or [pd.DataFrame(columns=list(KINDS))])


def _read(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path} cannot be read as CSV ({error}).") from None
    for name, kind in KINDS.items():
        if name not in table:
            raise InputError(f"{path} has no column {name!r}: it is not an export of trainings.")
        if kind == "TEXT":
            continue
        try:  # by Python's own numbers, which are exactly what was written; a training that failed has none
            table[name] = table[name].replace("", "nan").astype(int if kind == "INTEGER" else float)
        except (ValueError, TypeError) as error:
            raise InputError(f"The column {name!r} of {path} is not all numbers ({error}).") from None
    return table[list(KINDS)]
