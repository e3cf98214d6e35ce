"""The folder of an unfinished training, so that the same command continues it."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ssread.common.files import make_folder, refuse_existing, write_text
from ssread.common.plain_json import canonical_json
from ssread.errors import InputError, WriteError

__all__ = ["work_folder"]


@contextmanager
def work_folder(out: Path, settings: dict[str, Any]) -> Iterator[Path]:
    """The folder next to ``out`` that an unfinished training is kept in, locked for one process; removed at the end."""
    refuse_existing(out)
    work = make_folder(out.with_name(f"{out.name}.training"))
    lock = FileLock(work / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(f"Another training into {out} is running: wait for it, or choose another name.") from None
    except OSError as error:
        raise WriteError(f"{work} cannot be written: {error.strerror or error}.") from None
    try:
        refuse_existing(out)
        _check_settings(work / "settings.json", settings)
        yield work
        shutil.rmtree(work, ignore_errors=True)
    finally:
        lock.release()


def _check_settings(path: Path, settings: dict[str, Any]) -> None:
    """Writes the settings of a new training; raises an ``InputError`` if those of an unfinished one differ."""
    text = canonical_json(settings)
    if not path.is_file():
        write_text(path, text)
        return
    try:
        before, now = json.loads(path.read_text(encoding="utf-8")), json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is damaged ({error}): remove {path.parent} to start again.") from None
    if before != now:
        differing = ", ".join(key for key in now if before.get(key) != now[key])
        raise InputError(
            f"{path.parent} holds an unfinished training with other settings ({differing}): repeat that command, or "
            "remove the folder to start again."
        )
