"""``ssread schema`` as a function: what a description may hold, as JSON Schema, for editors and other programs."""

from pkgutil import resolve_name
from typing import Any

from ssread.commands.settings_file import COMPARISON, READING
from ssread.errors import InputError

__all__ = ["SCHEMAS", "json_schema"]

#: Every description that is checked, by name.
SCHEMAS = {
    "compare": COMPARISON,
    "train": READING,
    "model": "ssread.apply.model_schema:ModelDescription",
    "graph-set": "ssread.data.set_schema:SetDescription",
    "run": "ssread.evaluate.settings_schema:StoredRun",
    "training": "ssread.evaluate.settings_schema:StoredTraining",
}


def json_schema(name: str) -> dict[str, Any]:
    """Returns the JSON Schema of a description, by a name of :data:`SCHEMAS`."""
    if name not in SCHEMAS:
        raise InputError(f"There is no schema {name!r}. Choose from {', '.join(SCHEMAS)}.")
    schema = resolve_name(SCHEMAS[name]).model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_without_defaults(schema)}


def _without_defaults(value: Any) -> Any:
    """Leaves out defaults: a value that is not given is not null, but left to the recipe or the reader."""
    if isinstance(value, dict):
        return {key: _without_defaults(part) for key, part in value.items() if key != "default"}
    return [_without_defaults(part) for part in value] if isinstance(value, list) else value
