"""Class labels as people write them (words, numbers, numbers as text) turned into class indices."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ssread.errors import InputError

#: More classes than this are accepted only if they have two labels each on average.
MAX_CLASSES = 50


def is_missing(label: Any) -> bool:
    """Whether a cell holds no label: ``None``, NaN, nothing but blanks, or the text "nan".

    >>> [is_missing(label) for label in (None, float("nan"), " ", "nan", 0, "no")]
    [True, True, True, True, False, False]
    """
    if isinstance(label, str):
        return label.strip().lower() in ("", "nan")
    return label is None or (isinstance(label, float | np.floating) and math.isnan(label))


def encode_classes(labels: Sequence[Any], source: str) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Returns the class index of every label, and the names of the classes in order.

    If all labels are numbers (or texts that hold numbers), classes are ordered as numbers, and 1, "1" and "1.0" are
    the same class. Otherwise classes are texts in alphabetical order.

    Args:
        labels: Texts, numbers or booleans, none missing.
        source: The name of the input in error messages.

    >>> encode_classes(["10", "-1", "10.0"], "here")
    (array([1, 0, 1]), ('-1', '10'))
    """
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    unusable = [label for label in plain if not isinstance(label, str | int | float)]
    if unusable:
        raise InputError(f"{source}: labels must be texts or numbers, not {type(unusable[0]).__name__}.")
    numbers = [as_number(label) for label in plain]
    if None in numbers:
        # -0.0 equals 0.0, but is written with its sign; adding zero takes that away.
        keys: list[Any] = [str(label + 0.0 if isinstance(label, float) else label).strip() for label in plain]
    else:
        keys = numbers
    classes = sorted(set(keys))
    if len(classes) > max(MAX_CLASSES, len(keys) / 2):
        raise InputError(
            f"{source}: the {len(keys)} labels have {len(classes)} different values, such as {plain[0]!r}: that is a "
            "quantity or a name, not a class. Choose another label, or group the values into a few classes first."
        )
    index_of = {key: index for index, key in enumerate(classes)}
    names = tuple(str(int(key)) if isinstance(key, float) and key.is_integer() else str(key) for key in classes)
    return np.array([index_of[key] for key in keys], dtype=np.int64), names


def as_number(label: Any) -> float | None:
    """Returns the label as a number, or ``None`` if it is not one or too large for a float to be exact."""
    if isinstance(label, bool | np.bool_) or (isinstance(label, str) and "_" in label):
        return None
    try:
        number = float(label)
    except (OverflowError, TypeError, ValueError):
        return None
    return number if abs(number) < 2**53 else None
