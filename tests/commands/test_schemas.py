"""The JSON schemas in docs/schemas are those of the code, and say what the code says."""

import json
from pathlib import Path

import jsonschema
import pytest

from ssread.commands.schemas import SCHEMAS, json_schema
from ssread.errors import InputError

FILES = Path(__file__).parents[2] / "docs" / "schemas"


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_files_are_current(name):
    assert json.loads((FILES / f"{name}.json").read_text()) == json_schema(name), f"ssread schema {name}"


def test_no_file_is_left_over():
    assert {path.stem for path in FILES.iterdir()} == {*SCHEMAS}


@pytest.mark.parametrize(
    ("settings", "fits"),
    [
        ({"arch": "gcn,gin", "epochs": 3, "model": {"dropout": 0.5}, "data": {"smiles": "S"}}, True),
        ({"arch": ["gcn"], "positions": "auto"}, True),
        ({"learning_rate": -1}, False),
        ({"lr": 1}, False),
        ({"data": 5}, False),
        ({"schedule": "stairs"}, False),
    ],
)
def test_an_editor_accepts_what_the_command_accepts(settings, fits):
    validator = jsonschema.Draft202012Validator(json_schema("compare"))
    assert validator.is_valid(settings) == fits


def test_an_unknown_name_gets_a_sentence():
    with pytest.raises(InputError, match=r"There is no schema 'x'\. Choose from compare, train"):
        json_schema("x")
