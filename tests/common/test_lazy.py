"""Packages that import what they export on first use."""

import ast
import importlib
import pickle
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

import ssread


def lazy_packages() -> Iterator[str]:
    for module in [ssread.__name__, *(m.name for m in pkgutil.iter_modules(ssread.__path__, "ssread.") if m.ispkg)]:
        if "lazy_exports(" in Path(importlib.import_module(module).__file__).read_text():
            yield module


def shown_to_type_checkers(package: str) -> dict[str, str]:
    """The module of every name that an ``__init__.py`` imports under ``if TYPE_CHECKING``."""
    tree = ast.parse(Path(importlib.import_module(package).__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    return {alias.name: node.module for node in block.body for alias in node.names}


@pytest.mark.parametrize("name", list(lazy_packages()))
def test_the_names_for_python_for_type_checkers_and_for_stars_are_the_same(name):
    package = importlib.import_module(name)
    assert package._places == shown_to_type_checkers(name)
    eager = {"InputError", "__version__"} if name == "ssread" else set()
    assert {*package.__all__} == {*package._places, *eager}
    assert {*package.__all__} <= {*dir(package)}
    for export, place in package._places.items():
        assert getattr(package, export) is getattr(importlib.import_module(place), export)


@pytest.mark.parametrize("name", ["ssread.data.load", "ssread.explain.positions"])
def test_a_module_does_not_hide_the_function_that_is_called_like_it(name):
    package, _, export = name.rpartition(".")
    module = importlib.import_module(name)
    function = getattr(importlib.import_module(package), export)
    assert isinstance(function, FunctionType)
    assert function is getattr(module, export)


def test_what_is_not_there_is_an_error():
    with pytest.raises(AttributeError, match=r"module 'ssread\.data' has no attribute 'lod'"):
        _ = importlib.import_module("ssread.data").lod
    with pytest.raises(ImportError, match="cannot import name 'SSred' from 'ssread'"):
        exec("from ssread import SSred")


def test_exports_can_be_replaced_and_pickled(monkeypatch):
    monkeypatch.setattr("ssread.data.load", len)
    assert importlib.import_module("ssread.data").load is len
    assert pickle.loads(pickle.dumps(ssread.SSRead)) is ssread.SSRead
