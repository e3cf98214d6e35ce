"""The page at the end of a comparison: its verdict and table, learning curves, and one of its models looked into."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.keys import identify, run_key
from ssread.evaluate.metrics import score
from ssread.evaluate.protocol import trainings
from ssread.evaluate.report import Report
from ssread.evaluate.store import Store
from ssread.explain.retrain import fold_of_run, trained_model
from ssread.report.curves import band
from ssread.report.explained_graphs import explained
from ssread.report.page import write_page
from ssread.train.runs import RunResult

__all__ = ["write_comparison_page"]

#: Two trainings are the same where their test probabilities differ by no more than this.
SAME = 1e-4


def write_comparison_page(
    path: str | os.PathLike[str],
    graphs: GraphSet,
    experiment: Experiment,
    report: Report,
    store: Store,
    device: str = "cpu",
) -> Path:
    """Writes what a comparison found as one HTML file.

    A store keeps results, not weights: the model shown is SSRead in the first cell, trained once more with the first
    seed and fold. Nothing about a test part decides which model is shown.

    Args:
        path: The file.
        graphs: The dataset.
        experiment: What was compared.
        report: What was found.
        store: Where the trainings are.
        device: Where the one model is trained.
    """
    arch, aggr = experiment.cells()[0]
    first = report.cells[0]
    pairs = {"global readout": None, "SSRead": first.num_positions}
    runs = {name: trainings(experiment, arch, aggr, positions) for name, positions in pairs.items()}
    dataset = identify(graphs)
    curves = []
    for name, asked in runs.items():
        found = store.results(run_key(dataset, run, experiment.training) for run in asked).values()
        curves.append(band(f"{name}, {first.arch}, {first.aggr}", [result.curves for result in found]))
    shown = runs["SSRead"][0]
    settings = {
        "dataset": repr(graphs),
        "selection": report.rule,
        "model shown": f"{first.arch}, {first.aggr}, SSRead with K = {first.num_positions}, gamma = {experiment.gamma}",
        "trained with": f"seed {shown.seed}, fold {shown.fold} of {shown.num_folds}",
        "batch size": experiment.training.batch_size,
        "learning rate": experiment.training.learning_rate,
        "weight decay": experiment.training.weight_decay,
        **experiment.model,
    }
    title = f"Does SSRead help on {graphs.name}?"
    try:
        model, again = trained_model(graphs, shown, experiment.training, device)
    except InputError as error:
        return write_page(path, title, comparison=report, curves=curves, settings={**settings, "no model": error})
    fold = fold_of_run(graphs, shown)
    parts = {"training": fold.train, "validation": fold.validation, "test": fold.test}
    view = explained(model, graphs, parts=parts)
    stored = store.results([run_key(dataset, shown, experiment.training)]).values()
    differences = [note for before in stored for note in _difference(before, again)]
    view = replace(view, missing=[*view.missing, *differences])
    return write_page(path, title, explained=view, comparison=report, curves=curves, settings=settings)


def _difference(stored: RunResult, again: RunResult) -> list[str]:
    """Says so where the model shown, which was trained again, is not the one that was compared."""
    gap = float(np.abs(stored.test_probabilities - again.test_probabilities).max(initial=0))
    if stored.best_epoch == again.best_epoch and gap <= SAME:
        return []
    return [
        f"The model shown was trained again here and is not exactly the one that was compared: its test accuracy is "
        f"{100 * score(again):.1f} % (epoch {again.best_epoch}), in the results file {100 * score(stored):.1f} % "
        f"(epoch {stored.best_epoch}). Another device or another version computes in another order."
    ]
