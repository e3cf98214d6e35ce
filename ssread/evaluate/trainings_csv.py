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
    """Returns trainings from CSV files as a :meth:`ssread.evaluate.Store.table`, in the order of the files."""
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
        try:  # Python's own parser reads exactly what was written; failed trainings have no number
            table[name] = table[name].replace("", "nan").astype(int if kind == "INTEGER" else float)
        except (ValueError, TypeError) as error:
            raise InputError(f"The column {name!r} of {path} contains values that are not numbers ({error}).") from None
    return table[list(KINDS)]
