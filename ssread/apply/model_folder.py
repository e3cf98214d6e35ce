"""The folder that keeps a trained model: the names of its files, and its description. Read without torch."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssread.common.checking import checked, parse_json, read_text
from ssread.common.versions import VERSION
from ssread.errors import InputError

__all__ = ["CARD", "CONFIG", "FORMAT", "FORMAT_VERSION", "WEIGHTS", "position_names", "read_config"]

FORMAT = "ssread.TrainedModel"
FORMAT_VERSION = 1  # of the format; a later one that this code cannot read has a larger number
WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "card.md"


def read_config(folder: Path) -> dict[str, Any]:
    """The description in a model's folder, once it is found to be one that this version can read."""
    path = folder / CONFIG
    if not os.path.isfile(path):
        problem = f"has no {CONFIG}" if os.path.isdir(folder) else "is not a folder"
        raise InputError(f"{folder} {problem}: give the folder of a model that ssread train wrote.")
    config = parse_json(read_text(path), str(path))
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise InputError(f"{path} does not describe an ssread model.")
    version = config.get("version")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{folder} has version {version!r} of the model format, but ssread {VERSION} reads version "
            f"{FORMAT_VERSION}: install the versions that wrote it ({config.get('written_with')})."
        )
    return checked("ssread.apply.model_schema:ModelDescription", config, str(path))


def position_names(summary: Mapping[str, Any], count: int) -> list[str]:
    """The name of each structural position: what it means, or ``position 0``.

    Args:
        summary: The summary of a model.
        count: The number of positions.
    """
    stored = [entry.get("name") for entry in summary.get("positions") or []][:count]
    return [name or f"position {k}" for k, name in enumerate([*stored, *[None] * (count - len(stored))])]
