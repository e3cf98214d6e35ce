"""Descriptions (settings files, models, stored rows) checked by their schemas; what is wrong is one sentence.

A schema is a pydantic model beside what it describes. It is named as ``module:class`` and imported when something is
checked: help needs no pydantic, and a machine without it uses what it wrote itself unchecked.
"""

import json
import reprlib
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ssread.errors import InputError

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = ["checked", "checked_json", "parse_json", "read_text", "shorten"]

#: How the kinds of pydantic's errors that need no number are worded: the value "must be" this.
WISHES = {
    "bool": "true or false",
    "dict": "values by name",
    "finite_number": "a finite number",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "mapping": "values by name",
    "model": "values by name",
    "sequence": "a list",
    "string": "text",
    "string_unicode": "text that can be written as Unicode",
}


def checked(schema: str, value: Any, where: str = "", known: str = "setting") -> Any:
    """Returns plain data that fit a schema, or raises an ``InputError`` that names the first value that does not.

    Without pydantic the data are returned as they are.

    Args:
        schema: ``module:class`` of a pydantic model.
        value: Plain data, as they come out of JSON or YAML.
        where: The file that they come from; begins the sentence.
        known: What the names in it are called.
    """
    try:
        model = resolve_name(schema)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("pydantic", "pydantic_core"):
            return value
        raise
    from pydantic import ValidationError

    try:
        return model.model_validate(value).model_dump(exclude_unset=True)
    except ValidationError as error:
        sentence = _sentence(error, value, [*model.model_fields], known)
        raise InputError(f"{where}: {sentence}" if where else sentence) from None


def checked_json(schema: str, text: str | bytes, where: str) -> Any:
    """Does as :func:`checked` for JSON that is still text."""
    return checked(schema, parse_json(text, where), where)


def parse_json(text: str | bytes, where: str) -> Any:
    """Returns what JSON holds; what cannot be read gives one sentence."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{where} is not valid JSON ({shorten(str(error), 200)}).") from None


def read_text(path: Path, most: int = 1 << 28) -> str:
    """Reads a text file of at most ``most`` bytes; an error is one sentence."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
        if len(content) <= most:
            return content.decode()
    except (OSError, ValueError) as error:  # a null character in the name is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{shorten(str(path), 300)} cannot be read ({shorten(reason, 300)}).") from None
    raise InputError(f"{path} is larger than {most:,} bytes, which a description never is.")


def shorten(text: str, most: int = 80) -> str:
    """Cuts the middle out of a long text.

    >>> shorten("a" * 50 + "z" * 50, 11)
    'aaaa...zzzz'
    """
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"


def _sentence(error: "ValidationError", value: Any, names: list[str], known: str) -> str:
    """Words what is wrong at the first place where something is; a union has an error for each of its types."""
    errors = error.errors(include_url=False)
    places = [_place(value, found["loc"]) for found in errors]
    first = errors[0]
    if first["type"] == "sentence":
        return first["msg"]
    if first["type"] == "missing":
        return f"{_spelled(first['loc'])} is missing."
    if first["type"] == "extra_forbidden":
        choices = f". Choose from {', '.join(sorted(names))}" if len(first["loc"]) == 1 else ""
        return f"There is no {known} {shorten(str(first['loc'][-1]))!r}{choices}."
    wishes = [_wish(found) for found, place in zip(errors, places, strict=True) if place == places[0]]
    subject = _spelled(places[0]) if places[0] else "it"
    joined = ", or ".join(dict.fromkeys(wishes)) if len(wishes) > 1 else wishes[0]
    return f"{subject} must be {joined}, but is {_shown(first['input'])}."


def _place(value: Any, location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The part of a location that is in the data: pydantic adds the types of a union, and functions that check."""
    for number, step in enumerate(location):
        try:
            value = value[step]
        except (LookupError, TypeError):
            return location[:number]
    return location


def _spelled(place: tuple[int | str, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")
    return shorten(text.encode(errors="replace").decode(), 200)


def _wish(found: Any) -> str:
    kind, limits = found["type"], found.get("ctx", {})
    if kind == "plain":
        return found["msg"]
    if kind == "literal_error":
        return limits["expected"].replace("'", "")
    for name, words in (("gt", "above {}"), ("ge", "{} or more"), ("lt", "below {}"), ("le", "at most {}")):
        if name in limits:
            return words.format(f"{limits[name]:g}" if isinstance(limits[name], float) else limits[name])
    for name, words in (("max_length", "at most {} long"), ("min_length", "at least {} long")):
        if name in limits:
            return "not empty" if (name, limits[name]) == ("min_length", 1) else words.format(limits[name])
    wish = WISHES.get(kind) or WISHES.get(kind.removesuffix("_type").partition("_from")[0].partition("_parsing")[0])
    return wish or ("empty" if kind == "none_required" else found["msg"].lower())


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "empty", True: "true", False: "false"}[value]
    return shorten(reprlib.repr(value).encode(errors="backslashreplace").decode())
