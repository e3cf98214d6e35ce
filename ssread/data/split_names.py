"""The splits by name; nothing here needs torch."""

__all__ = ["RANDOM", "SPLITS"]

RANDOM = "random"

#: The splits by name; anything else is the path of a JSON file (:func:`ssread.data.splits.read_splits`).
SPLITS = {
    RANDOM: "at random, every class in its share",
    "scaffold": "molecules with the same scaffold stay together",
    "duplicates": "copies of the same graph stay together",
}
