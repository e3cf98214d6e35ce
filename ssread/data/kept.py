"""Where the data folder keeps what was made of a TU dataset, and whether that still holds."""

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssread.data.sources import data_folder

__all__ = ["kept_path", "stamp"]

#: The code that decides what is read; what an earlier version of it made is made anew.
CODE = ("assemble.py", "tu.py", "tu_structure.py", "tu_text.py")


def kept_path(source: Path, ending: str, options: Mapping[str, Any] | None = None) -> Path:
    """The file that belongs to a TU folder or zip, read with these options."""
    key = json.dumps([str(source.resolve()), sorted((options or {}).items())], default=str)
    return data_folder() / "processed" / f"{source.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}{ending}"


def stamp(source: Path) -> str:
    """A text that changes when the files of a TU folder or zip do, or the code that reads them."""
    files = sorted(source.glob("*.txt")) if source.is_dir() else [source]
    sizes = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    return json.dumps([_code(), sizes])


@functools.cache
def _code() -> str:
    return hashlib.sha256(b"".join(Path(__file__).with_name(name).read_bytes() for name in CODE)).hexdigest()
