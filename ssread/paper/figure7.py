"""Figure 7: how accuracy changes with the number of positions K and with the smoothing gamma, GCN + SSRead(sum)."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ssread.common.figure_style import PALETTE, drawing, save
from ssread.common.files import write_csv, write_text
from ssread.common.markdown import markdown_table
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.experiment import POSITIONS, Experiment
from ssread.evaluate.protocol import compare_readouts, experiment_rule
from ssread.evaluate.report import Cell
from ssread.evaluate.trainer import Watch
from ssread.evaluate.trainings_csv import read_trainings
from ssread.paper.comparison_columns import HEADINGS, comparison_columns
from ssread.paper.datasets import train_datasets
from ssread.paper.registry import PAPER, Context, Progress
from ssread.paper.stored_results import StoredResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["GAMMAS", "Point", "page", "points", "progress", "results", "run"]

NAME = "figure7"
GAMMAS = (0.0, 0.001, 0.01, 0.1, 1.0)
DATASETS = PAPER[NAME].datasets
ALL_HEADINGS = ["dataset", "varied", "K", "gamma", *HEADINGS]


@dataclasses.dataclass(frozen=True)
class Point:
    """One point of a curve.

    Attributes:
        dataset: The name of the dataset.
        varied: ``K`` or ``gamma``.
        positions: K; None while the K for varying gamma has not been chosen.
        gamma: The smoothing.
        cell: The result; None while it is missing.
    """

    dataset: str
    varied: str
    positions: int | None
    gamma: float
    cell: Cell | None


def progress(context: Context) -> Progress:
    """How many of the trainings the store has; those that vary K are also those of Table III."""
    rows, base, datasets = context.trainings(), _base(context.settings), context.chosen_datasets(DATASETS)
    over_positions = sum(StoredResults(rows, dataset, base).progress()[1] for dataset in datasets)
    over_gamma = len(datasets) * sum(gamma != base.gamma for gamma in GAMMAS) * base.seeds * base.folds
    return Progress(len(_used(rows, datasets, base)), over_positions + over_gamma)


def results(context: Context) -> list[StoredResults]:
    """The experiments of both curves, as far as they are stored; while K is not chosen, gamma has the smallest."""
    rows, base = context.trainings(), _base(context.settings)
    over_positions = [StoredResults(rows, dataset, base) for dataset in context.chosen_datasets(DATASETS)]
    return over_positions + [
        StoredResults(rows, result.dataset, other)
        for result in over_positions
        for other in _over_gamma(base, result.positions or POSITIONS[0])
    ]


def run(context: Context) -> list[Path]:
    """Trains what is missing, first every K, then every gamma with the K that validation chose; draws what is done."""
    base, datasets = _base(context.settings), context.chosen_datasets(DATASETS)

    def train(graphs: GraphSet, watch: Watch) -> None:
        compare_readouts(graphs, base, context.runner, context.store, watch)
        for experiment in _over_gamma(base, StoredResults(context.trainings(), graphs.name, base).positions):
            compare_readouts(graphs, experiment, context.runner, context.store, watch)

    problems = train_datasets(context, datasets, base, train)
    rows = context.trainings()
    curves = [point for dataset in DATASETS for point in points(rows, dataset, base)]
    folder = context.folder(NAME)
    context.print_table(NAME, ALL_HEADINGS, _rows([point for point in curves if point.dataset in datasets]))
    files = [
        *draw(curves, folder / NAME),
        write_text(folder / f"{NAME}.md", _markdown(curves, base)),
        write_csv(folder / "runs.csv", _used(rows, DATASETS, base)),
    ]
    if problems:
        raise InputError(" ".join(problems))
    return files


def page(folder: Path, settings: Mapping[str, Any]) -> str:
    """The numbers below the picture, from every CSV file of trainings in a folder."""
    rows, base = read_trainings(sorted(folder.glob("*.csv"))), _base(settings)
    return _markdown([point for dataset in DATASETS for point in points(rows, dataset, base)], base)


def points(rows: pd.DataFrame, dataset: str, base: Experiment) -> list[Point]:
    """Both curves of a dataset.

    Args:
        rows: Trainings as :meth:`ssread.evaluate.Store.table` returns them.
        dataset: The name of the dataset.
        base: The experiment of the base classifier, with K and dropout by validation.
    """
    best = StoredResults(rows, dataset, base).positions
    curves = [Point(dataset, "K", k, base.gamma, _cell(rows, dataset, base, k, base.gamma)) for k in POSITIONS]
    curves += [Point(dataset, "gamma", best, gamma, _cell(rows, dataset, base, best, gamma)) for gamma in GAMMAS]
    return curves


def draw(curves: Sequence[Point], stem: Path) -> list[Path]:
    """Draws the curves, a column per dataset; the picture names missing points."""
    datasets = list(dict.fromkeys(point.dataset for point in curves))
    with drawing(3.2 * len(datasets), 5.2) as figure:
        axes = figure.subplots(2, len(datasets), squeeze=False)
        for column, dataset in enumerate(datasets):
            for row, varied in enumerate(("K", "gamma")):
                chosen = [point for point in curves if (point.dataset, point.varied) == (dataset, varied)]
                _draw_curve(axes[row, column], chosen)
            axes[0, column].set_title(dataset)
        for row in range(2):
            axes[row, 0].set_ylabel("test accuracy (%)")
        handles, labels = next((both for axis in axes.flat if (both := axis.get_legend_handles_labels())[0]), ([], []))
        if handles:
            figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        return save(figure, stem)


def _draw_curve(axis: "Axes", curve: Sequence[Point]) -> None:
    """SSRead with the standard deviation over seeds as error bars, GRead as a line with a band."""
    results = [(x, point.cell.comparison) for x, point in enumerate(curve) if point.cell is not None]
    if results:
        means = [100 * comparison.candidate.mean for _, comparison in results]
        deviations = [100 * comparison.candidate.sd for _, comparison in results]
        axis.errorbar(
            [x for x, _ in results], means, deviations, color=PALETTE[1], marker="o", capsize=3, label="SSRead(sum)"
        )
        level, spread = 100 * results[0][1].baseline.mean, 100 * results[0][1].baseline.sd
        axis.axhline(level, color=PALETTE[0], linestyle="--", label="GRead(sum)")
        axis.axhspan(level - spread, level + spread, color=PALETTE[0], alpha=0.15, linewidth=0)
    else:
        axis.set_yticks([])
    by_gamma = curve[0].varied == "gamma"
    names = [f"{point.gamma:g}" if by_gamma else str(point.positions) for point in curve]
    axis.set_xticks(range(len(curve)), names)
    axis.set_xlim(-0.4, len(curve) - 0.6)
    best = curve[0].positions
    axis.set_xlabel("gamma" + (f" (K = {best})" if best else "") if by_gamma else "K")
    missing = [name for name, point in zip(names, curve, strict=True) if point.cell is None]
    if missing:
        text = "missing" if len(missing) == len(curve) else f"missing: {', '.join(missing)}"
        axis.text(0.5, 0.03, text, transform=axis.transAxes, ha="center", style="italic")


def _base(settings: Mapping[str, Any]) -> Experiment:
    """The first cell of Table III, with K and dropout by validation; the candidates for K are the curve over K."""
    return Experiment.of({"arch": "gcn", "aggr": "sum", "dropout": "auto", "positions": "auto", **settings})


def _over_gamma(base: Experiment, positions: int | None) -> list[Experiment]:
    """Every gamma with the chosen K, without the default gamma, which the curve over K has."""
    if positions is None:
        return []
    return [dataclasses.replace(base, positions=positions, gamma=g) for g in GAMMAS if g != base.gamma]


def _used(rows: pd.DataFrame, datasets: Sequence[str], base: Experiment) -> pd.DataFrame:
    """The trainings of both curves, each once."""
    used = [rows[:0]]
    for dataset in datasets:
        over_positions = StoredResults(rows, dataset, base)
        used.append(over_positions.used())
        used += [StoredResults(rows, dataset, other).used() for other in _over_gamma(base, over_positions.positions)]
    return pd.concat(used).drop_duplicates("key")


def _cell(rows: pd.DataFrame, dataset: str, base: Experiment, positions: int | None, gamma: float) -> Cell | None:
    if positions is None:
        return None
    (cell,) = StoredResults(rows, dataset, dataclasses.replace(base, positions=positions, gamma=gamma)).cells()
    return cell if isinstance(cell, Cell) else None


def _rows(curves: Sequence[Point]) -> list[list[str]]:
    rows = []
    for point in curves:
        row = [point.dataset, point.varied, str(point.positions or "-"), f"{point.gamma:g}"]
        rows.append([*row, *comparison_columns(None if point.cell is None else point.cell.comparison)])
    return rows


def _markdown(curves: Sequence[Point], base: Experiment) -> str:
    rule = experiment_rule(base)
    complete = sum(point.cell is not None for point in curves)
    return (
        f"{markdown_table(ALL_HEADINGS, _rows(curves))}\n{complete} of {len(curves)} points are complete. Accuracy in "
        "percent (standard deviation over seeds), GCN + SSRead(sum); gamma is varied with the K that validation chose. "
        f"{rule}.\n"
    )
