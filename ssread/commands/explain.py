"""``ssread explain`` as a function: from a trained model and graphs to a page and pictures."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssread.apply.checks import check_apart
from ssread.apply.graph_inputs import options_of
from ssread.apply.reading_notes import skipped_note
from ssread.apply.trained_model import TrainedModel
from ssread.common.files import check_name
from ssread.common.workers import one_thread
from ssread.data.graphset import GraphSet
from ssread.data.skipped import SkippedRow, check_on_error
from ssread.errors import InputError
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
    on_error: str = "skip",
    **options: Any,
) -> list[Path]:
    """Explains graphs with a trained model: writes a page, pictures for papers, or both; returns the files.

    Args:
        model: A model's folder. Predictions and contributions of an ensemble are the mean over its members.
        data: Anything :func:`ssread.data.load` takes.
        out: The page; None for none.
        figures: A folder for pictures; None for none.
        on_error: ``"skip"``: rows that cannot be used are left out, counted on the page and listed in
            ``NAME.skipped.csv`` beside it (or beside the folder of pictures); ``"raise"``: they raise an error.
        options: Options for reading the data: ``smiles``, ``label``, ...
    """
    for path in (out, figures):
        if path is not None:
            check_apart(data, check_name(Path(path)))
    with one_thread():  # the same files whenever they are made
        return _explain(model, data, out, figures, on_error, options)


def _explain(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    out: str | os.PathLike[str] | None,
    figures: str | os.PathLike[str] | None,
    on_error: str,
    options: dict[str, Any],
) -> list[Path]:
    trained = TrainedModel.load(model)
    if "label" in options and "task" in options_of(data):
        options = {"task": trained.task, **options}
    graphs = _read(trained, data, on_error, options)
    files = []
    left_out = [note for place in (out or figures,) if place is not None for note in skipped_note(graphs, Path(place))]
    if out is not None:
        about = trained.summary.get("data", {})
        settings = {
            "model folder": str(model),
            "explained": repr(trained),
            "trained on": about.get("name", "unknown"),
            "graphs": repr(graphs),
            **_flat(trained.summary.get("settings", {})),
        }
        same = about.get("fingerprint") == fingerprint(graphs)
        view = explain_graphs(trained, graphs, trained_on=same, what=options.get("label"))
        view = replace(view, notes=[*view.notes, *left_out])
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


def _read(trained: TrainedModel, data: Any, on_error: str, options: dict[str, Any]) -> GraphSet:
    """The graphs with features as in training; those that cannot have them are skipped or raise an error."""
    check_on_error(on_error)
    if "on_error" in options_of(data):
        options = {**options, "on_error": on_error}
    if on_error == "raise":
        return trained.read(data, **options)
    graphs, misfits = trained.features.arrange_usable(trained.features.load(data, **options), str(data))
    fitting = [number for number in range(len(graphs)) if number not in misfits]
    if not fitting:
        raise InputError(f"{data}: {misfits[0]}")
    unknown = [SkippedRow(number, f"graph {graphs.ids[number]}", "", why) for number, why in misfits.items()]
    return replace(graphs[fitting], skipped=(*graphs.skipped, *unknown)) if unknown else graphs


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Nested settings in one dictionary, with spaces in their names."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= value if isinstance(value, dict) else {name: value}
    return {name.replace("_", " "): value for name, value in flat.items()}
