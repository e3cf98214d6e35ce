"""Files and folders written atomically; a failed write is reported in a sentence."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError

from ssread.common.checking import shorten
from ssread.common.plain_json import indented_json
from ssread.errors import InputError, WriteError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "check_name",
    "make_folder",
    "new_folder",
    "refuse_existing",
    "replacing",
    "temporary_folder",
    "write_csv",
    "write_json",
    "write_text",
]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a temporary file beside ``path``, which replaces ``path`` at the end unless an error was raised.

    Errors of the operating system (no space, no permission) are raised as a ``WriteError``.
    """
    new = None
    check_name(path)
    if os.path.lexists(path) and not os.path.isfile(path) and not path.is_symlink():
        kind = "a folder" if path.is_dir() else "no ordinary file"  # a device would be replaced by a file
        raise WriteError(f"{path} cannot be written: it is {kind}; choose another name.")
    try:
        with _write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=_prefix(path), dir=path.parent)
            os.close(handle)
            new = Path(name)
            yield new
            new.chmod(0o644)  # mkstemp makes files that only their owner can read
            os.replace(new, path)
    finally:
        if new is not None:
            new.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yields a temporary folder to fill, which is renamed to ``folder`` at the end unless an error was raised."""
    refuse_existing(folder)
    new = None
    try:
        with _write_errors(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            new = Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=folder.parent))
            yield new
            for path in new.iterdir():
                path.chmod(0o644)
                _flush_to_disk(path)
            new.chmod(0o755)
            os.replace(new, folder)
    finally:
        if new is not None:
            shutil.rmtree(new, ignore_errors=True)


def check_name(path: Path) -> Path:
    """Returns the path of something to write; raises an ``InputError`` if no file or folder can have this name."""
    try:
        fits = path.name not in ("", "..") and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise InputError(f"{str(path)!r} cannot be written: give the name of a new file or folder.")
    return path


def refuse_existing(folder: Path) -> None:
    """Raises an ``InputError`` if ``folder`` exists already and is not an empty folder."""
    check_name(folder)
    with _write_errors(folder):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} exists already: choose another name, or remove it first.")


def make_folder(folder: Path) -> Path:
    """Creates a folder and its parents where they do not exist; returns the folder."""
    with _write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_text(path: Path, text: str) -> Path:
    """Writes text as UTF-8; returns the path."""
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")
    return path


def write_json(path: Path, content: Any) -> Path:
    """Writes plain values as JSON, with null for NaN; returns the path."""
    return write_text(path, indented_json(content))


def write_csv(path: Path, table: pd.DataFrame) -> Path:
    """Writes a table without its index; returns the path."""
    return write_text(path, table.to_csv(index=False, lineterminator="\n"))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yields a folder for temporary files, removed at the end, or at the next start if this process is killed."""
    place = Path(tempfile.gettempdir()) / "ssread"
    with _write_errors(place), tempfile.TemporaryDirectory(prefix=_prefix(place)) as folder:
        yield Path(folder)


def _prefix(path: Path) -> str:
    """How the names of this process's temporary files for ``path`` begin; removes those of processes that are gone."""
    import psutil

    own = f".{path.name[:100]}.{zlib.crc32(platform.node().encode()):08x}-"  # this machine: folders may be shared
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            process = entry.name.removeprefix(own).partition(".")[0] if entry.name.startswith(own) else ""
            if process.isdecimal() and not psutil.pid_exists(int(process)):
                _remove(Path(entry))
    return f"{own}{os.getpid()}."


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    """Raises what goes wrong while writing ``path`` as a ``WriteError``."""
    try:
        yield
    except InputError:
        raise
    except (OSError, SafetensorError) as error:  # safetensors raises the latter when the disk is full
        reason = getattr(error, "strerror", None) or error
        raise WriteError(f"{shorten(str(path), 400)} cannot be written: {reason}. Nothing was left there.") from None


def _flush_to_disk(path: Path) -> None:
    """Flushes a file to the disk, so that it survives a power cut after its folder has been renamed."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
