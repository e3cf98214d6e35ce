"""The files of a library of molecules, and what they are called in the output."""

import glob
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

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

    Names are relative to the folder, or to the innermost folder that holds all files that fit the pattern. An output
    folder is not part of the library that it lies in: neither ``out``, nor, below a folder, one of an earlier call.
    """
    path = Path(data).expanduser()
    outputs = {Path(out).resolve()}
    if path.is_file():  # whatever its name would mean as a pattern
        found, outputs = [path], set()
    elif path.is_dir():
        found = [p for p in path.rglob("*") if p.is_file() and ending_of(p) in MOLECULE_ENDINGS]
        outputs |= set(_outputs_below(path))
    else:
        found = [Path(name) for name in glob.glob(str(path), recursive=True) if Path(name).is_file()]
    found = sorted(p for p in found if outputs.isdisjoint(p.resolve().parents))
    wrong = [p for p in found if ending_of(p) not in MOLECULE_ENDINGS]
    if wrong or not found:
        what = f"{wrong[0]} is not one" if wrong else f"{data} has none"
        raise InputError(f"Files of molecules are needed, which end in {', '.join(MOLECULE_ENDINGS)}, but {what}.")
    top = path if path.is_dir() else Path(os.path.commonpath([p.parent for p in found]))
    return [LibraryFile(p, _readable(p.relative_to(top).as_posix())) for p in found]


def _readable(name: str) -> str:
    """A name as text that can be written; a file may have one that is no UTF-8."""
    return os.fsencode(name).decode(errors="backslashreplace")


def _outputs_below(folder: Path) -> Iterator[Path]:
    """The folders of parts below a folder."""
    for path in folder.rglob(MANIFEST):
        with suppress(InputError):  # a manifest of something else
            if path.parent != folder and read_manifest(path):
                yield path.parent.resolve()


def read_manifest(path: Path) -> dict[str, Any]:
    """Reads the manifest of a folder of parts; empty if it is one of something else."""
    found = parse_json(read_text(path), str(path))
    options = found.get("options") if isinstance(found, dict) else None
    return found if isinstance(options, dict) and "rows_of_a_part" in options and "inputs" in found else {}
