"""Figures for papers: panels of graphs with coloured nodes and a legend, byte-identical for the same data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ssread.common.figure_style import as_label, drawing, save
from ssread.draw.drawing import DOUBLE, DOUBLE_LEFT, DOUBLE_RIGHT, TRIPLE, Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Panel", "draw_panels", "graph_svg"]

PANEL_INCHES = 2.3

#: About how many letters of a legend fit below a panel.
LETTERS_PER_PANEL = 32


@dataclass(frozen=True)
class Panel:
    """One graph of a figure.

    Attributes:
        drawing: The graph.
        colours: The colour of every node, ``#rrggbb``.
        title: The title above it.
    """

    drawing: Drawing
    colours: Sequence[str]
    title: str = ""


def draw_panels(panels: Sequence[Sequence[Panel]], stem: Path, legend: Mapping[str, str] | None = None) -> list[Path]:
    """Writes ``stem.svg`` and ``stem.png``: rows of panels with a legend of names and colours below."""
    from matplotlib.lines import Line2D

    rows, columns = len(panels), max(map(len, panels))
    with drawing(PANEL_INCHES * columns, PANEL_INCHES * rows + 0.4 * bool(legend)) as figure:
        axes = figure.subplots(rows, columns, squeeze=False)
        for row, row_axes in zip(panels, axes, strict=True):
            for axis in row_axes:
                axis.set_axis_off()
            for panel, axis in zip(row, row_axes, strict=False):
                _draw_panel(axis, panel)
        if legend:
            style = {"marker": "o", "linestyle": "", "markeredgecolor": "#555555", "markeredgewidth": 0.5}
            legend = {as_label(name): colour for name, colour in legend.items()}
            handles = [Line2D([], [], color=colour, label=name, **style) for name, colour in legend.items()]  # type: ignore[arg-type]
            fitting = LETTERS_PER_PANEL * columns // (max(map(len, legend)) + 4)  # 4 for the marker and the gap
            figure.legend(handles=handles, loc="outside lower center", ncols=max(min(len(handles), fitting), 1))
        return save(figure, stem)


def graph_svg(panel: Panel, size: int = 320) -> str:
    """One graph as an SVG document: a molecule as RDKit draws it, with coloured atoms, or a plain graph."""
    if panel.drawing.molecule is not None:
        return _molecule_svg(panel, size)
    with drawing(size / 100, size / 100) as figure:
        axis = figure.add_subplot()
        axis.set_axis_off()
        _draw_panel(axis, panel)
        svg = StringIO()
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return svg.getvalue()


def _molecule_svg(panel: Panel, size: int) -> str:
    from rdkit.Chem.Draw import rdMolDraw2D

    molecule = panel.drawing.molecule
    assert molecule is not None
    painter = rdMolDraw2D.MolDraw2DSVG(size, size)
    options: Any = painter.drawOptions()  # the stubs of RDKit type the options wrongly
    options.useBWAtomPalette()
    options.clearBackground = False
    options.circleAtoms = True
    options.highlightRadius = 0.35
    options.fillHighlights = True
    colours = {n: _rgb(colour) for n, colour in enumerate(panel.colours)}
    painter.DrawMolecule(
        molecule,
        highlightAtoms=list(colours),
        highlightAtomColors=colours,
        highlightBonds=[],
        legend=panel.title,
    )
    painter.FinishDrawing()
    return painter.GetDrawingText()


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def _draw_panel(axis: Axes, panel: Panel) -> None:
    from matplotlib.collections import LineCollection

    coordinates = panel.drawing.coordinates
    lines = [line for bond in panel.drawing.bonds for line in _bond_lines(coordinates, bond)]
    axis.add_collection(LineCollection(lines, colors="#777777", linewidths=0.9, zorder=1))
    size = float(np.clip(2600 / max(len(coordinates), 1), 6, 130))
    xs, ys = coordinates.T
    axis.scatter(xs, ys, s=size, c=list(panel.colours), edgecolors="#555555", linewidths=0.5, zorder=2)
    for (x, y), label, colour in zip(coordinates, panel.drawing.labels, panel.colours, strict=True):
        if label:
            axis.text(x, y, label, ha="center", va="center", fontsize=5.5, color=_text_colour(colour), zorder=3)
    axis.set_title(as_label(panel.title), fontsize=8)
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.08)


def _bond_lines(coordinates: np.ndarray, bond: tuple[int, int, int]) -> list[np.ndarray]:
    """One, two or three parallel lines, [2, 2] each."""
    i, j, kind = bond
    ends = coordinates[[i, j]]
    along = ends[1] - ends[0]
    length = np.linalg.norm(along) or 1.0
    across = np.array([-along[1], along[0]]) / length * 0.09
    if kind in (DOUBLE_LEFT, DOUBLE_RIGHT):
        inner = ends + np.array([[0.12], [-0.12]]) * along + across * (1.8 if kind == DOUBLE_LEFT else -1.8)
        return [ends, inner]
    return [ends + across * offset for offset in {DOUBLE: (-1, 1), TRIPLE: (-1.6, 0, 1.6)}.get(kind, (0,))]


def _text_colour(background: str) -> str:
    """Black or white, whichever is readable on the background."""
    red, green, blue = _rgb(background)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"
