"""The files of a library of molecules, and what they are called in the output."""

import glob
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ssread.common.checking import parse_json, read_text
from ssread.data.sources import MOLECULE_ENDINGS, ending_of
from ssread.errors import InputError

__all__ = ["MANIFEST", "LibraryFile", "library_files", "read_manifest"]

#: The file that says what a folder of parts was made from.
MANIFEST = "manifest.json"


class LibraryFile(NamedTuple):
    """A file of molecules, and its name in the output: its path within the library, with ``/``."""

    path: Path
    name: str


def library_files(data: str | os.PathLike[str], out: str | os.PathLike[str]) -> list[LibraryFile]:
    """The files of molecules in a folder, those that fit a pattern such as ``library/*.smi.gz``, or one file.

    Names are relative to the folder, or to the innermost folder that holds all files that fit the pattern. Links are
    followed, and hidden files are left out. An output folder is not part of the library that it lies in: neither
    ``out``, nor, below a folder, one of an earlier call. What cannot be read raises an ``InputError``.
    """
    path = Path(data).expanduser()
    outputs = {Path(out).resolve()}
    if os.path.isfile(path):  # whatever its name would mean as a pattern
        found, outputs = [path], set()
    elif os.path.isdir(path):
        found = list(_files_below(path))
    else:
        found = list(_files_that_fit(path))
    found = sorted(p for p in found if outputs.isdisjoint(p.resolve().parents))
    wrong = [p for p in found if ending_of(p) not in MOLECULE_ENDINGS]
    if wrong or not found:
        what = f"{wrong[0]} is not one" if wrong else f"{data} has none"
        raise InputError(f"Files of molecules are needed, which end in {', '.join(MOLECULE_ENDINGS)}, but {what}.")
    top = path if os.path.isdir(path) else Path(os.path.commonpath([p.parent for p in found]))
    return [LibraryFile(p, _readable(p.relative_to(top).as_posix())) for p in found]


def _readable(name: str) -> str:
    """A name as text that can be written; a file may have one that is no UTF-8."""
    return os.fsencode(name).decode(errors="backslashreplace")


def _files_below(top: Path) -> Iterator[Path]:
    """The files of molecules in a folder and its subfolders; a folder that several links lead to counts once."""
    seen = set[tuple[int, int]]()
    for place, subfolders, names in os.walk(top, onerror=_refuse, followlinks=True):
        folder, status = Path(place), os.stat(place)
        identity = (status.st_dev, status.st_ino)
        if identity in seen or (folder != top and MANIFEST in names and _is_manifest(folder / MANIFEST)):
            subfolders.clear()
            continue
        seen.add(identity)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for path in (folder / name for name in names if not name.startswith(".")):
            fits = ending_of(path) in MOLECULE_ENDINGS
            if (fits or path.is_symlink()) and _is_file(path) and fits:  # a link that leads nowhere is refused
                yield path


def _files_that_fit(pattern: Path) -> Iterator[Path]:
    """The files that fit a pattern, those of a folder that several links lead to once.

    ``glob`` itself says nothing about folders that it cannot read, and goes round in links that lead back.
    """
    for part in (pattern, *pattern.parents):
        if glob.has_magic(part.name):
            folders = part if part.name == "**" else part.parent
            for folder in filter(os.path.isdir, glob.glob(str(folders), recursive=True)):
                _require_readable(folder)
    found = dict[tuple[str, str], Path]()
    for path in map(Path, sorted(glob.glob(str(pattern), recursive=True), key=lambda name: (len(name), name))):
        found.setdefault((os.path.realpath(path.parent), path.name), path)
    return filter(_is_file, found.values())


def _require_readable(folder: str) -> None:
    try:
        os.scandir(folder).close()
    except OSError as error:
        _refuse(error)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        _refuse(error)


def _refuse(error: OSError) -> NoReturn:
    """Raises an ``InputError`` for a folder or file of the library that cannot be read."""
    path = os.fspath(error.filename)
    what = f"{path} (a link to {os.readlink(path)})" if os.path.islink(path) else path
    raise InputError(
        f"{_readable(what)} cannot be read ({error.strerror}), so its molecules would be missing: make it readable, or "
        "remove it from the library."
    ) from None


def _is_manifest(path: Path) -> bool:
    try:
        return bool(read_manifest(path))
    except InputError:  # it is of something else
        return False


def read_manifest(path: Path) -> dict[str, Any]:
    """Reads the manifest of a folder of parts; empty if it is one of something else."""
    found = parse_json(read_text(path), str(path))
    options = found.get("options") if isinstance(found, dict) else None
    return found if isinstance(options, dict) and "rows_of_a_part" in options and "inputs" in found else {}
