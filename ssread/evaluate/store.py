"""The results store: one SQLite file with a row per training, safe if a process is killed, shared by processes."""

import dataclasses
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ssread.common.checking import shorten
from ssread.common.plain_json import canonical_json
from ssread.common.versions import versions
from ssread.errors import InputError
from ssread.evaluate.database import COLUMNS, check_results_file, connect, errors_as_sentences, transaction
from ssread.evaluate.keys import DatasetId, identity_columns, run_of
from ssread.evaluate.metrics import score
from ssread.evaluate.trainings_csv import checked_trainings
from ssread.train.runs import RunResult, Training

__all__ = ["Merged", "Store"]

#: Of two results for a training the first stays, unless only the second has predictions and curves.
ADD = (
    f"INSERT INTO runs ({', '.join(COLUMNS)}) {{rows}} ON CONFLICT (key) DO UPDATE SET "
    f"{', '.join(f'{name} = excluded.{name}' for name in COLUMNS)} "
    "WHERE length(runs.predictions) = 0 AND length(excluded.predictions) > 0"
)
ADD_ROW = ADD.format(rows=f"VALUES ({', '.join(f':{name}' for name in COLUMNS)})")
ADD_OTHER = ADD.format(rows=f"SELECT {', '.join(COLUMNS)} FROM other.runs WHERE true")

#: The predictions and curves of a training that comes from a CSV file.
NOT_STORED = {"predictions": b"", "curves": b""}
NO_PREDICTIONS = {"ids": np.empty(0, int), "labels": np.empty(0, int), "probabilities": np.empty((0, 0), np.float32)}

KINDS = {"REAL": float, "REAL NOT NULL": float, "INTEGER NOT NULL": int}  # SQLite stores NaN as NULL
ORDER = "dataset, fingerprint, arch, readout, aggr, num_positions, seed, fold, key"
STORED_RESULT = (
    *("key", "run", "best_epoch", "epochs", "valid_accuracy", "valid_loss", "test_accuracy", "seconds", "failed"),
    *("predictions", "curves"),
)
CHOSEN = "key IN (SELECT value FROM json_each(?))"


class Merged(NamedTuple):
    """What :meth:`Store.merge` did."""

    added: int  #: The number of trainings that are new here, or have predictions now that they had not before.
    left_out: int = 0  #: The number of rows of a CSV file whose key is not that of their settings.


class Store:
    """The results of trainings, in one file.

    Every result is written by one statement, which is atomic in SQLite (in WAL mode). So a process killed at any moment
    leaves a valid file with every result added before. Several processes may write: they wait for each other, and of
    two results for the same training the first is kept.

    A training that comes from a CSV file has no predictions and no curves (:attr:`ssread.train.RunResult.complete`). It
    is replaced as soon as the same training is added with them.

    Args:
        path: The file; created, with its folder, if it does not exist.
        timeout: For how many seconds to wait while another process writes.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = 60.0) -> None:
        self.path = Path(path)
        self.timeout = timeout
        self._connection = connect(self.path, timeout)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._rows("SELECT count(*) FROM runs")[0][0]

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {len(self)} runs)"

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def add(self, dataset: DatasetId, result: RunResult, training: Training, device: str) -> bool:
        """Stores a result, also of a training that failed; returns False if this training was stored and stays."""
        row: dict[str, Any] = {
            **identity_columns(dataset, result.run, training),
            "valid_accuracy": float(result.valid_accuracy),
            "valid_loss": float(result.valid_loss),
            "test_accuracy": score(result),
            "best_epoch": int(result.best_epoch),
            "epochs": int(result.epochs),
            "seconds": float(result.seconds),
            "failed": result.failed,
            "device": device,
            **versions(),
            "training": canonical_json(dataclasses.asdict(training)),
            **(_packed(result) if result.complete else NOT_STORED),
        }
        with errors_as_sentences(self.path, self.timeout):
            return self._connection.execute(ADD_ROW, row).rowcount == 1

    def merge(self, path: str | os.PathLike[str]) -> Merged:
        """Adds the results of another file, such as another machine's, all or nothing.

        Args:
            path: A results store, or a ``.csv`` file of trainings, as :func:`ssread.evaluate.export` and
                ``ssread reproduce`` write it: see :func:`ssread.evaluate.trainings_csv.checked_trainings`.
        """
        check_results_file(path)
        if Path(path).suffix.lower() == ".csv":
            rows, left_out = checked_trainings(Path(path))
            with errors_as_sentences(self.path, self.timeout), transaction(self._connection):
                added = self._connection.executemany(ADD_ROW, [{**row, **NOT_STORED} for row in rows]).rowcount
            return Merged(max(added, 0), left_out)
        Store(path).close()  # raises an InputError if it is not a results store
        with errors_as_sentences(Path(path), self.timeout):
            self._connection.execute("ATTACH DATABASE ? AS other", [str(path)])
            try:
                return Merged(self._connection.execute(ADD_OTHER).rowcount)
            finally:
                self._connection.execute("DETACH DATABASE other")

    def has(self, keys: Iterable[str], complete: bool = False) -> set[str]:
        """Returns which of these trainings are stored, failed ones included: they would fail again.

        Args:
            keys: The keys of the trainings.
            complete: Whether only trainings with predictions and curves count, and failed ones, which need none.
        """
        sql = f"SELECT key FROM runs WHERE {CHOSEN} AND (failed != '' OR length(predictions) >= ?)"
        return {key for (key,) in self._rows(sql, json.dumps([*keys]), int(complete))}

    def results(self, keys: Iterable[str]) -> dict[str, RunResult]:
        """Returns the stored results of these trainings; trainings that are not stored are left out."""
        sql = f"SELECT {', '.join(STORED_RESULT)} FROM runs WHERE {CHOSEN} ORDER BY {ORDER}"
        rows = [dict(zip(STORED_RESULT, row, strict=True)) for row in self._rows(sql, json.dumps([*keys]))]
        return {row["key"]: self._result(**row) for row in rows}

    def table(self) -> pd.DataFrame:
        """Returns one row per training, without predictions and curves, in an order that does not depend on time."""
        columns = [name for name, kind in COLUMNS.items() if not kind.startswith("BLOB")]
        rows = self._rows(f"SELECT {', '.join(columns)} FROM runs ORDER BY {ORDER}")
        table = pd.DataFrame(rows, columns=columns)
        try:
            for name in columns:
                kind = COLUMNS[name].split()[0]
                if kind == "TEXT" and not table[name].map(lambda value: isinstance(value, str)).all():
                    raise ValueError(f"{name} is not text everywhere")
            numbers = {name: KINDS[kind] for name, kind in COLUMNS.items() if kind in KINDS}
            return table.astype(numbers)
        except (ValueError, TypeError, OverflowError) as error:
            raise InputError(f"{self.path} is damaged ({shorten(str(error), 300)}): restore a backup.") from None

    def _rows(self, sql: str, *arguments: Any) -> list[tuple]:
        with errors_as_sentences(self.path, self.timeout):
            return self._connection.execute(sql, arguments).fetchall()

    def _result(
        self,
        key: str,
        run: str,
        best_epoch: int,
        epochs: int,
        valid_accuracy: float | None,
        valid_loss: float | None,
        test_accuracy: float | None,
        seconds: float,
        failed: str,
        predictions: bytes,
        curves: bytes,
    ) -> RunResult:
        try:
            complete = predictions != b""
            test = _unpack(predictions) if complete else NO_PREDICTIONS
            values_by_curve = _unpack(curves) if complete else {}
            return RunResult(
                run_of(run),
                best_epoch,
                epochs,
                _number(valid_accuracy),
                _number(valid_loss),
                test["ids"],
                test["labels"],
                test["probabilities"],
                {name: values.tolist() for name, values in values_by_curve.items()},
                seconds,
                failed,
                None if complete else _number(test_accuracy),
            )
        except Exception as error:  # damaged bytes make zipfile, zlib, numpy and json raise more than can be listed
            raise InputError(
                f"The run {key} in {self.path} is damaged "
                f"({type(error).__name__}: {shorten(str(error), 300)}): restore a backup."
            ) from None


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _packed(result: RunResult) -> dict[str, bytes]:
    """Returns the predictions and curves of a training as they are stored."""
    test = _pack(ids=result.test_ids, labels=result.test_targets, probabilities=result.test_predictions)
    curves = _pack(**{name: np.asarray(values, dtype=float) for name, values in result.curves.items()})
    return {"predictions": test, "curves": curves}


def _pack(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpack(blob: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(blob), allow_pickle=False) as arrays:
        return dict(arrays)
