"""Figure 4: how well a linear classifier finds structural properties of MUTAG's molecules in graph vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.table import Table

from ssread.common.figure_style import PALETTE, drawing, save
from ssread.common.files import write_csv, write_text
from ssread.common.markdown import markdown_table
from ssread.data.graphset import GraphSet
from ssread.data.properties import PROPERTIES
from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.protocol import compare_all, experiment_rule
from ssread.evaluate.report import Cell
from ssread.evaluate.statistics import format_p
from ssread.evaluate.trainer import Watch
from ssread.evaluate.trainings_csv import read_trainings
from ssread.paper.datasets import train_datasets
from ssread.paper.registry import PAPER, Context, Progress, heading
from ssread.paper.stored_results import MissingCell, StoredResults

__all__ = ["draw", "experiments", "page", "progress", "run"]

NAME = "figure4"
HERE = PAPER[NAME].datasets
WAYS = ("supervised", "infograph", "graphcl")  # from left to right
HEADINGS = ["dataset", "learning", "property", "K", "pairs", "GRead", "SSRead", "difference", "p", "corrected p"]


def experiments(settings: dict[str, Any]) -> list[Experiment]:
    """Every property asked of the encoders of every way to learn."""
    return [Experiment.of({**settings, "learn": learn, "task": task}) for learn in WAYS for task in PROPERTIES]


def progress(context: Context) -> Progress:
    """How many of the linear evaluations the store has; those of the three properties share an encoder."""
    rows, asked = context.trainings(), experiments(dict(context.settings))
    counts = [
        StoredResults(rows, name, experiment).progress()
        for name in context.chosen_datasets(HERE)
        for experiment in asked
    ]
    return Progress(sum(done for done, _ in counts), sum(total for _, total in counts))


def run(context: Context) -> list[Path]:
    """Trains what is missing, and draws what there is."""
    asked, chosen = experiments(dict(context.settings)), context.chosen_datasets(HERE)

    def train(graphs: GraphSet, watch: Watch) -> None:
        compare_all(graphs, asked, context.runner, context.store, watch)

    problems = train_datasets(context, chosen, asked[0], train)
    rows = context.trainings()
    cells = _cells(rows, asked)
    table = Table(*HEADINGS, title=heading(NAME), box=box.SIMPLE)
    for row in _rows(cells):
        table.add_row(*row)
    context.console.print(table)
    folder = context.folder(NAME)
    used = [StoredResults(rows, name, experiment).used() for name in HERE for experiment in asked]
    files = [
        *draw([cell for cell in cells if isinstance(cell, Cell)], folder / NAME),
        write_text(folder / f"{NAME}.md", _markdown(cells, asked)),
        write_csv(folder / "runs.csv", pd.concat(used)),
    ]
    if problems:
        raise InputError(" ".join(problems))
    return files


def page(folder: Path) -> str:
    """The numbers under the picture, from every CSV file of trainings in a folder."""
    rows, asked = read_trainings(sorted(folder.glob("*.csv"))), experiments({})
    return _markdown(_cells(rows, asked), asked)


def draw(cells: Sequence[Cell], stem: Path) -> list[Path]:
    """Draws accuracies with their standard deviations, a panel for every way to learn."""
    ways = [way for way in WAYS if any(cell.learn == way for cell in cells)]
    with drawing(3.0 * max(len(ways), 1), 3.4) as figure:
        axes = figure.subplots(1, max(len(ways), 1), squeeze=False, sharey=True)[0]
        for axis, way in zip(axes, ways, strict=False):
            shown = [cell for cell in cells if cell.learn == way]
            for side, name, color in ((-1, "GRead", PALETTE[0]), (1, "SSRead", PALETTE[1])):
                found = [cell.comparison.baseline if side < 0 else cell.comparison.candidate for cell in shown]
                places = [place + side * 0.12 for place in range(len(shown))]
                means, deviations = [100 * part.mean for part in found], [100 * part.sd for part in found]
                axis.errorbar(places, means, deviations, fmt="o", color=color, capsize=3, label=name)
            axis.set_xlim(-0.5, len(shown) - 0.5)
            axis.set_xticks(range(len(shown)), [cell.task.replace("_", "\n") for cell in shown])
            axis.set_title(f"{shown[0].arch}, {way}")
        if not ways:
            axes[0].text(0.5, 0.5, "missing", transform=axes[0].transAxes, ha="center", style="italic")
            return save(figure, stem)
        axes[0].set_ylabel("test accuracy (%)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
        return save(figure, stem)


def _cells(rows: pd.DataFrame, asked: Sequence[Experiment]) -> list[Cell | MissingCell]:
    return [cell for name in HERE for experiment in asked for cell in StoredResults(rows, name, experiment).cells()]


def _rows(cells: Sequence[Cell | MissingCell]) -> list[list[str]]:
    rows = []
    for cell in cells:
        where = [cell.dataset, cell.learn, cell.task.replace("_", " ")]
        if isinstance(cell, MissingCell):
            there = f"{cell.done} of {cell.total}" if cell.done else "missing"
            rows.append([*where, "-", there, "missing", "missing", "missing", "-", "-"])
            continue
        found = cell.comparison
        results = [f"{100 * part.mean:.2f} ({100 * part.sd:.2f})" for part in (found.baseline, found.candidate)]
        p_values = [format_p(found.p), format_p(found.corrected_p)]
        size = [str(cell.num_positions), str(found.pairs)]
        rows.append([*where, *size, *results, f"{100 * found.difference:+.2f}", *p_values])
    return rows


def _markdown(cells: Sequence[Cell | MissingCell], asked: Sequence[Experiment]) -> str:
    there = sum(isinstance(cell, Cell) for cell in cells)
    rules = dict.fromkeys(f"{experiment.learn}: {experiment_rule(experiment)}." for experiment in asked)
    return (
        f"{markdown_table(HEADINGS, _rows(cells))}\n{there} of {len(cells)} cells are there. Accuracy in percent "
        "(standard deviation over seeds) of a linear SVM that names the number of rings, aromatic rings or rotatable "
        "bonds from the vectors of GIN encoders. The paper shows this as bars without numbers, SSRead above GRead "
        f"everywhere. {' '.join(rules)}\n"
    )
