"""The folder that keeps a trained model: the names of its files, and its description. Read without torch."""

import json
from pathlib import Path
from typing import Any

from ssread.common.versions import VERSION
from ssread.errors import InputError

__all__ = ["CARD", "CONFIG", "FORMAT", "FORMAT_VERSION", "WEIGHTS", "read_config"]

FORMAT = "ssread.TrainedModel"
FORMAT_VERSION = 1  # of the format; a later one that this code cannot read has a larger number
WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "card.md"


def read_config(folder: Path) -> dict[str, Any]:
    """The description in a model's folder, once it is found to be one that this version can read."""
    path = folder / CONFIG
    if not path.is_file():
        problem = "is not a folder" if not folder.is_dir() else f"has no {CONFIG}"
        raise InputError(f"{folder} {problem}: give the folder of a model that ssread train wrote.")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}).") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise InputError(f"{path} does not describe an ssread model.")
    version = config.get("version")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{folder} has version {version!r} of the model format, but ssread {VERSION} reads version "
            f"{FORMAT_VERSION}: install the versions that wrote it ({config.get('written_with')})."
        )
    return config
