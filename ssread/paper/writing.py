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

NUMBERS = ("valid_accuracy", "valid_loss", "test_accuracy")  # empty where a training failed


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
    columns = [name for name, kind in COLUMNS.items() if not kind.startswith("BLOB")]
    tables = [pd.DataFrame(columns=columns)]
    for path in paths:
        try:
            empty = {name: [""] for name in NUMBERS}
            table = pd.read_csv(path, keep_default_na=False, na_values=empty, float_precision="round_trip")
        except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise InputError(f"{path} cannot be read as CSV ({error}).") from None
        if absent := [name for name in columns if name not in table]:
            raise InputError(f"{path} has no column {absent[0]!r}: it is not an export of trainings.")
        tables.append(table[columns])
    return pd.concat([table for table in tables if len(table)] or tables)
