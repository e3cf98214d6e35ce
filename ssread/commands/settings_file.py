"""Settings from a YAML file."""

import os
import re
from pathlib import Path
from typing import Any

import yaml

from ssread.common.checking import checked, read_text, shorten
from ssread.errors import InputError

__all__ = ["COMPARISON", "READING", "read_settings"]

#: The schemas of the settings files of ``ssread compare`` and ``ssread train``.
COMPARISON = "ssread.evaluate.settings_schema:ComparisonFile"
READING = "ssread.data.reading_schema:ReadingOptions"

LARGEST = 1 << 20  # bytes
DEEPEST = 20  # levels of lists and names within each other


def read_settings(path: str | os.PathLike[str], schema: str) -> dict[str, Any]:
    """Reads a YAML file that maps names to plain values, as a schema describes them."""
    text = read_text(Path(path), LARGEST)
    try:
        content = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError) as error:  # a date that does not exist is a ValueError
        raise InputError(f"{path} is not valid YAML: {shorten(' '.join(str(error).split()), 300)}.") from None
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise InputError(f"{path} must consist of 'name: value' lines.")
    return checked(schema, content, str(path))


class _Loader(yaml.SafeLoader):
    """Reads plain values only: not too deep, without references, and 1e-3 is a number, as in YAML 1.2."""

    level = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("references (*name) are not read here")
        self.level += 1
        if self.level > DEEPEST:
            raise yaml.YAMLError(f"it is nested more than {DEEPEST} levels deep")
        try:
            return super().compose_node(parent, index)
        finally:
            self.level -= 1


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)
