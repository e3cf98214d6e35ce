"""The page: one self-contained HTML file."""

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
from ssread.report.explained_graphs import ExplainedGraphs

if TYPE_CHECKING:
    from ssread.evaluate.report import Report

__all__ = ["drawing_assets", "render_page", "script_json", "write_page"]

#: In the order in which they are run.
SCRIPTS = (
    *("elements", "graph", "data", "outputs", "views", "comparison", "curves", "positions", "table", "gallery"),
    *("dialog", "map", "page"),
)

#: What draws one graph from its record, on any page.
DRAWING_SCRIPTS, DRAWING_STYLE = ("elements", "graph"), "graph.css"


def render_page(
    title: str,
    *,
    explained: ExplainedGraphs | None = None,
    comparison: Report | None = None,
    curves: Sequence[Mapping[str, Any]] = (),
    settings: Mapping[str, Any] | None = None,
) -> str:
    """The report as HTML; sections without data are omitted.

    Args:
        title: The title.
        explained: A model's explanations of graphs.
        comparison: The outcome of ``ssread compare``.
        curves: Learning curves, from :func:`ssread.report.curves.summarize_curves`.
        settings: Names and values for the last section.
    """
    data = {
        "explained": None if explained is None else dataclasses.asdict(explained),
        "comparison": None if comparison is None else {**comparison.as_dict(), "notes": comparison.notes},
        "curves": list(curves),
        "settings": {name: str(value) for name, value in (settings or {}).items()},
        "versions": versions(),
    }
    template = Environment(autoescape=True).from_string(_source("page.html"))
    script = "\n".join(_source(f"{name}.js") for name in SCRIPTS)
    return template.render(
        title=title, style=_source("page.css") + _source(DRAWING_STYLE), script=script, data=script_json(data)
    )


def write_page(path: str | os.PathLike[str], title: str, **parts: Any) -> Path:
    """Writes :func:`render_page` to a file, all or nothing."""
    return write_text(Path(path), render_page(title, **parts))


def drawing_assets() -> tuple[str, str]:
    """The script and the style that draw one graph on any page.

    The script has ``drawGraph(record, paint, options)`` for a record of :func:`ssread.report.graph_records`; the style
    takes its colours from the variables ``--ink``, ``--bond``, ``--faint``, ``--rule`` and ``--raised`` of the page.
    """
    return "\n".join(_source(f"{name}.js") for name in DRAWING_SCRIPTS), _source(DRAWING_STYLE)


def script_json(data: Any) -> str:
    r"""JSON for a script element: no text in it can end the element or open a comment.

    >>> script_json("</script><!-- & ")
    '"\\u003c/script\\u003e\\u003c!-- \\u0026 "'
    """
    text = json.dumps(without_nan(data), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _source(name: str) -> str:
    return (files("ssread.report") / name).read_text(encoding="utf-8")
