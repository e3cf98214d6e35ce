"""Files of tables and figures: written all or nothing, and trainings read from them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ssread.data.storage import replacing
from ssread.errors import InputError
from ssread.evaluate.database import COLUMNS

__all__ = ["read_trainings", "write_csv", "write_json", "write_text"]

#: The columns of an exported training, and what SQLite calls their kinds.
KINDS = {name: kind.split()[0] for name, kind in COLUMNS.items() if not kind.startswith("BLOB")}


def write_text(path: Path, text: str) -> Path:
    """Writes a text; gives the path."""
    try:
        with replacing(path) as new:
            new.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): name another --out.") from None
    return path


def write_json(path: Path, content: Any) -> Path:
    """Writes plain values; gives the path."""
    return write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def write_csv(path: Path, table: pd.DataFrame) -> Path:
    """Writes a row per row; gives the path."""
    return write_text(path, table.to_csv(index=False, lineterminator="\n"))


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
