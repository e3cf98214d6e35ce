"""The report: one HTML file that needs nothing else, for people who want to see."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment

from ssread.common.files import write_text
from ssread.common.plain_json import without_nan
from ssread.common.versions import versions
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
        "versions": versions(),
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
    return write_text(Path(path), page(title, **parts))


def as_script(data: Any) -> str:
    r"""JSON that may stand inside a script element: no text in it can end the element or open a comment.

    >>> as_script("</script><!-- & ")
    '"\\u003c/script\\u003e\\u003c!-- \\u0026 "'
    """
    text = json.dumps(without_nan(data), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


class _Inline(str):
    """Text of this package, or escaped by :func:`as_script`, which the template takes as it is."""

    def __html__(self) -> str:
        return str(self)
