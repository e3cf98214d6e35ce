"""Coordinates, bonds and labels of a graph: molecules as RDKit depicts them, other graphs by their layout."""

from __future__ import annotations

from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import are_molecules, molecules
from ssread.draw.drawing import SINGLE, Drawing
from ssread.draw.layout import layout
from ssread.draw.molecule_drawing import draw_molecule
from ssread.errors import MissingExtraError

__all__ = ["drawings"]

MAX_LABEL_LENGTH = 4


def drawings(graphs: GraphSet) -> list[Drawing]:
    """A drawing of every graph; a graph that is not a molecule, or that RDKit rejects, is drawn as a plain graph."""
    try:
        rebuilt = molecules(graphs) if are_molecules(graphs) else [None] * len(graphs)
    except MissingExtraError:
        rebuilt = [None] * len(graphs)
    labels = _type_labels(graphs)
    return [
        _draw_plain(graphs, number, labels) if molecule is None else draw_molecule(molecule)
        for number, molecule in enumerate(rebuilt)
    ]


def _draw_plain(graphs: GraphSet, number: int, labels: list[str]) -> Drawing:
    edges = graphs.edge_index[:, graphs.edge_ptr[number] : graphs.edge_ptr[number + 1]].cpu().numpy()
    start, stop = int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1])
    undirected = sorted({(min(pair), max(pair)) for pair in edges.T.tolist() if pair[0] != pair[1]})
    return Drawing(layout(stop - start, edges), [(i, j, SINGLE) for i, j in undirected], labels[start:stop])


def _type_labels(graphs: GraphSet) -> list[str]:
    """The type of every node, where types are short names of one-hot features; empty for carbon atoms."""
    names = [name.split("=")[-1] for name in graphs.node_feature_names]
    one_hot = bool(((graphs.x == 0) | (graphs.x == 1)).all()) and bool((graphs.x.sum(dim=1) <= 1).all())
    if len(names) < 2 or not one_hot or max(map(len, names)) > MAX_LABEL_LENGTH:
        return [""] * graphs.x.size(0)
    omit_carbon = are_molecules(graphs)
    labels = ["" if omit_carbon and name == "C" else name for name in names]
    return [labels[column] for column in graphs.x.argmax(dim=1).tolist()]
