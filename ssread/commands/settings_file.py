"""Settings from a YAML file."""

import os
from pathlib import Path
from typing import Any

import yaml

from ssread.errors import InputError

__all__ = ["read_settings"]


def read_settings(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a YAML file that maps names to plain values."""
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}).") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise InputError(f"{path} must consist of 'name: value' lines.")
    return content
