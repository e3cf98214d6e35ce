"""The SQLite file of the results store: shared by several processes, with errors that say what to do."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ssread.errors import InputError

APPLICATION = 0x53535264  # "SSRd": distinguishes our files from other SQLite files
VERSION = 1
COLUMNS = {
    "key": "TEXT PRIMARY KEY",
    "dataset": "TEXT NOT NULL",
    "fingerprint": "TEXT NOT NULL",
    "arch": "TEXT NOT NULL",
    "readout": "TEXT NOT NULL",
    "aggr": "TEXT NOT NULL",
    "num_positions": "INTEGER NOT NULL",
    "seed": "INTEGER NOT NULL",
    "fold": "INTEGER NOT NULL",
    "num_folds": "INTEGER NOT NULL",
    "selection": "TEXT NOT NULL",
    "valid_accuracy": "REAL",
    "valid_loss": "REAL",
    "test_accuracy": "REAL",
    "best_epoch": "INTEGER NOT NULL",
    "epochs": "INTEGER NOT NULL",
    "seconds": "REAL NOT NULL",
    "failed": "TEXT NOT NULL",
    "device": "TEXT NOT NULL",
    "ssread": "TEXT NOT NULL",
    "torch": "TEXT NOT NULL",
    "torch_geometric": "TEXT NOT NULL",
    "python": "TEXT NOT NULL",
    "run": "TEXT NOT NULL",
    "training": "TEXT NOT NULL",
    "predictions": "BLOB NOT NULL",
    "curves": "BLOB NOT NULL",
}
SCHEMA = f"CREATE TABLE runs ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})"
BUSY = ("locked", "busy", "locking protocol")


def connect(path: Path, timeout: float) -> sqlite3.Connection:
    """Opens a store, or creates one; ``timeout`` is how many seconds to wait for other processes."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder: give a file in it for the results, e.g. {path / 'results.db'}.")
    with errors_as_sentences(path, timeout):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"The folder of {path} cannot be created: {error.strerror} ({error.filename}).") from None
        connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection, path, time.monotonic() + timeout)
        except BaseException:
            connection.close()
            raise
        return connection


def check_results_file(path: str | os.PathLike[str]) -> None:
    """Raises an ``InputError`` if the results file does not exist."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder: give the results file in it.")
    if not os.path.isfile(path):
        writer = "results -o runs.csv" if str(path).lower().endswith(".csv") else "compare"
        raise InputError(f"There is no results file {path}; ssread {writer} writes one.")


def _prepare(connection: sqlite3.Connection, path: Path, deadline: float) -> None:
    """Checks that the file is ours, or initialises it. Retries while another process does the same."""
    while True:
        try:
            if _is_ours(connection, path):
                return
            connection.execute("PRAGMA journal_mode = WAL")  # this statement ignores the timeout
            connection.execute("BEGIN IMMEDIATE")
            if not _is_ours(connection, path):
                connection.execute(SCHEMA)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
            return
        except sqlite3.OperationalError as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if time.monotonic() > deadline or not any(word in str(error) for word in BUSY):
                raise
            time.sleep(0.02)


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is initialised; a single statement, so that it sees a single state of the file."""
    application, version, tables = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application == APPLICATION and version > VERSION:
        raise InputError(
            f"{path} was written by a newer version of ssread (format {version}, this one reads {VERSION}): "
            "update with pip install --upgrade ssread, or use another file."
        )
    if application != APPLICATION and tables:
        raise InputError(f"{path} is the SQLite file of another program: use another file for the results.")
    return application == APPLICATION


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Makes all changes in the block at its end; none if an error is raised in it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def errors_as_sentences(path: Path, timeout: float) -> Iterator[None]:
    """Raises SQLite's errors as an ``InputError`` that names the file and says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(_sentence(path, timeout, str(error))) from error
    except UnicodeDecodeError as error:  # from a message that quotes damaged text
        raise InputError(_sentence(path, timeout, f"malformed text: {error}")) from error


def _sentence(path: Path, timeout: float, problem: str) -> str:
    again = "then run the same command again to continue from there"
    if "full" in problem:
        return f"The disk is full: {path} could not store the result. Earlier ones are safe; free some space, {again}."
    if any(word in problem for word in BUSY):
        return f"{path} has been locked by another process for {timeout:g} seconds: wait for it or stop it, {again}."
    if "readonly" in problem:
        return f"{path} cannot be written: change its permissions or those of its folder, or use another file."
    if "unable to open" in problem:
        return f"{path} cannot be opened: check that its folder is writable, or use another file."
    if "not a database" in problem:
        return f"{path} is not a results store: use another file, or remove this one."
    if "malformed" in problem:
        return f"{path} is damaged ({problem}): restore a backup, or remove it and run again."
    return f"{path} cannot be used as a results store ({problem})."
