"""The splits by name; nothing here needs torch."""

import os

from ssread.errors import InputError

__all__ = ["COLUMN_SPLITS", "RANDOM", "SPLITS", "check_split", "split_column"]

RANDOM = "random"

#: The splits by name; anything else names a column (:data:`COLUMN_SPLITS`) or is the path of a JSON file
#: (:func:`ssread.data.splits.read_splits`).
SPLITS = {
    RANDOM: "at random, every class in its share",
    "scaffold": "molecules with the same scaffold stay together",
    "duplicates": "copies of the same graph stay together",
}

#: Splits by a column of the data, written ``groups:COLUMN`` and so on.
COLUMN_SPLITS = {
    "groups": "graphs with the same value in a column stay together",
    "parts": "a column says train, validation or test",
    "time": "by the order of a column: a model is tested on what came after",
}


def split_column(split: str) -> tuple[str, str] | None:
    """Returns the kind and the column of a split by column; None for other splits.

    >>> split_column("groups:assay"), split_column("random")
    (('groups', 'assay'), None)
    """
    kind, _, column = split.partition(":")
    return (kind, column) if kind in COLUMN_SPLITS and column else None


def check_split(split: str) -> None:
    """Raises an ``InputError`` unless there is a split of this name or a file at this path."""
    if split not in SPLITS and split_column(split) is None and not os.path.isfile(split):
        by_column = ", ".join(f"{kind}:COLUMN" for kind in COLUMN_SPLITS)
        raise InputError(
            f"There is no split {split!r}: choose {', '.join(SPLITS)}, {by_column}, or name a JSON file of folds."
        )
