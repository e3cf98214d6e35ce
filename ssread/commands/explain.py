"""``ssread explain`` as a function: from a trained model and graphs to a page and pictures."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssread.apply.graph_inputs import options_of
from ssread.apply.trained_model import TrainedModel
from ssread.data.load import MOLECULE_ENDINGS
from ssread.evaluate.keys import fingerprint
from ssread.metrics import METRICS
from ssread.report.curves import summarize_curves
from ssread.report.explained_graphs import explain_graphs
from ssread.report.figures import write_figures
from ssread.report.page import write_page

__all__ = ["explain_data"]

#: Of more members than this, the learning curves would hide each other.
MEMBERS = 6


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
        model: A model's folder. Predictions and activations of an ensemble are the mean over its members.
        data: Anything :func:`ssread.data.load` takes.
        out: The page; None for none.
        figures: A folder for pictures; None for none.
        options: Options for reading the data: ``smiles``, ``label``, ... Molecules that RDKit cannot read are left out
            and counted on the page, unless ``on_error`` is ``stop``.
    """
    trained = TrainedModel.load(model)
    if Path(data).suffix.lower() in MOLECULE_ENDINGS:
        options = {"on_error": "skip", **options}  # the page counts what is left out
    if "label" in options and "task" in options_of(data):
        options = {"task": trained.task, **options}
    graphs = trained.read(data, **options)
    files = []
    if out is not None:
        about = trained.summary.get("data", {})
        settings = {
            "model folder": str(model),
            "explained": repr(trained),
            "trained on": about.get("name", "unknown"),
            "graphs": repr(graphs),
            **_flat(trained.summary.get("settings", {})),
        }
        view = explain_graphs(trained, graphs, trained_on=about.get("fingerprint") == fingerprint(graphs))
        notes = [f"Left out: {count} {what}." for what, count in graphs.repairs.items() if "skipped" in what]
        view = replace(view, notes=[*view.notes, *notes])
        title = f"What the model sees in {graphs.name}"
        files.append(write_page(out, title, explained=view, curves=_curves(trained.summary), settings=settings))
    if figures is not None:
        files += write_figures(trained, graphs, Path(figures))
    return files


def _curves(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The learning curves of the first members."""
    curves = summary.get("curves") or []
    selection = summary.get("settings", {}).get("training", {}).get("selection")
    metric = METRICS[selection].about if selection in METRICS else ""
    names = ["model"] if len(curves) == 1 else [f"member {number}" for number in range(len(curves))]
    return [summarize_curves(name, [curve], metric) for name, curve in list(zip(names, curves, strict=True))[:MEMBERS]]


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Nested settings in one dictionary, with spaces in their names."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= value if isinstance(value, dict) else {name: value}
    return {name.replace("_", " "): value for name, value in flat.items()}
