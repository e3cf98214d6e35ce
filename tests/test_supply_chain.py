"""The check of what we depend on fails on findings, and only on them."""

import importlib.util
import json
from email.message import Message
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

PATH = Path(__file__).parents[1] / ".ci" / "supply_chain.py"
spec = importlib.util.spec_from_file_location("supply_chain", PATH)
supply_chain = importlib.util.module_from_spec(spec)
spec.loader.exec_module(supply_chain)

FINDING = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}


def test_a_finding_fails_and_is_named(capsys):
    assert supply_chain.judge([FINDING, {"name": "b", "version": "1", "vulns": []}]) == 1
    assert "a 1: PYSEC-1 (fixed in 2)\n2 of 2 packages audited, 1 findings." in capsys.readouterr().out


def test_an_accepted_finding_does_not_fail(monkeypatch, capsys):
    monkeypatch.setitem(supply_chain.ACCEPTED, "PYSEC-1", "we do not call it")
    assert supply_chain.judge([FINDING]) == 0
    assert "accepted: we do not call it" in capsys.readouterr().out


def test_without_a_database_one_line_says_so(capsys):
    assert supply_chain.judge([{"name": "a", "skip_reason": "not found"}]) == 0
    assert capsys.readouterr().out == (
        "The database of vulnerabilities knows none of the 1 packages: nothing was audited.\n"
    )


@pytest.mark.parametrize(
    ("fields", "allowed"),
    [
        ([("License-Expression", "MIT")], True),
        ([("Classifier", "License :: OSI Approved :: BSD License")], True),
        ([("License", "Apache 2.0\n\nmore")], True),
        ([("License", "GPL-3.0")], False),
        ([("Classifier", "License :: OSI Approved :: GNU Affero General Public License v3")], False),
        ([], False),
        ([("License", "LIMIT")], False),
    ],
)
def test_only_known_licences_are_allowed(fields, allowed):
    about = Message()
    for name, value in fields:
        about[name] = value
    licence = supply_chain.licence_of(SimpleNamespace(metadata=about))
    assert bool(supply_chain.ALLOWED.search(licence)) == allowed


def test_the_bill_of_materials_names_what_is_needed(tmp_path):
    assert supply_chain.sbom(tmp_path / "sbom.json") == 0
    document = json.loads((tmp_path / "sbom.json").read_text())
    assert "pkg:npm/openchemlib@9.25.0" in [component["purl"] for component in document["components"]]
    assert "9.25.0" in (PATH.parents[1] / "ssread" / "serve" / "app.py").read_text()
    names = {component["name"].lower() for component in document["components"]}
    assert {"torch", "pydantic", "typer", "numpy"} <= names
    assert not {"pytest", "ruff", "ssread"} & names
    component = {"type": "object", "required": ["type", "name", "version", "purl"]}
    jsonschema.validate(document["components"], {"type": "array", "items": component})
