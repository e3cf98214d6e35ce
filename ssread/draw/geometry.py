"""Coordinates, bonds and labels of a graph: molecules as RDKit depicts them, other graphs by their layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import are_molecules, molecules
from ssread.draw.layout import layout
from ssread.errors import MissingExtraError

if TYPE_CHECKING:
    from rdkit.Chem import Mol

__all__ = ["Drawing", "drawings"]

MAX_LABEL_LENGTH = 4


@dataclass(frozen=True, eq=False)
class Drawing:
    """A graph in the plane.

    Attributes:
        coordinates: The coordinates of every node, [n, 2], y upwards; an edge has a length of about 1.
        bonds: Every edge once, as (i, j, number of lines), where the number is 1 to 3.
        labels: The label of every node; empty for a carbon atom, and where nodes have no type.
        molecule: The RDKit molecule, where the graph is one that RDKit accepts.
    """

    coordinates: np.ndarray
    bonds: list[tuple[int, int, int]]
    labels: list[str]
    molecule: Mol | None = None


def drawings(graphs: GraphSet) -> list[Drawing]:
    """A drawing of every graph; a graph that is not a molecule, or that RDKit rejects, is drawn as a plain graph."""
    try:
        rebuilt = molecules(graphs) if are_molecules(graphs) else [None] * len(graphs)
    except MissingExtraError:
        rebuilt = [None] * len(graphs)
    labels = _type_labels(graphs)
    return [
        _draw_plain(graphs, number, labels) if molecule is None else _draw_molecule(molecule)
        for number, molecule in enumerate(rebuilt)
    ]


def _draw_plain(graphs: GraphSet, number: int, labels: list[str]) -> Drawing:
    edges = graphs.edge_index[:, graphs.edge_ptr[number] : graphs.edge_ptr[number + 1]].cpu().numpy()
    start, stop = int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1])
    undirected = sorted({(min(pair), max(pair)) for pair in edges.T.tolist() if pair[0] != pair[1]})
    return Drawing(layout(stop - start, edges), [(i, j, 1) for i, j in undirected], labels[start:stop])


def _type_labels(graphs: GraphSet) -> list[str]:
    """The type of every node, where types are short names of one-hot features; empty for carbon atoms."""
    names = [name.split("=")[-1] for name in graphs.node_feature_names]
    one_hot = bool(((graphs.x == 0) | (graphs.x == 1)).all()) and bool((graphs.x.sum(dim=1) <= 1).all())
    if len(names) < 2 or not one_hot or max(map(len, names)) > MAX_LABEL_LENGTH:
        return [""] * graphs.x.size(0)
    omit_carbon = are_molecules(graphs)
    labels = ["" if omit_carbon and name == "C" else name for name in names]
    return [labels[column] for column in graphs.x.argmax(dim=1).tolist()]


def _draw_molecule(molecule: Mol) -> Drawing:
    from rdkit import Chem
    from rdkit.Chem import rdDepictor

    depicted = Chem.Mol(molecule)
    Chem.Kekulize(depicted, clearAromaticFlags=True)
    rdDepictor.Compute2DCoords(depicted, canonOrient=True)
    coordinates = depicted.GetConformer().GetPositions()[:, :2] / 1.5  # RDKit's bonds have a length of 1.5
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondTypeAsDouble())) for b in depicted.GetBonds()]
    return Drawing(coordinates, bonds, [_atom_label(atom) for atom in depicted.GetAtoms()], depicted)


def _atom_label(atom: Any) -> str:
    """The label in chemical notation, such as OH, NH2 or N+; empty for carbon."""
    symbol, charge, hydrogens = atom.GetSymbol(), atom.GetFormalCharge(), atom.GetTotalNumHs()
    if symbol == "C" and charge == 0 and atom.GetDegree() > 0:
        return ""
    hydrogen = "" if symbol == "C" or hydrogens == 0 else "H" + (str(hydrogens) if hydrogens > 1 else "")
    sign = "" if charge == 0 else ("+" if charge > 0 else "\N{MINUS SIGN}")
    return symbol + hydrogen + (str(abs(charge)) if abs(charge) > 1 else "") + sign
