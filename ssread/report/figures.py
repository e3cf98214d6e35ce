"""Pictures for papers: SVG and PNG files of positions, activations and the map of nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ssread.common.figure_style import drawing, save
from ssread.common.files import write_text
from ssread.data.graphset import GraphSet
from ssread.draw import Panel, activation_colours, draw_panels, drawings, graph_svg, position_colours
from ssread.draw.palette import AGAINST, FOR, NOTHING
from ssread.errors import InputError
from ssread.explain import activation, has_positions, positions, probabilities
from ssread.explain.node_map import NodeMap, node_map

__all__ = ["draw_map", "position_legend", "write_figures"]

#: Graphs that are drawn, the first of the set, and how many stand side by side.
MOST, COLUMNS = 12, 4


def write_figures(model: Any, graphs: GraphSet, folder: Path, class_names: Sequence[str] = ()) -> list[Path]:
    """Draws the first graphs of a set by position and by activation for every class, and the map of nodes.

    Each graph is also a file of its own (``graphs/``), molecules in RDKit's drawing.

    Args:
        model: What :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
        folder: Where the files go.
        class_names: Names of the model's classes, by default the graphs'.
    """
    if not len(graphs):
        raise InputError(f"{graphs.name} has no graphs: there is nothing to draw.")
    names = list(class_names or graphs.class_names)
    few = graphs[: min(MOST, len(graphs))]
    plans = drawings(few)
    told = probabilities(model, few).argmax(dim=1).tolist()
    titles = [f"{few.ids[n]}: {names[told[n]]}" for n in range(len(few))]
    views: dict[str, tuple[list[list[str]], dict[str, str]]] = {}
    if has_positions(model):
        found = positions(model, few)
        colours = [*position_colours(found.num_positions), NOTHING]
        views["positions"] = (
            [[colours[k] for k in part] for part in _split(few, found.position)],
            position_legend(found.num_positions),
        )
    for number, name in enumerate(names):
        scores = _split(few, activation(model, few, number))
        legend = {f"for {name}": FOR, f"against {name}": AGAINST}
        views[f"activation-{_file_name(name)}"] = [activation_colours(part) for part in scores], legend
    files = []
    for view, (colours_of, legend) in views.items():
        panels = [Panel(*parts) for parts in zip(plans, colours_of, titles, strict=True)]
        rows = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
        files += draw_panels(rows, folder / view, legend)
        for number, panel in enumerate(panels):
            name = f"{number:02d}-{_file_name(str(few.ids[number]))}-{view}.svg"
            files.append(write_text(folder / "graphs" / name, graph_svg(panel)))
    return files + draw_map(model, graphs, folder / "map")


def position_legend(num_positions: int) -> dict[str, str]:
    """The colour of every position, by its name."""
    return {f"position {k}": colour for k, colour in enumerate(position_colours(num_positions))}


def draw_map(model: Any, graphs: GraphSet, stem: Path, found: NodeMap | None = None) -> list[Path]:
    """Writes the t-SNE of node vectors, coloured by position, with the prototypes as diamonds."""
    found = node_map(model, graphs) if found is None else found
    with drawing(5.4, 4.8) as figure:
        axis = figure.add_subplot()
        axis.set_xticks([])
        axis.set_yticks([])
        if has_positions(model):
            position = positions(model, graphs).position[found.nodes].numpy()
            for k, colour in enumerate(position_colours(len(found.prototypes))):
                own = found.places[position == k]
                axis.scatter(own[:, 0], own[:, 1], color=colour, label=f"position {k}", s=9, linewidths=0)
            colours = position_colours(len(found.prototypes))
            axis.scatter(
                found.prototypes[:, 0],
                found.prototypes[:, 1],
                s=70,
                c=colours,
                marker="D",
                edgecolors="black",
                linewidths=0.8,
            )
            figure.legend(loc="outside lower center", ncols=4, markerscale=2, columnspacing=1)
        else:
            axis.scatter(found.places[:, 0], found.places[:, 1], color=AGAINST, s=9, linewidths=0)
        axis.set_title(f"{graphs.name}: node vectors by t-SNE" + ("; diamonds: prototypes" * has_positions(model)))
        return save(figure, stem)


def _split(graphs: GraphSet, values: Any) -> list[list[Any]]:
    """Values of nodes, graph by graph."""
    return [part.tolist() for part in values.split(graphs.node_counts.tolist())]


def _file_name(text: str) -> str:
    """A text from the data as part of a file's name."""
    return re.sub(r"[^\w.+-]+", "_", text)[:60] or "_"
