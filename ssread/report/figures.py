"""Figures for papers: SVG and PNG files of positions, activations and the map of nodes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from torch import Tensor

from ssread.common.figure_style import PALETTE, as_label, drawing, save
from ssread.common.files import write_text
from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION
from ssread.draw import Panel, activation_colours, draw_panels, drawings, graph_svg, meaning_colours
from ssread.draw.palette import AGAINST, FOR, NO_POSITION
from ssread.errors import InputError
from ssread.explain import activation, consensus, has_positions, predictions
from ssread.explain.atlas import atlas_levels
from ssread.explain.forward import opened
from ssread.explain.meanings import with_stored_meanings
from ssread.explain.node_map import node_map
from ssread.explain.outputs import Outputs, outputs_of

__all__ = ["draw_map", "write_figures"]

#: The number of graphs that are drawn, the first of the dataset, and of panels per row.
MAX_GRAPHS, COLUMNS = 12, 4

#: The colour of every node, graph by graph, the title of every graph, and a legend of names and colours.
View = tuple[list[list[str]], list[str], dict[str, str]]


def write_figures(model: Any, graphs: GraphSet, folder: Path) -> list[Path]:
    """Draws the first graphs of a dataset by position and by activation for every output, and the map of nodes.

    Each graph is also written to a file of its own in ``graphs/``, molecules as RDKit draws them.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
        folder: The folder of the files.
    """
    if not len(graphs):
        raise InputError(f"{graphs.name} has no graphs: there is nothing to draw.")
    model = opened(model)
    shown = graphs[: min(MAX_GRAPHS, len(graphs))]
    plans = drawings(shown)
    files = []
    for view, (colours, titles, legend) in _views(model, shown, graphs).items():
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
    title = f"{as_label(graphs.name)}: node vectors by t-SNE"
    with drawing(5.4, 4.8) as figure:
        axis = figure.add_subplot()
        axis.set_xticks([])
        axis.set_yticks([])
        if has_positions(model):
            aligned, meanings = consensus(model, graphs), _meanings(model, graphs)
            position = aligned.position[points.nodes].numpy()
            for k, (name, colour) in enumerate(meanings.items()):
                x, y = points.coordinates[position == k].T
                axis.scatter(x, y, color=colour, label=name, s=9, linewidths=0)
            x, y = points.prototypes[aligned.matching[0].argsort().numpy()].T  # the first member's, in the common order
            axis.scatter(x, y, s=70, c=list(meanings.values()), marker="D", edgecolors="black", linewidths=0.8)
            figure.legend(loc="outside lower center", ncols=2, markerscale=2, columnspacing=1)
            title += "; diamonds: prototypes"
        else:
            x, y = points.coordinates.T
            axis.scatter(x, y, color=PALETTE[0], s=9, linewidths=0)
        axis.set_title(title)
        return save(figure, stem)


def _meanings(model: Any, graphs: GraphSet) -> dict[str, str]:
    """The name of every position, with its colour."""
    aligned = consensus(model, graphs)
    levels = atlas_levels(model, graphs, aligned, groups=[], num_exemplars=0)
    cards = (with_stored_meanings(model, levels) or levels)[0].cards
    names = [card.name for card in cards]
    return dict(zip(names, meaning_colours(names, [card.share for card in cards]), strict=True))


def _views(model: Any, graphs: GraphSet, everything: GraphSet) -> dict[str, View]:
    """The ways to colour the graphs, by file name; ``everything`` decides what positions mean."""
    views: dict[str, View] = {}
    outputs = outputs_of(model, graphs)
    predicted = predictions(model, graphs)
    if has_positions(model):
        legend = _meanings(model, everything)
        colours = [*legend.values(), NO_POSITION]  # at index -1
        aligned = consensus(model, graphs, consensus(model, everything).matching)
        by_position = [[colours[k] for k in part] for part in _by_graph(graphs, aligned.position)]
        views["positions"] = by_position, _titles(graphs, outputs, predicted, None), legend
    activations = activation(model, graphs)
    for number, name in enumerate(outputs.texts):
        parts = _by_graph(graphs, activations[:, number])
        words = ("raises", "lowers") if outputs.task == REGRESSION else ("for", "against")
        legend = dict(zip([f"{word} {name}" for word in words], (FOR, AGAINST), strict=True))
        titles = _titles(graphs, outputs, predicted, number)
        views[f"activation-{_file_name(name)}"] = [activation_colours(part) for part in parts], titles, legend
    return views


def _titles(graphs: GraphSet, outputs: Outputs, predicted: Tensor, output: int | None) -> list[str]:
    """Ids with the predicted class, or with what is predicted for one label or number; ids alone without one."""
    ids, texts = list(map(str, graphs.ids)), outputs.texts
    if outputs.task == CLASSIFICATION:
        return [f"{id}: {texts[number]}" for id, number in zip(ids, predicted.argmax(dim=1).tolist(), strict=True)]
    if output is None:
        return ids
    form = "{}: {:.0%}" if outputs.task == MULTILABEL else "{}: {:.4g}"
    return [form.format(id, value) for id, value in zip(ids, predicted[:, output].tolist(), strict=True)]


def _by_graph(graphs: GraphSet, values: Tensor) -> list[list[Any]]:
    """Values of nodes [N], graph by graph."""
    return [part.tolist() for part in values.split(graphs.node_counts.tolist())]


def _file_name(text: str) -> str:
    """A text from the data as part of a file name."""
    return re.sub(r"[^\w.+-]+", "_", text)[:60] or "_"
