"""Figures for papers: SVG and PNG files of positions, activations and the map of nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from ssread.common.figure_style import drawing, save
from ssread.common.files import write_text
from ssread.data.graphset import GraphSet
from ssread.draw import Panel, activation_colours, draw_panels, drawings, graph_svg, position_colours
from ssread.draw.palette import AGAINST, FOR, NO_POSITION
from ssread.errors import InputError
from ssread.explain import activation, has_positions, positions, probabilities
from ssread.explain.node_map import node_map

__all__ = ["draw_map", "write_figures"]

#: The number of graphs that are drawn, the first of the dataset, and of panels per row.
MAX_GRAPHS, COLUMNS = 12, 4

#: The colour of every node, graph by graph, and a legend of names and colours.
View = tuple[list[list[str]], dict[str, str]]


def write_figures(model: Any, graphs: GraphSet, folder: Path, class_names: Sequence[str] = ()) -> list[Path]:
    """Draws the first graphs of a dataset by position and by activation for every class, and the map of nodes.

    Each graph is also written to a file of its own in ``graphs/``, molecules as RDKit draws them.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
        folder: The folder of the files.
        class_names: The names of the model's classes, by default those of the graphs.
    """
    if not len(graphs):
        raise InputError(f"{graphs.name} has no graphs: there is nothing to draw.")
    names = list(class_names or graphs.class_names)
    shown = graphs[: min(MAX_GRAPHS, len(graphs))]
    predicted = probabilities(model, shown).argmax(dim=1).tolist()
    titles = [f"{shown.ids[number]}: {names[predicted[number]]}" for number in range(len(shown))]
    plans = drawings(shown)
    files = []
    for view, (colours, legend) in _views(model, shown, names).items():
        panels = [Panel(*parts) for parts in zip(plans, colours, titles, strict=True)]
        rows = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
        files += draw_panels(rows, folder / view, legend)
        for number, panel in enumerate(panels):
            name = f"{number:02d}-{_file_name(str(shown.ids[number]))}-{view}.svg"
            files.append(write_text(folder / "graphs" / name, graph_svg(panel)))
    return files + draw_map(model, graphs, folder / "map")


def draw_map(model: Any, graphs: GraphSet, stem: Path) -> list[Path]:
    """Writes the t-SNE of node vectors, coloured by position, with the prototypes as diamonds."""
    points = node_map(model, graphs)
    title = f"{graphs.name}: node vectors by t-SNE"
    with drawing(5.4, 4.8) as figure:
        axis = figure.add_subplot()
        axis.set_xticks([])
        axis.set_yticks([])
        if has_positions(model):
            position = positions(model, graphs).position[points.nodes].numpy()
            colours = position_colours(len(points.prototypes))
            for k, colour in enumerate(colours):
                x, y = points.coordinates[position == k].T
                axis.scatter(x, y, color=colour, label=f"position {k}", s=9, linewidths=0)
            x, y = points.prototypes.T
            axis.scatter(x, y, s=70, c=colours, marker="D", edgecolors="black", linewidths=0.8)
            figure.legend(loc="outside lower center", ncols=4, markerscale=2, columnspacing=1)
            title += "; diamonds: prototypes"
        else:
            x, y = points.coordinates.T
            axis.scatter(x, y, color=AGAINST, s=9, linewidths=0)
        axis.set_title(title)
        return save(figure, stem)


def _views(model: Any, graphs: GraphSet, class_names: Sequence[str]) -> dict[str, View]:
    """The ways to colour the graphs, by file name."""
    views: dict[str, View] = {}
    if has_positions(model):
        aligned = positions(model, graphs)
        colours = position_colours(aligned.num_positions)
        legend = {f"position {k}": colour for k, colour in enumerate(colours)}
        colours.append(NO_POSITION)  # at index -1
        views["positions"] = [[colours[k] for k in part] for part in _by_graph(graphs, aligned.position)], legend
    for number, name in enumerate(class_names):
        parts = _by_graph(graphs, activation(model, graphs, number))
        legend = {f"for {name}": FOR, f"against {name}": AGAINST}
        views[f"activation-{_file_name(name)}"] = [activation_colours(part) for part in parts], legend
    return views


def _by_graph(graphs: GraphSet, values: Tensor) -> list[list[Any]]:
    """Values of nodes [N], graph by graph."""
    return [part.tolist() for part in values.split(graphs.node_counts.tolist())]


def _file_name(text: str) -> str:
    """A text from the data as part of a file name."""
    return re.sub(r"[^\w.+-]+", "_", text)[:60] or "_"
