"""The splits by name; nothing here needs torch."""

from pathlib import Path

from ssread.errors import InputError

__all__ = ["RANDOM", "SPLITS", "check_split"]

RANDOM = "random"

#: The splits by name; anything else is the path of a JSON file (:func:`ssread.data.splits.read_splits`).
SPLITS = {
    RANDOM: "at random, every class in its share",
    "scaffold": "molecules with the same scaffold stay together",
    "duplicates": "copies of the same graph stay together",
}


def check_split(split: str) -> None:
    """Raises an ``InputError`` unless there is a split of this name or a file at this path."""
    if split not in SPLITS and not Path(split).is_file():
        raise InputError(f"There is no split {split!r}: choose {', '.join(SPLITS)}, or name a JSON file of folds.")
