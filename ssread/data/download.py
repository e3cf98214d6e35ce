"""Downloads of zip files: checked, atomic, resumed on the next call, safe with several processes at once."""

from __future__ import annotations

import http.client
import os
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from ssread.data.tu_text import ZIP_ERRORS
from ssread.errors import InputError

TIMEOUT_SECONDS = 30
ABANDONED_SECONDS = 600  # a partial file that has not grown for this long belongs to a process that was killed


def download(address: str, target: Path) -> Path:
    """Downloads the zip at ``address`` to ``target``, which appears only when it is complete and intact.

    An interrupted call leaves a ``.part`` file beside the target, and the next call resumes it. Every process writes
    its own partial file, so any number of them may download at once.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = _claim_part(target)
        try:
            _download_rest(address, part)
            if not _is_intact(part):  # the file on the server may have changed since the first call
                part.unlink()
                _download_rest(address, part)
            if not _is_intact(part):
                part.unlink()
                raise InputError(f"{address} is not an intact zip: try again later or use another mirror.")
            os.replace(part, target)
        finally:
            if part.exists():
                os.replace(part, _unclaimed_part(target))
    except urllib.error.HTTPError as error:
        advice = "check the name" if error.code == 404 else "try again later"
        raise InputError(f"{address} cannot be downloaded ({error.code} {error.reason}): {advice}.") from None
    except (OSError, http.client.HTTPException) as error:
        raise InputError(
            f"The download of {address} to {target} failed ({error}): run again to resume it, or put the file there, "
            "or set SSREAD_MIRROR to a folder that has it."
        ) from None
    return target


def _unclaimed_part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _claim_part(target: Path) -> Path:
    """Returns the path of this process's own partial file, which starts with what an earlier call received.

    A left-over is claimed by renaming it. That is atomic, so only one process gets it.
    """
    own = target.with_name(f"{target.name}.part.{os.getpid()}")
    left_over = [_unclaimed_part(target)]
    for other in target.parent.glob(f"{target.name}.part.*"):
        try:
            if time.time() - other.stat().st_mtime > ABANDONED_SECONDS:
                left_over.append(other)
        except FileNotFoundError:  # its owner has just finished
            continue
    for candidate in left_over:
        try:
            os.replace(candidate, own)
            break
        except FileNotFoundError:
            continue
    return own


def _download_rest(address: str, part: Path) -> None:
    """Appends the missing bytes to ``part``."""
    size = part.stat().st_size if part.exists() else 0
    if size and _is_intact(part):
        return
    request = urllib.request.Request(address, headers={"User-Agent": "ssread"})
    if size:
        request.add_header("Range", f"bytes={size}-")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            resumed = response.status == 206
            expected = response.headers.get("Content-Length")
            received = 0
            with part.open("ab" if resumed else "wb") as file:
                while block := response.read(1 << 16):
                    file.write(block)
                    received += len(block)
        if expected is not None and received < int(expected):
            raise OSError(f"{received} of {expected} bytes arrived")
    except urllib.error.HTTPError as error:
        if error.code != 416:  # 416: the server has no further bytes; the caller checks what we have
            raise


def _is_intact(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except ZIP_ERRORS:
        return False
