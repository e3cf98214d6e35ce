"""Files and folders written all or nothing; a disk that refuses is reported in a sentence."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError

from ssread.common.plain_json import indented_json
from ssread.errors import InputError, WriteError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["make_folder", "new_folder", "refuse_existing", "replacing", "write_csv", "write_json", "write_text"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a new file in the folder of ``path``, which it replaces at the end unless an error was raised.

    What the operating system refuses (no space, no permission) is raised as a ``WriteError``.
    """
    new = None
    try:
        with _refusals(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            os.close(handle)
            new = Path(name)
            yield new
            new.chmod(0o644)  # mkstemp's own files can be read by their owner alone
            os.replace(new, path)
    finally:
        if new is not None:
            new.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yields a folder beside ``folder`` to fill, which is renamed to it at the end unless an error was raised."""
    refuse_existing(folder)
    new = None
    try:
        with _refusals(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
            yield new
            for path in new.iterdir():
                path.chmod(0o644)
                _to_disk(path)
            new.chmod(0o755)
            os.replace(new, folder)
    finally:
        if new is not None and new.exists():
            shutil.rmtree(new, ignore_errors=True)


def refuse_existing(folder: Path) -> None:
    """Raises an ``InputError`` where a folder to be made exists already; an empty one is accepted."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists already: choose another name, or remove it first.")


def make_folder(folder: Path) -> Path:
    """Makes a folder where there is none, with those above it; returns it."""
    with _refusals(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_text(path: Path, text: str) -> Path:
    """Writes a text; returns the path."""
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")
    return path


def write_json(path: Path, content: Any) -> Path:
    """Writes plain values, with null for NaN; returns the path."""
    return write_text(path, indented_json(content))


def write_csv(path: Path, table: pd.DataFrame) -> Path:
    """Writes a table; returns the path."""
    return write_text(path, table.to_csv(index=False, lineterminator="\n"))


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except (OSError, SafetensorError) as error:  # the latter is how a full disk shows in safetensors
        reason = getattr(error, "strerror", None) or error
        raise WriteError(f"{path} cannot be written: {reason}. Nothing was left there.") from None


def _to_disk(path: Path) -> None:
    """Flushes a file to the disk, so that it survives a power cut once its folder has been renamed."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
