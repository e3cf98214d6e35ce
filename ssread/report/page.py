"""The report: one HTML file that needs nothing else, for people who want to see."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch_geometric
from jinja2 import Environment

import ssread
from ssread.data.storage import replacing
from ssread.errors import InputError
from ssread.report.explained_graphs import Explained

if TYPE_CHECKING:
    from ssread.evaluate.report import Report

__all__ = ["page", "write_page"]


def page(
    title: str,
    *,
    explained: Explained | None = None,
    comparison: Report | None = None,
    curves: Sequence[Mapping[str, Any]] = (),
    settings: Mapping[str, Any] | None = None,
) -> str:
    """The report as HTML; parts that are not there are left out.

    Args:
        title: What it is about.
        explained: A model's view of graphs.
        comparison: The outcome of ``ssread compare``.
        curves: Learning curves: see :func:`ssread.report.curves.band`.
        settings: What it was made with, by name.
    """
    data = {
        "title": title,
        "explained": None if explained is None else dataclasses.asdict(explained),
        "comparison": None if comparison is None else {**comparison.as_dict(), "notes": comparison.notes},
        "curves": list(curves),
        "settings": {name: str(value) for name, value in (settings or {}).items()},
        "versions": _versions(),
    }
    folder = files("ssread.report")
    template = Environment(autoescape=True).from_string((folder / "page.html").read_text(encoding="utf-8"))
    return template.render(
        title=title,
        style=_Inline((folder / "page.css").read_text(encoding="utf-8")),
        script=_Inline("\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)),
        data=_Inline(as_script(data)),
    )


SCRIPTS = ("draw.js", "sections.js", "gallery.js", "page.js")


def write_page(path: str | os.PathLike[str], title: str, **parts: Any) -> Path:
    """Writes :func:`page` to a file, all or nothing."""
    text = page(title, **parts)
    try:
        with replacing(Path(path)) as new:
            new.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): name another file.") from None
    return Path(path)


def as_script(data: Any) -> str:
    r"""JSON that may stand inside a script element: no text in it can end the element or open a comment.

    >>> as_script("</script><!-- & ")
    '"\\u003c/script\\u003e\\u003c!-- \\u0026 "'
    """
    text = json.dumps(_finite(data), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


class _Inline(str):
    """Text of this package, or escaped by :func:`as_script`, which the template takes as it is."""

    def __html__(self) -> str:
        return str(self)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _versions() -> dict[str, str]:
    return {
        "ssread": ssread.__version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "Python": platform.python_version(),
    }
