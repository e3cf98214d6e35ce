"""Figure 4: how well a linear classifier predicts structural properties of MUTAG's molecules from graph vectors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ssread.common.figure_style import PALETTE, drawing, save
from ssread.common.files import write_csv, write_text
from ssread.common.markdown import markdown_table
from ssread.data.graphset import GraphSet
from ssread.data.properties import PROPERTIES
from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.protocol import compare_all, experiment_rule
from ssread.evaluate.report import Cell
from ssread.evaluate.trainer import Watch
from ssread.evaluate.trainings_csv import read_trainings
from ssread.paper.comparison_columns import HEADINGS, comparison_columns
from ssread.paper.datasets import train_datasets
from ssread.paper.registry import PAPER, Context, Progress
from ssread.paper.stored_results import MissingCell, StoredResults, all_results

__all__ = ["draw", "experiments", "page", "progress", "results", "run"]

NAME = "figure4"
DATASETS = PAPER[NAME].datasets
OBJECTIVES = ("supervised", "infograph", "graphcl")  # from left to right
ALL_HEADINGS = ["dataset", "learning", "property", "K", *HEADINGS]


def experiments(settings: Mapping[str, Any]) -> list[Experiment]:
    """An experiment for every objective and every property."""
    return [Experiment.of({**settings, "learn": learn, "task": task}) for learn in OBJECTIVES for task in PROPERTIES]


def progress(context: Context) -> Progress:
    """How many of the linear evaluations the store has; those of the three properties share an encoder."""
    return Progress.sum(result.progress() for result in results(context))


def results(context: Context) -> list[StoredResults]:
    """The experiments, as far as they are stored."""
    return all_results(context.trainings(), context.chosen_datasets(DATASETS), experiments(context.settings))


def run(context: Context) -> list[Path]:
    """Trains what is missing, and draws what is done."""
    wanted, datasets = experiments(context.settings), context.chosen_datasets(DATASETS)

    def train(graphs: GraphSet, watch: Watch) -> None:
        compare_all(graphs, wanted, context.runner, context.store, watch)

    problems = train_datasets(context, datasets, wanted[0], train)
    stored = all_results(context.trainings(), DATASETS, wanted)
    cells = [cell for result in stored for cell in result.cells()]
    context.print_table(NAME, ALL_HEADINGS, _rows(cells))
    folder = context.folder(NAME)
    files = [
        *draw([cell for cell in cells if isinstance(cell, Cell)], folder / NAME),
        write_text(folder / f"{NAME}.md", _markdown(cells, wanted)),
        write_csv(folder / "runs.csv", pd.concat([result.used() for result in stored])),
    ]
    if problems:
        raise InputError(" ".join(problems))
    return files


def page(folder: Path, settings: Mapping[str, Any]) -> str:
    """The numbers below the picture, from every CSV file of trainings in a folder."""
    rows, wanted = read_trainings(sorted(folder.glob("*.csv"))), experiments(settings)
    cells = [cell for result in all_results(rows, DATASETS, wanted) for cell in result.cells()]
    return _markdown(cells, wanted)


def draw(cells: Sequence[Cell], stem: Path) -> list[Path]:
    """Draws accuracies with their standard deviations, a panel per objective."""
    shown = [objective for objective in OBJECTIVES if any(cell.learn == objective for cell in cells)]
    with drawing(3.0 * max(len(shown), 1), 3.4) as figure:
        axes = figure.subplots(1, max(len(shown), 1), squeeze=False, sharey=True)[0]
        for axis, objective in zip(axes, shown, strict=False):
            panel = [cell for cell in cells if cell.learn == objective]
            for side, name, colour in ((-1, "GRead", PALETTE[0]), (1, "SSRead", PALETTE[1])):
                results = [cell.comparison.baseline if side < 0 else cell.comparison.candidate for cell in panel]
                x = [number + side * 0.12 for number in range(len(panel))]
                means, deviations = [100 * result.mean for result in results], [100 * result.sd for result in results]
                axis.errorbar(x, means, deviations, fmt="o", color=colour, capsize=3, label=name)
            axis.set_xlim(-0.5, len(panel) - 0.5)
            axis.set_xticks(range(len(panel)), [cell.task.replace("_", "\n") for cell in panel])
            axis.set_title(f"{panel[0].arch}, {objective}")
        if not shown:
            axes[0].text(0.5, 0.5, "missing", transform=axes[0].transAxes, ha="center", style="italic")
            return save(figure, stem)
        axes[0].set_ylabel("test accuracy (%)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        return save(figure, stem)


def _rows(cells: Sequence[Cell | MissingCell]) -> list[list[str]]:
    rows = []
    for cell in cells:
        row = [cell.dataset, cell.learn, cell.task.replace("_", " ")]
        if isinstance(cell, MissingCell):
            done = f"{cell.done} of {cell.total}" if cell.done else "missing"
            rows.append([*row, "-", *comparison_columns(None, pairs=done)])
        else:
            rows.append([*row, str(cell.num_positions), *comparison_columns(cell.comparison)])
    return rows


def _markdown(cells: Sequence[Cell | MissingCell], wanted: Sequence[Experiment]) -> str:
    complete = sum(isinstance(cell, Cell) for cell in cells)
    rules = dict.fromkeys(f"{experiment.learn}: {experiment_rule(experiment)}." for experiment in wanted)
    return (
        f"{markdown_table(ALL_HEADINGS, _rows(cells))}\n{complete} of {len(cells)} cells are complete. Accuracy in "
        "percent (standard deviation over seeds) of a linear SVM that predicts the number of rings, aromatic rings or "
        "rotatable bonds from the vectors of GIN encoders. The paper shows this as bars without numbers, SSRead above "
        f"GRead everywhere. {' '.join(rules)}\n"
    )
