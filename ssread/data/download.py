"""Downloads of zips that are checked, atomic, resumed by running again, and safe from several processes."""

from __future__ import annotations

import http.client
import os
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from ssread.data.tu_text import DAMAGE
from ssread.errors import InputError

TIMEOUT_SECONDS = 30
ABANDONED_SECONDS = 600  # a part that has not grown for so long belongs to a process that was killed


def download(address: str, target: Path) -> Path:
    """Download the zip at ``address`` to ``target``, which appears only when it is complete and intact.

    What an interrupted call had received stays beside the target in a ``.part`` file, from which the next
    call goes on. Every process writes a part of its own, so any number may start at once.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = _claim_part(target)
        try:
            _receive(address, part)
            if not _is_intact(part):  # perhaps it was begun from a file that has changed since
                part.unlink()
                _receive(address, part)
            if not _is_intact(part):
                part.unlink()
                raise InputError(f"{address} is not an intact zip: try again later or from another mirror.")
            os.replace(part, target)
        finally:
            if part.exists():
                os.replace(part, _resting_part(target))
    except urllib.error.HTTPError as error:
        advice = "check the name" if error.code == 404 else "try again later"
        raise InputError(f"{address} cannot be had ({error.code} {error.reason}): {advice}.") from None
    except (OSError, http.client.HTTPException) as error:
        raise InputError(
            f"{address} could not be downloaded to {target} ({error}): run again to go on, or put the file "
            "there, or name a folder that has it in SSREAD_MIRROR."
        ) from None
    return target


def _resting_part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _claim_part(target: Path) -> Path:
    """A part file for this process alone, with what an earlier call left: renaming is atomic, so one gets it."""
    own = target.with_name(f"{target.name}.part.{os.getpid()}")
    left = [_resting_part(target)]
    for other in target.parent.glob(f"{target.name}.part.*"):
        try:
            if time.time() - other.stat().st_mtime > ABANDONED_SECONDS:
                left.append(other)
        except FileNotFoundError:  # its owner has just finished
            continue
    for candidate in left:
        try:
            os.replace(candidate, own)
            break
        except FileNotFoundError:
            continue
    return own


def _receive(address: str, part: Path) -> None:
    """Append what is missing to ``part``."""
    have = part.stat().st_size if part.exists() else 0
    if have and _is_intact(part):
        return
    request = urllib.request.Request(address, headers={"User-Agent": "ssread"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            goes_on = answer.status == 206
            expected = answer.headers.get("Content-Length")
            received = 0
            with part.open("ab" if goes_on else "wb") as file:
                while block := answer.read(1 << 16):
                    file.write(block)
                    received += len(block)
        if expected is not None and received < int(expected):
            raise OSError(f"{received} of {expected} bytes arrived")
    except urllib.error.HTTPError as error:
        if error.code != 416:  # 416: nothing lies beyond what we have; the check decides what it is worth
            raise


def _is_intact(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except DAMAGE:
        return False
