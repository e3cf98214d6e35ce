"""The sources of TU datasets: data folder, mirror, installed packages, the web."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ssread.common.checking import shorten
from ssread.errors import InputError

#: How the name of the file ends by which a folder in TU format is known.
INDICATOR = "_graph_indicator.txt"

#: How the names of files of molecules end.
MOLECULE_ENDINGS = (".csv", ".tsv", ".smi", ".sdf", ".parquet", ".csv.gz", ".tsv.gz", ".smi.gz", ".sdf.gz")

COLLECTION = "https://www.chrsmrrs.com/graphkerneldatasets"


@dataclass(frozen=True)
class Source:
    """A place that has a dataset.

    Args:
        kind: ``"data folder"``, ``"mirror"``, ``"installed package"`` or ``"public collection"``.
        place: A folder or zip on this machine, or the address of a zip.
    """

    kind: str
    place: Path | str

    @property
    def is_local(self) -> bool:
        """Whether it can be read without a download."""
        return isinstance(self.place, Path)


def ending_of(path: Path) -> str:
    """Returns the ending of a file's name in lower case, with the one before ``.gz``.

    >>> ending_of(Path("assay.csv")), ending_of(Path("v1.1.CSV.gz"))
    ('.csv', '.csv.gz')
    """
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() + ending if ending == ".gz" else ending


def data_folder() -> Path:
    """Returns the folder of downloads and processed datasets: ``SSREAD_DATA``, or a folder in the user's cache."""
    if chosen := os.environ.get("SSREAD_DATA"):
        return Path(os.path.expanduser(chosen))
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "ssread"


def find(name: str) -> Source:
    """Returns the first source that has the TU dataset ``name``; downloads nothing."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        raise InputError(f"{shorten(name)!r} is neither a file, nor a folder, nor the name of a TU dataset.")
    for kind, place in _folders().items():
        for candidate in (place / f"{name}.zip", place / name):
            if candidate.is_file() or (candidate / f"{name}{INDICATOR}").is_file():
                return Source(kind, candidate)
    mirror = os.environ.get("SSREAD_MIRROR", "")
    if _is_address(mirror):
        return Source("mirror", f"{mirror.rstrip('/')}/{name}.zip")
    return Source("public collection", f"{COLLECTION}/{name}.zip")


def fetch(name: str) -> Path:
    """Returns a local folder or zip with the TU dataset ``name``; downloads it if there is none."""
    source = find(name)
    if isinstance(source.place, Path):
        return source.place
    from ssread.data.download import download

    return download(source.place, _folders()["data folder"] / f"{name}.zip")


def local_names() -> list[str]:
    """Returns the names of all TU datasets that can be read without a download."""
    names = set()
    for place in _folders().values():
        if place.is_dir():
            names |= {file.stem for file in place.glob("*.zip")}
            names |= {file.name.removesuffix(INDICATOR) for file in place.glob(f"*/*{INDICATOR}")}
    return sorted(names)


def _folders() -> dict[str, Path]:
    """Returns the folders that may contain ``NAME.zip`` or ``NAME/``, in the order of the search."""
    folders = {"data folder": data_folder() / "tu"}
    mirror = os.environ.get("SSREAD_MIRROR", "")
    if mirror and not _is_address(mirror):
        folders["mirror"] = Path(os.path.expanduser(mirror))
        if not os.path.isdir(folders["mirror"]):
            raise InputError(f"SSREAD_MIRROR={mirror} is neither a folder nor a web address.")
    # The wheel of grakel contains a few small datasets for its tests; finding them does not import it.
    spec = importlib.util.find_spec("grakel")
    if spec is not None and spec.submodule_search_locations:
        folders["installed package"] = Path(spec.submodule_search_locations[0]) / "tests" / "data"
    return folders


def _is_address(mirror: str) -> bool:
    return mirror.startswith(("http://", "https://"))
