"""What the schemas of descriptions are made of. Needs pydantic: see :func:`ssread.common.checking.checked`."""

import math
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ssread.common.checking import shorten

__all__ = [
    "COMMAS",
    "UNSET",
    "Count",
    "Name",
    "NameList",
    "Number",
    "OneOf",
    "Open",
    "Plain",
    "Positive",
    "Settings",
    "Share",
    "Text",
]

#: The default of a value that may be left out. It is not among the checked data then.
UNSET: Any = None


#: The most levels of lists and names within each other.
DEEPEST = 20

LONGEST = 1_000_000  # characters of a text


def _plain(value: Any, level: int = 0) -> Any:
    """Raises an error for anything but texts, finite numbers, lists and values by name, not too deep."""
    if level > DEEPEST:
        raise PydanticCustomError("plain", "nested at most {deepest} levels deep", {"deepest": DEEPEST})
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise PydanticCustomError("plain", "values by name, and every name a text")
        _plain([*value], level)
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for part in value:
            _plain(part, level + 1)
    elif isinstance(value, str):
        if not _is_unicode(value):
            raise PydanticCustomError("plain", "text that can be written as Unicode")
    elif isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("plain", "a finite number")
    elif value is not None and not isinstance(value, bool | int | float):
        raise PydanticCustomError("plain", "text, a number, a list or values by name")
    return value


def _check_plain(value: Any) -> Any:
    _plain(value)
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates
        return False
    return True


#: Anything that JSON can hold.
Plain = Annotated[Any, AfterValidator(_check_plain)]


class Settings(BaseModel):
    """A description that people write: a name that is not known is refused. No value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=())


class Open(BaseModel):
    """A description that a program wrote: a later version may have added names, whose values are plain data."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, protected_namespaces=())

    __pydantic_extra__: dict[str, Plain]


class OneOf:
    """One of these names, or several ``joined`` by a sign; ``what`` they are is for the sentence about another one."""

    def __init__(self, what: str, choices: Iterable[str], joined: str | None = None):
        self.what, self.choices, self.joined = what, list(choices), joined

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema) if self.joined else {**handler(schema), "enum": self.choices}

    def _check(self, name: str) -> str:
        for part in name.split(self.joined) if self.joined else [name]:
            if part not in self.choices:
                choices, found = ", ".join(self.choices), repr(shorten(part))
                sentence = f"There is no {self.what} {found}. Choose from {choices}."
                raise PydanticCustomError("sentence", "{sentence}", {"sentence": sentence})
        return name


def _listed(value: Any) -> Any:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return [*value] if isinstance(value, tuple) else value


Text = Annotated[str, Field(max_length=LONGEST)]
Name = Annotated[str, Field(min_length=1, max_length=1000)]
Number = Annotated[float, Field(ge=-1e30, le=1e30)]
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=0, le=2**31)]
Positive = Annotated[int, Field(ge=1, le=2**31)]

#: What to annotate a list of names with, so that it may be one text with commas between them.
COMMAS = BeforeValidator(_listed, json_schema_input_type=str | list[str])
NameList = Annotated[list[Name], COMMAS]
