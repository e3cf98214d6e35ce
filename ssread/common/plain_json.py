"""Plain values as JSON: without NaN, which JSON does not have, and in a canonical form for hashing."""

import json
import math
from collections.abc import Mapping
from typing import Any

from ssread.errors import InputError

__all__ = ["canonical_json", "indented_json", "without_nan"]


def canonical_json(value: Any) -> str:
    """Returns settings as JSON in canonical form: keys sorted, 1.0 as 1, tuples as lists, no NaN.

    >>> canonical_json({"b": (1.0, None), "a": 2})
    '{"a":2,"b":[1,null]}'
    """
    try:
        return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Settings must be strings, finite numbers, lists and dictionaries, but {value} was given ({error})."
        ) from None


def indented_json(value: Any) -> str:
    """Returns JSON for people to read, with null in place of NaN and infinity."""
    return json.dumps(without_nan(value), indent=2, allow_nan=False) + "\n"


def without_nan(value: Any) -> Any:
    """Returns the value with ``None`` in place of every NaN and infinity.

    >>> without_nan({"p": float("nan"), "counts": (1, 2.5)})
    {'p': None, 'counts': [1, 2.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    """Returns the value with string keys, lists for tuples, Python numbers for NumPy's and 1 for 1.0."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "dtype") and hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value
