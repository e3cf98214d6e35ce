"""Packages that import what they export on first use, so that importing the package takes no time."""

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from ssread.errors import missing_package

__all__ = ["lazy_exports"]


class _LazyPackage(ModuleType):
    """A package with a table of names that it does not have yet, and the module that defines each."""

    _places: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self._places:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        try:
            value = getattr(import_module(self._places[name]), name)
        except ModuleNotFoundError as error:
            raise missing_package(error, f"{self.__name__}.{name}") from error
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Python binds every submodule that it imports to the package. One that is called like an export (the function
        # ssread.data.load is defined in the module ssread.data.load) must not take its place.
        if not (isinstance(value, ModuleType) and name in self._places):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._places})


def lazy_exports(package: str, exports: Mapping[str, Iterable[str]]) -> None:
    """Makes a package import its exports on first use; to be called in its ``__init__.py``.

    A plain ``__getattr__`` in the package (PEP 562) would do the same, but for exports that are called like the module
    that defines them. Type checkers and editors read the names from imports under ``if TYPE_CHECKING``.

    Args:
        package: Its ``__name__``.
        exports: The names that each submodule defines.
    """
    module = sys.modules[package]
    module.__dict__["_places"] = {name: f"{package}.{place}" for place, names in exports.items() for name in names}
    module.__class__ = _LazyPackage
