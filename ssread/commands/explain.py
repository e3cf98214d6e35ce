"""``ssread explain`` as a function: from a trained model and graphs to a page and pictures."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssread.apply.trained_model import TrainedModel
from ssread.data.load import MOLECULE_ENDINGS
from ssread.report.curves import summarize_curves
from ssread.report.explained_graphs import explain_graphs
from ssread.report.figures import write_figures
from ssread.report.page import write_page

__all__ = ["explain_data"]


def explain_data(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = "report.html",
    figures: str | os.PathLike[str] | None = None,
    **options: Any,
) -> list[Path]:
    """Explains graphs with a trained model: writes a page, pictures for papers, or both; returns the files.

    Args:
        model: A model's folder. Of an ensemble the first member is explained.
        data: Anything :func:`ssread.data.load` takes.
        out: The page; None for none.
        figures: A folder for pictures; None for none.
        options: Options for reading the data: ``smiles``, ``label``, ... Molecules that RDKit cannot read are left out
            and counted on the page, unless ``on_error`` is ``stop``.
    """
    trained = TrainedModel.load(model)
    if Path(data).suffix.lower() in MOLECULE_ENDINGS:
        options = {"on_error": "skip", **options}  # the page counts what is left out
    graphs = trained.read(data, **options)
    files = []
    if out is not None:
        members = len(trained.models)
        settings = {
            "model folder": str(model),
            "explained": repr(trained) if members == 1 else f"{trained!r}: the first member",
            "trained on": trained.summary.get("data", {}).get("name", "unknown"),
            "graphs": repr(graphs),
            **_flat(trained.summary.get("settings", {})),
        }
        curves = trained.summary.get("curves") or []
        lines = [
            summarize_curves(f"member {number}" if members > 1 else "model", [c]) for number, c in enumerate(curves[:6])
        ]
        view = explain_graphs(trained, graphs, trained.output_names)
        notes = [f"Left out: {count} {what}." for what, count in graphs.repairs.items() if "skipped" in what]
        view = replace(view, notes=[*view.notes, *notes])
        title = f"What the model sees in {graphs.name}"
        files.append(write_page(out, title, explained=view, curves=lines, settings=settings))
    if figures is not None:
        files += write_figures(trained, graphs, Path(figures), trained.output_names)
    return files


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Nested settings in one dictionary, with spaces in their names."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= value if isinstance(value, dict) else {name: value}
    return {name.replace("_", " "): value for name, value in flat.items()}
