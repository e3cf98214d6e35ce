"""The page of a comparison: its verdict and table, learning curves, and the explanations of one of its models."""

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
from ssread.explain.retrain import trained_model
from ssread.report.curves import summarize_curves
from ssread.report.explained_graphs import explain_graphs
from ssread.report.page import write_page
from ssread.train.fit import fold_of_run
from ssread.train.runs import RunResult

__all__ = ["write_comparison_page"]

#: Two trainings count as equal if their test probabilities differ by no more than this.
TOLERANCE = 1e-4


def write_comparison_page(
    path: str | os.PathLike[str],
    graphs: GraphSet,
    experiment: Experiment,
    report: Report,
    store: Store,
    device: str = "cpu",
) -> Path:
    """Writes the outcome of a comparison as one HTML file.

    A store keeps results, not weights. So the model on the page, SSRead in the first cell, is trained again with the
    first seed and fold; no test result influences this choice.

    Args:
        path: The file.
        graphs: The dataset.
        experiment: The settings of the comparison.
        report: Its outcome.
        store: The store of its results.
        device: The device on which the model is trained again.
    """
    cell = report.cells[0]
    readouts = {"global readout": None, "SSRead": cell.num_positions}
    runs = {name: trainings(experiment, *experiment.cells()[0], positions) for name, positions in readouts.items()}
    dataset = identify(graphs)
    curves, without_curves = [], 0
    for name, of_readout in runs.items():
        results = store.results(run_key(dataset, run, experiment.training) for run in of_readout).values()
        known = [result.curves for result in results if result.complete]
        without_curves += len(results) - len(known)
        if known:
            curves.append(summarize_curves(f"{name}, {cell.arch}, {cell.aggr}", known))
    run = runs["SSRead"][0]
    settings = {
        "dataset": repr(graphs),
        "selection": report.rule,
        "model shown": f"{cell.arch}, {cell.aggr}, SSRead with K = {cell.num_positions}, gamma = {experiment.gamma}",
        "trained with": f"seed {run.seed}, fold {run.fold} of {run.num_folds}",
        "batch size": experiment.training.batch_size,
        "learning rate": experiment.training.learning_rate,
        "weight decay": experiment.training.weight_decay,
        **experiment.model,
    }
    if without_curves:
        settings["no learning curves"] = f"of {without_curves} trainings, which come from a CSV file"
    title = f"Does SSRead help on {graphs.name}?"
    try:
        model, retrained = trained_model(graphs, run, experiment.training, device)
    except InputError as error:
        return write_page(path, title, comparison=report, curves=curves, settings={**settings, "no model": error})
    fold = fold_of_run(graphs, run)
    explained = explain_graphs(
        model, graphs, parts={"training": fold.train, "validation": fold.validation, "test": fold.test}
    )
    for stored in store.results([run_key(dataset, run, experiment.training)]).values():
        explained = replace(explained, notes=[*explained.notes, *_difference(stored, retrained)])
    return write_page(path, title, explained=explained, comparison=report, curves=curves, settings=settings)


def _difference(stored: RunResult, retrained: RunResult) -> list[str]:
    """A note if the model on the page, which was trained again, differs from the one that was compared."""
    if stored.complete:
        gap = float(np.abs(stored.test_predictions - retrained.test_predictions).max(initial=0))
    else:
        gap = abs(score(stored) - score(retrained))
    if stored.best_epoch == retrained.best_epoch and gap <= TOLERANCE:
        return []
    return [
        f"The model on this page was trained again and is not exactly the one that was compared: {_outcome(retrained)} "
        f"here, {_outcome(stored)} in the results file. Another device or another version of a library can cause this."
    ]


def _outcome(result: RunResult) -> str:
    if result.failed:
        return f"a failed training ({result.failed})"
    return f"a test accuracy of {100 * score(result):.1f} % (epoch {result.best_epoch})"
