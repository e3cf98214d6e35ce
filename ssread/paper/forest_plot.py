"""A picture of all differences between both readouts with their intervals, one row per cell."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssread.common.figure_style import PALETTE, drawing, save
from ssread.evaluate.report import Cell
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


def finding_of(cell: Cell) -> str:
    """The finding of a cell, one of :data:`FINDINGS`; what only the plain t-test says is undecided."""
    first = cell.comparison.finding.split()[0]
    return first if first in FINDINGS else "undecided"


def draw_differences(
    tables: Mapping[str, Sequence[Cell]], stem: Path, endings: Sequence[str] = ("svg", "png")
) -> list[Path]:
    """Draws SSRead - GRead of every cell, grouped by table and dataset; returns the files.

    Args:
        tables: The measured cells by the name of their table; Table III has a column of its own.
        stem: The path of the picture without its ending.
        endings: The formats.
    """
    sides = [{name: cells for name, cells in tables.items() if cells and (name == "table3") == left} for left in (1, 0)]
    columns = [side for side in sides if side]
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


def _height(cells: Sequence[Cell]) -> float:
    """Rows that a table takes, with its heading."""
    return 2.0 + len(cells) + GAP * len({cell.dataset for cell in cells})


def _draw_column(axis: "Axes", tables: Mapping[str, Sequence[Cell]], rows: float) -> None:
    """Tables below each other, a row per cell, with the name of a dataset at its first row."""
    margin = 100 * MARGIN
    axis.axvspan(-margin, margin, color=FINDINGS["equal"][0], alpha=0.08, linewidth=0)
    axis.axvline(0, color="black", linewidth=0.6)
    y, places, names = 0.0, [], []
    for table, cells in tables.items():
        y += 1
        place = axis.get_yaxis_transform()
        axis.text(0.0, y, heading(table), weight="bold", va="center", backgroundcolor="white", transform=place)
        y += 1
        for before, cell in zip([None, *cells], cells, strict=False):
            if before is not None and before.dataset != cell.dataset:
                y += GAP
            first = before is None or before.dataset != cell.dataset
            places.append(y)
            names.append(f"{cell.dataset}: {_name(table, cell)}" if first else _name(table, cell))
            _draw_cell(axis, cell, y)
            y += 1
        y += GAP
    axis.set_yticks(places, names)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(rows, 0)
    axis.spines["left"].set_visible(False)
    axis.set_xlabel("SSRead - GRead, points of accuracy, 95 % interval")


def _draw_cell(axis: "Axes", cell: Cell, y: float) -> None:
    colour, marker = FINDINGS[finding_of(cell)]
    low, high = (100 * end for end in cell.comparison.interval)
    if math.isfinite(low):
        axis.plot([low, high], [y, y], color=colour, linewidth=1.4)
    axis.plot([100 * cell.comparison.difference], [y], linestyle="", marker=marker, color=colour, markersize=5)
    if cell.paper_global is not None and cell.paper_ssread is not None:
        axis.plot([cell.paper_ssread.mean - cell.paper_global.mean], [y], linestyle="", marker="D", **HOLLOW)


def _name(table: str, cell: Cell) -> str:
    """What tells a cell from the others of its dataset."""
    return {"table3": cell.aggr, "table4": cell.arch}.get(table, cell.learn)
