"""Molecules as chemists draw them."""

import numpy as np
import pytest

from ssread.draw.drawing import DOUBLE, DOUBLE_LEFT, DOUBLE_RIGHT, HASHED, TRIPLE, WEDGED
from ssread.draw.molecule_drawing import draw_molecule

Chem = pytest.importorskip("rdkit.Chem")


def drawn(smiles):
    return draw_molecule(Chem.MolFromSmiles(smiles))


@pytest.mark.parametrize("smiles", ["c1ccccc1", "c1ccc2ccccc2c1", "c1ccc2cccc2cc1", "C1=CCCC1"])
def test_the_second_line_of_a_double_bond_is_inside_its_ring(smiles):
    drawing = drawn(smiles)
    rings = drawing.molecule.GetRingInfo().AtomRings()
    doubles = [bond for bond in drawing.bonds if bond[2] in (DOUBLE_LEFT, DOUBLE_RIGHT)]
    assert doubles
    for i, j, kind in doubles:
        along = drawing.coordinates[j] - drawing.coordinates[i]
        middle = (drawing.coordinates[i] + drawing.coordinates[j]) / 2
        left = np.array([-along[1], along[0]]) * (1 if kind == DOUBLE_LEFT else -1)
        centres = [drawing.coordinates[list(ring)].mean(axis=0) for ring in rings if i in ring and j in ring]
        assert any((centre - middle) @ left > 0 for centre in centres)


def test_double_bonds_at_an_end_and_triple_bonds_are_symmetric():
    assert sorted(kind for *_, kind in drawn("CC(=O)C#N").bonds) == [1, 1, DOUBLE, TRIPLE]


def test_stereocentres_have_wedges():
    kinds = [kind for *_, kind in drawn("C[C@H](N)C(=O)O").bonds]
    assert WEDGED in kinds or HASHED in kinds
    assert not {WEDGED, HASHED} & {kind for *_, kind in drawn("CC(N)C(=O)O").bonds}


def test_hydrogens_are_written_away_from_the_bond():
    for smiles in ("OCCO", "NCCN"):
        drawing = drawn(smiles)
        left, right = drawing.coordinates[[0, 3], 0].argsort() * 3
        element = smiles[0]
        assert drawing.labels[left].endswith(element)
        assert drawing.labels[right].startswith(element)


def test_charges_and_numbers_are_raised_and_lowered():
    assert set(drawn("[NH3+]CC(=O)[O-]").labels) <= {"", "O", "O⁻", "NH₃⁺", "H₃N⁺"}
    assert drawn("[Ca+2]").labels == ["Ca²⁺"]
