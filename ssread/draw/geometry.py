"""A graph ready to be drawn: places, bonds, labels; molecules as RDKit depicts them, other graphs by their layout."""

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

LONGEST_LABEL = 4


@dataclass(frozen=True, eq=False)
class Drawing:
    """One graph in the plane.

    Attributes:
        places: Where every node stands, [n, 2], y upwards; edges are about 1 long.
        bonds: The ends of every edge once, and how many lines it has, [(i, j, 1..3)].
        labels: What is written at every node; empty for a carbon atom, or where nodes have no type.
        molecule: The RDKit molecule, where the graph is one that RDKit accepts.
    """

    places: np.ndarray
    bonds: list[tuple[int, int, int]]
    labels: list[str]
    molecule: Mol | None = None


def drawings(graphs: GraphSet) -> list[Drawing]:
    """How to draw every graph. What is no molecule, or none that RDKit accepts, is drawn as a plain graph."""
    try:
        found = molecules(graphs) if are_molecules(graphs) else [None] * len(graphs)
    except MissingExtraError:
        found = [None] * len(graphs)
    labels = _labels(graphs)
    return [
        _network(graphs, number, labels) if molecule is None else _depicted(molecule)
        for number, molecule in enumerate(found)
    ]


def _network(graphs: GraphSet, number: int, labels: list[str]) -> Drawing:
    edges = graphs.edge_index[:, graphs.edge_ptr[number] : graphs.edge_ptr[number + 1]].cpu().numpy()
    first, last = int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1])
    once = sorted({(min(pair), max(pair)) for pair in edges.T.tolist() if pair[0] != pair[1]})
    return Drawing(layout(last - first, edges), [(i, j, 1) for i, j in once], labels[first:last])


def _labels(graphs: GraphSet) -> list[str]:
    """The type of every node of the set, where types are short names of one-hot features; a carbon atom has none."""
    names = [name.split("=")[-1] for name in graphs.node_feature_names]
    one_hot = bool(((graphs.x == 0) | (graphs.x == 1)).all()) and bool((graphs.x.sum(dim=1) <= 1).all())
    if len(names) < 2 or not one_hot or max(map(len, names)) > LONGEST_LABEL:
        return [""] * graphs.x.size(0)
    carbon = are_molecules(graphs)
    texts = ["" if carbon and name == "C" else name for name in names]
    return [texts[column] for column in graphs.x.argmax(dim=1).tolist()]


def _depicted(molecule: Mol) -> Drawing:
    from rdkit import Chem
    from rdkit.Chem import rdDepictor

    drawn = Chem.Mol(molecule)
    Chem.Kekulize(drawn, clearAromaticFlags=True)
    rdDepictor.Compute2DCoords(drawn, canonOrient=True)
    places = drawn.GetConformer().GetPositions()[:, :2] / 1.5  # RDKit's bonds are 1.5 long
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondTypeAsDouble())) for b in drawn.GetBonds()]
    return Drawing(places, bonds, [_atom_label(atom) for atom in drawn.GetAtoms()], drawn)


def _atom_label(atom: Any) -> str:
    """As chemists write it: OH, NH2, N+; nothing for carbon."""
    symbol, charge, hydrogens = atom.GetSymbol(), atom.GetFormalCharge(), atom.GetTotalNumHs()
    if symbol == "C" and charge == 0 and atom.GetDegree() > 0:
        return ""
    written = "" if symbol == "C" or hydrogens == 0 else "H" + (str(hydrogens) if hydrogens > 1 else "")
    sign = "" if charge == 0 else ("+" if charge > 0 else "\N{MINUS SIGN}")
    return symbol + written + (str(abs(charge)) if abs(charge) > 1 else "") + sign
