"""The results store: one SQLite file with a row per training, safe if a process is killed, shared by processes."""

import dataclasses
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ssread.common.checking import shorten
from ssread.common.plain_json import canonical_json
from ssread.common.versions import versions
from ssread.errors import InputError
from ssread.evaluate.database import COLUMNS, check_results_file, connect, errors_as_sentences
from ssread.evaluate.keys import DatasetId, run_key, run_of, run_settings, selection
from ssread.evaluate.metrics import score
from ssread.models.architectures import ARCHITECTURES
from ssread.train.runs import RunResult, Training

__all__ = ["Store"]

KINDS = {"REAL": float, "REAL NOT NULL": float, "INTEGER NOT NULL": int}  # SQLite stores NaN as NULL
ORDER = "dataset, fingerprint, arch, readout, aggr, num_positions, seed, fold, key"
CHOSEN = "key IN (SELECT value FROM json_each(?))"


class Store:
    """The results of trainings, in one file.

    Every result is written by one statement, which is atomic in SQLite (in WAL mode). So a process killed at any moment
    leaves a valid file with every result added before. Several processes may write: they wait for each other, and of
    two results for the same training the first is kept.

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
        """Stores a result, also of a training that failed; returns False if this training is already stored."""
        run, model = result.run, result.run.model
        readout, arch = model.get("readout", "ssread"), model["name"]
        row: dict[str, Any] = {
            "key": run_key(dataset, run, training),
            "dataset": dataset.name,
            "fingerprint": dataset.fingerprint,
            "arch": arch,
            "readout": readout,
            "aggr": aggregation_name(arch, model.get("aggr")),
            "num_positions": 1 if readout == "global" else int(model.get("num_positions", 4)),
            "seed": int(run.seed),
            "fold": int(run.fold),
            "num_folds": int(run.num_folds),
            "selection": selection(training, run.learn, run.task),
            "valid_accuracy": float(result.valid_accuracy),
            "valid_loss": float(result.valid_loss),
            "test_accuracy": score(result),
            "best_epoch": int(result.best_epoch),
            "epochs": int(result.epochs),
            "seconds": float(result.seconds),
            "failed": result.failed,
            "device": device,
            **versions(),
            "run": canonical_json(run_settings(run)),
            "training": canonical_json(dataclasses.asdict(training)),
            "predictions": _pack(
                ids=result.test_ids, labels=result.test_targets, probabilities=result.test_predictions
            ),
            "curves": _pack(**{name: np.asarray(values, dtype=float) for name, values in result.curves.items()}),
        }
        names, values = ", ".join(row), ", ".join("?" * len(row))
        sql = f"INSERT INTO runs ({names}) VALUES ({values}) ON CONFLICT (key) DO NOTHING"
        with errors_as_sentences(self.path, self.timeout):
            return self._connection.execute(sql, [*row.values()]).rowcount == 1

    def merge(self, path: str | os.PathLike[str]) -> int:
        """Adds the results of another file, such as another machine's; returns how many were new."""
        check_results_file(path)
        names = ", ".join(COLUMNS)
        take = f"INSERT INTO runs ({names}) SELECT {names} FROM other.runs WHERE true ON CONFLICT (key) DO NOTHING"
        Store(path).close()  # raises an InputError if it is not a results store
        with errors_as_sentences(Path(path), self.timeout):
            self._connection.execute("ATTACH DATABASE ? AS other", [str(path)])
            try:
                return self._connection.execute(take).rowcount
            finally:
                self._connection.execute("DETACH DATABASE other")

    def has(self, keys: Iterable[str]) -> set[str]:
        """Returns which of these trainings are stored, failed ones included: they would fail again."""
        return {key for (key,) in self._rows(f"SELECT key FROM runs WHERE {CHOSEN}", json.dumps([*keys]))}

    def results(self, keys: Iterable[str]) -> dict[str, RunResult]:
        """Returns the stored results of these trainings; trainings that are not stored are left out."""
        columns = "run, best_epoch, epochs, valid_accuracy, valid_loss, seconds, failed, predictions, curves"
        rows = self._rows(f"SELECT key, {columns} FROM runs WHERE {CHOSEN} ORDER BY {ORDER}", json.dumps([*keys]))
        return {key: self._result(key, *rest) for key, *rest in rows}

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
        seconds: float,
        failed: str,
        predictions: bytes,
        curves: bytes,
    ) -> RunResult:
        try:
            test, values_by_curve = _unpack(predictions), _unpack(curves)
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
            )
        except Exception as error:  # damaged bytes make zipfile, zlib, numpy and json raise more than can be listed
            raise InputError(
                f"The run {key} in {self.path} is damaged "
                f"({type(error).__name__}: {shorten(str(error), 300)}): restore a backup."
            ) from None


def aggregation_name(arch: str, aggr: str | Iterable[str] | None) -> str:
    """Returns the name of an aggregation in tables: ``max+mean`` for several, the architecture's own for ``None``.

    >>> aggregation_name("sagpool", None), aggregation_name("gcn", "sum")
    ('max+mean', 'sum')
    """
    if aggr is None:
        aggr = ARCHITECTURES[arch].aggr
    return aggr if isinstance(aggr, str) else "+".join(aggr)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _pack(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpack(blob: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(blob), allow_pickle=False) as arrays:
        return dict(arrays)
