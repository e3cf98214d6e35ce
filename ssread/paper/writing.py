"""Files of tables and figures, each written all or nothing."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from ssread.data.storage import replacing
from ssread.errors import InputError

__all__ = ["write_csv", "write_json", "write_text"]


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
