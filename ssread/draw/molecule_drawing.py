"""A molecule as a chemist draws it: RDKit's coordinates, kinds of bonds, labels in chemical notation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ssread.draw.drawing import DOUBLE, DOUBLE_LEFT, DOUBLE_RIGHT, HASHED, SINGLE, TRIPLE, WEDGED, Drawing

if TYPE_CHECKING:
    from rdkit.Chem import Mol

__all__ = ["draw_molecule"]

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_molecule(molecule: Mol) -> Drawing:
    """Returns the drawing of a molecule that RDKit accepts."""
    from rdkit import Chem
    from rdkit.Chem import rdDepictor

    depicted = Chem.Mol(molecule)
    Chem.Kekulize(depicted, clearAromaticFlags=True)
    rdDepictor.Compute2DCoords(depicted, canonOrient=True)
    coordinates = depicted.GetConformer().GetPositions()[:, :2] / 1.5  # RDKit's bonds have a length of 1.5
    if any(atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED for atom in depicted.GetAtoms()):
        Chem.WedgeMolBonds(depicted, depicted.GetConformer())
    rings = [list(ring) for ring in depicted.GetRingInfo().AtomRings()]
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), _kind(b, coordinates, rings)) for b in depicted.GetBonds()]
    labels = [_atom_label(atom, coordinates) for atom in depicted.GetAtoms()]
    return Drawing(coordinates, bonds, labels, depicted)


def _kind(bond: Any, coordinates: np.ndarray, rings: list[list[int]]) -> int:
    from rdkit import Chem

    order = bond.GetBondTypeAsDouble()
    if order == 1:
        stereo = {Chem.BondDir.BEGINWEDGE: WEDGED, Chem.BondDir.BEGINDASH: HASHED}
        return stereo.get(bond.GetBondDir(), SINGLE)
    if order == 2:
        return _double(bond, coordinates, rings)
    return TRIPLE if order == 3 else SINGLE


def _double(bond: Any, coordinates: np.ndarray, rings: list[list[int]]) -> int:
    """The side of the second line: inside the ring, or where more neighbours are; in the middle at an end."""
    i, j = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
    around = [ring for ring in rings if i in ring and j in ring]
    if around:  # of fused rings the smallest of those closest to six atoms, which is the aromatic one
        inside = coordinates[min(around, key=lambda ring: (abs(len(ring) - 6), min(ring)))].mean(axis=0)
    else:
        ends = bond.GetBeginAtom(), bond.GetEndAtom()
        if min(end.GetDegree() for end in ends) == 1:
            return DOUBLE
        others = [other.GetIdx() for end in ends for other in end.GetNeighbors() if other.GetIdx() not in (i, j)]
        inside = coordinates[others].mean(axis=0)
    along, toward = coordinates[j] - coordinates[i], inside - coordinates[i]
    return DOUBLE_LEFT if along[0] * toward[1] - along[1] * toward[0] >= 0 else DOUBLE_RIGHT


def _atom_label(atom: Any, coordinates: np.ndarray) -> str:
    """The label, such as OH, H₂N or N⁺, hydrogens on the side without neighbours; empty for a carbon in a skeleton."""
    symbol, charge, count = atom.GetSymbol(), atom.GetFormalCharge(), atom.GetTotalNumHs()
    if symbol == "C" and charge == 0 and atom.GetDegree() > 0:
        return ""
    hydrogens = "" if count == 0 else "H" + (str(count).translate(SUBSCRIPTS) if count > 1 else "")
    sign = "" if charge == 0 else "⁺" if charge > 0 else "⁻"
    charged = (str(abs(charge)).translate(SUPERSCRIPTS) if abs(charge) > 1 else "") + sign
    neighbours = [other.GetIdx() for other in atom.GetNeighbors()]
    if neighbours and coordinates[neighbours, 0].mean() > coordinates[atom.GetIdx(), 0] + 0.1:
        return hydrogens + symbol + charged
    return symbol + hydrogens + charged
