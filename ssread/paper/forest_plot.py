"""A picture of all differences between both readouts with their intervals, one row per cell."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssread.common.figure_style import PALETTE, drawing, save
from ssread.evaluate.report import Cell, Together
from ssread.evaluate.significance import MARGIN
from ssread.paper.registry import heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FINDINGS", "draw_differences", "finding_of"]

#: The findings that are told apart, with colour and marker.
FINDINGS = {
    "better": (PALETTE[2], "^"),
    "worse": (PALETTE[1], "v"),
    "equal": (PALETTE[0], "s"),
    "undecided": ("#8a8f94", "o"),
}
LABELS = {
    "better": "SSRead better",
    "worse": "SSRead worse",
    "equal": "equal within one point",
    "undecided": "undecided",
}
HOLLOW: dict[str, Any] = {"color": "black", "markerfacecolor": "white", "markersize": 3, "markeredgewidth": 0.6}
ROW = 0.17  # inches
GAP = 0.6  # rows between datasets


def finding_of(cell: Cell | Together) -> str:
    """The finding of a cell, one of :data:`FINDINGS`; what only the plain t-test says is undecided."""
    first = cell.comparison.finding.split()[0]
    return first if first in FINDINGS else "undecided"


def draw_differences(
    tables: Mapping[str, Sequence[Cell]],
    stem: Path,
    endings: Sequence[str] = ("svg", "png"),
    together: Sequence[Together] = (),
) -> list[Path]:
    """Draws SSRead - GRead of every cell, grouped by table and dataset; returns the files.

    Args:
        tables: The measured cells by the name of their table; Table III is in the left column, the others in the right.
        stem: The path of the picture without its ending.
        endings: The formats.
        together: The cells of a dataset as one, drawn above Table III.
    """
    left: dict[str, Sequence[Cell | Together]] = {"All cells of a dataset together": together}
    right: dict[str, Sequence[Cell | Together]] = {}
    for name, cells in tables.items():
        (left if name == "table3" else right)[heading(name)] = cells
    filled = ({title: rows for title, rows in side.items() if rows} for side in (left, right))
    columns = [side for side in filled if side]
    rows = max((sum(map(_height, column.values())) for column in columns), default=4.0)
    with drawing(5.2 * max(len(columns), 1), ROW * rows + 1.3) as figure:
        axes = figure.subplots(1, max(len(columns), 1), squeeze=False, sharex=True)[0]
        if not columns:
            axes[0].text(0.5, 0.5, "nothing trained yet", transform=axes[0].transAxes, ha="center", style="italic")
        for axis, column in zip(axes, columns, strict=False):
            _draw_column(axis, column, rows)
        handles = [
            axes[0].plot([], [], color=colour, marker=marker, label=LABELS[finding])[0]
            for finding, (colour, marker) in FINDINGS.items()
        ]
        handles += axes[0].plot([], [], linestyle="", marker="D", label="the paper", **HOLLOW)
        figure.legend(handles=handles, loc="outside lower center", ncols=3 if len(columns) < 2 else 5)
        return save(figure, stem, endings)


def _groups(rows: Sequence[Cell | Together]) -> list[list[Cell | Together]]:
    """Rows that stand together: the cells of a dataset, or all datasets."""
    if rows and isinstance(rows[0], Together):
        return [list(rows)]
    return [list(group) for _, group in groupby(rows, key=lambda row: row.dataset)]


def _height(rows: Sequence[Cell | Together]) -> float:
    """Rows that a part takes, with its heading."""
    return 2.0 + len(rows) + GAP * len(_groups(rows))


def _draw_column(axis: "Axes", parts: Mapping[str, Sequence[Cell | Together]], rows: float) -> None:
    """Parts below each other, a row per cell, with the name of a dataset at its first row."""
    margin = 100 * MARGIN
    axis.axvspan(-margin, margin, color=FINDINGS["equal"][0], alpha=0.08, linewidth=0)
    axis.axvline(0, color="black", linewidth=0.6)
    y, places, names = 0.0, [], []
    for title, part in parts.items():
        y += 1
        place = axis.get_yaxis_transform()
        axis.text(0.0, y, title, weight="bold", va="center", backgroundcolor="white", transform=place)
        y += 1
        for group in _groups(part):
            for number, row in enumerate(group):
                places.append(y)
                names.append(_name(row, number == 0))
                _draw_row(axis, row, y)
                y += 1
            y += GAP
    axis.set_yticks(places, names)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(rows, 0)
    axis.spines["left"].set_visible(False)
    axis.set_xlabel("SSRead - GRead, points of accuracy, 95 % interval")


def _draw_row(axis: "Axes", row: Cell | Together, y: float) -> None:
    colour, marker = FINDINGS[finding_of(row)]
    low, high = (100 * end for end in row.comparison.interval)
    if math.isfinite(low):
        axis.plot([low, high], [y, y], color=colour, linewidth=1.4)
    axis.plot([100 * row.comparison.difference], [y], linestyle="", marker=marker, color=colour, markersize=5)
    axis.plot([row.paper_gain], [y], linestyle="", marker="D", **HOLLOW)  # NaN is not drawn


def _name(row: Cell | Together, first: bool) -> str:
    """What tells a row from the others: of the first of a dataset also its name."""
    if isinstance(row, Together):
        return f"{row.dataset}, {len(row.cells)} cell{'s' * (len(row.cells) > 1)}{row.pairs}"
    of_table_3 = row.learn == "supervised" and row.arch == "gcn"
    name = row.aggr if of_table_3 else row.arch if row.learn == "supervised" else row.learn
    return f"{row.dataset}: {name}" if first else name
