"""Trainings read from CSV files, as ``ssread results`` and ``ssread reproduce`` write them."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ssread.common.checking import shorten
from ssread.errors import InputError
from ssread.evaluate.database import COLUMNS
from ssread.evaluate.keys import DatasetId, identity_columns, run_of
from ssread.evaluate.stored_settings import stored_training
from ssread.train.runs import Run, Training

__all__ = ["checked_trainings", "read_trainings"]

#: The columns of an exported training, and the SQLite type of each.
KINDS = {name: kind.split()[0] for name, kind in COLUMNS.items() if not kind.startswith("BLOB")}

ACCURACIES = ("valid_accuracy", "test_accuracy")
AGAIN = "export the trainings again with ssread results -o runs.csv"


def read_trainings(paths: Sequence[Path]) -> pd.DataFrame:
    """Returns trainings from CSV files as a :meth:`ssread.evaluate.Store.table`, in the order of the files."""
    tables = [_read(path) for path in paths]
    return pd.concat([table for table in tables if len(table)] or [pd.DataFrame(columns=list(KINDS))])


def checked_trainings(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Returns the trainings of a CSV file as rows for the results store, and the number of rows that are left out.

    The key of a row must be that of its dataset and settings. If it is not, the row is left out: it was changed, or a
    version of ssread trained it whose results are no longer the same. Settings that did not exist yet when a row was
    written have their defaults. A number that no training has raises an ``InputError``; otherwise accuracies are
    believed, since nothing in the file could confirm them.
    """
    rows = read_trainings([path]).to_dict("records")
    kept = []
    for number, row in enumerate(rows, start=1):
        try:
            run, training = run_of(row["run"]), Training(**stored_training(row["training"]))
            identity = identity_columns(DatasetId(row["dataset"], row["fingerprint"]), run, training)
        except Exception:  # settings that this version does not know can be of any kind and shape
            continue
        if identity["key"] != row["key"]:
            continue
        if wrong := _wrong_number(row, run, training):
            raise InputError(f"Row {number} of {path} is damaged ({wrong}): {AGAIN}, or remove this row.")
        kept.append({**row, **identity})
    return kept, len(rows) - len(kept)


def _wrong_number(row: Mapping[str, Any], run: Run, training: Training) -> str:
    """Says which number of a row no training has; empty if there is none."""
    has_classes = run.task == "class" and training.selection in ("accuracy", "seen")
    for name in ACCURACIES:
        if math.isnan(row[name]) and has_classes and not row["failed"]:
            return f"{name} is empty, though the training did not fail"
        if not math.isnan(row[name]) and not 0 <= row[name] <= 1:
            return f"{name} is {row[name]:g}, not between 0 and 1"
    if not 0 <= row["seconds"] < math.inf:
        return f"seconds is {row['seconds']:g}"
    if not 0 <= row["best_epoch"] <= row["epochs"]:
        return f"best_epoch is {row['best_epoch']} of {row['epochs']} epochs"
    return ""


def _read(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except pd.errors.EmptyDataError:
        raise InputError(f"{path} is empty: {AGAIN}.") from None
    except (OSError, UnicodeDecodeError, pd.errors.ParserError) as error:
        reason = shorten(" ".join(str(error).split()), 300)
        raise InputError(f"{path} cannot be read as CSV ({reason}): {AGAIN}.") from None
    for name, kind in KINDS.items():
        if name not in table:
            raise InputError(f"{path} has no column {name!r}: it is not an export of trainings; {AGAIN}.")
        if kind == "TEXT":
            table[name] = table[name].fillna("")  # a row that ends early
            continue
        try:  # Python's own parser reads exactly what was written; failed trainings have no number
            table[name] = table[name].replace("", "nan").astype(int if kind == "INTEGER" else float)
        except (ValueError, TypeError, OverflowError) as error:
            raise InputError(
                f"The column {name!r} of {path} contains values that are not numbers ({shorten(str(error), 300)}): "
                f"{AGAIN}."
            ) from None
    return table[list(KINDS)]
