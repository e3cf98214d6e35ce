"""Atoms and bonds read at once, against RDKit's properties atom by atom and bond by bond."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from helpers.molecules import MOLECULES
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import atoms_and_bonds
from ssread.data.atoms_and_bonds import read_atoms_and_bonds

Chem = pytest.importorskip("rdkit.Chem")

#: Dative, unspecified, quadruple and lone aromatic bonds, isotopes, dummies, written hydrogens, no atom, many atoms.
ODD = [
    *("[Cu]N", "N->[Fe]<-N", "C~C", "[Fe]$C", "C:C", "C1:C:C:C:C:C1", "c1ccccc1:C", "[2H]C([2H])=O"),
    *("*c1*cccc1", "[H]C([H])=O", "[13CH3]F", "[Na+].[Cl-]", "[He]", "", "C" * 120, "C#[N+][O-]", "CP1(C)=CC=CN=C1C"),
    *("F/C=C/F", "F/C=C\\F", "CS(=O)(=O)N=CC", "C[S@](=O)c1ccccc1", "N[C@@H](C)C(=O)O", "C1=CC=CC=C1", "O=C1C=CC=C1"),
]


def slowly(molecules):
    """RDKit's properties atom by atom and bond by bond, as its documentation has them."""
    code = {"R": 1, "S": 2}
    atoms = [
        (
            atom.GetAtomicNum(),
            atom.GetDegree(),
            atom.GetTotalNumHs(includeNeighbors=True),
            int(atom.GetHybridization()) if int(atom.GetHybridization()) in (2, 3, 4) else 0,
            atom.GetFormalCharge(),
            atom.GetIsAromatic(),
            atom.IsInRing(),
            code.get(atom.GetProp("_CIPCode"), 0) if atom.HasProp("_CIPCode") else 0,
        )
        for molecule in molecules
        for atom in molecule.GetAtoms()
    ]
    bonds = []
    for molecule in molecules:
        for begin, end in product(range(molecule.GetNumAtoms()), repeat=2):
            bond = molecule.GetBondBetweenAtoms(begin, end) if begin != end else None
            if bond is not None:
                told = bond.GetIsConjugated(), bond.IsInRing(), int(bond.GetStereo())
                bonds.append((begin, end, int(bond.GetBondType()), *told))
    return np.array(atoms, dtype=np.int64).reshape(-1, 8), np.array(bonds, dtype=np.int64).reshape(-1, 6)


def check(molecules):
    for found, expected in zip(read_atoms_and_bonds(molecules), slowly(molecules), strict=True):
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, expected)


@given(st.lists(st.sampled_from([*MOLECULES, *ODD]), max_size=6))
def test_the_quick_way_gives_what_the_slow_way_gives(smiles):
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    check(molecules + [Chem.AddHs(molecule) for molecule in molecules[:2]])


@pytest.mark.parametrize("pattern", ["Contrib/**/*CHEMBL*.smi", "Data/NCI/first_5K.smi"])
def test_real_molecules_are_read_as_the_slow_way_reads_them(pattern):
    files = sorted(Path(Chem.__file__).parents[1].glob(pattern))
    texts = [line.split()[0] for file in files for line in file.read_text().splitlines()]
    molecules = [Chem.MolFromSmiles(text) for text in texts[:: max(len(texts) // 400, 1)]]
    check([molecule for molecule in molecules if molecule is not None])


def test_all_molecules_but_odd_ones_are_read_together(monkeypatch):
    asked = []
    ask = atoms_and_bonds._ask
    monkeypatch.setattr(atoms_and_bonds, "_ask", lambda molecules: asked.extend(molecules) or ask(molecules))
    check([Chem.MolFromSmiles(text) for text in ("CCO", "C:C", "c1ccccc1")])
    assert len(asked) == 3  # lone aromatic bonds are found late
    check([Chem.MolFromSmiles(text) for text in ("CCO", "N->[Fe]", "c1ccccc1", "C~C", "C" * 101)])
    assert len(asked) == 6


def invariants_of(*columns):
    """RDKit's connectivity invariant: its hash of a list of numbers of 32 bits."""
    low = 2**32 - 1
    seed = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        seed ^= ((column & low) + 0x9E3779B9 + ((seed << 6) & low) + (seed >> 2)) & low
    return seed


def test_different_kinds_of_atoms_have_different_invariants():
    """Of all elements, with up to 6 bonds, 4 hydrogens and charges from -4 to 6, and isotopes of those of life."""
    from rdkit.Chem.rdMolDescriptors import GetConnectivityInvariants

    for molecule in map(Chem.MolFromSmiles, ["C[N+](C)(C)C", "[13CH3]C1CC1", "[O-]S(=O)(=O)[O-]", "[Fe+3]"]):
        weight = Chem.GetPeriodicTable().GetAtomicWeight
        for atom, found in zip(molecule.GetAtoms(), GetConnectivityInvariants(molecule), strict=True):
            kind = [atom.GetAtomicNum(), atom.GetTotalDegree(), atom.GetTotalNumHs(), atom.GetFormalCharge()]
            kind += [int(atom.GetMass() - weight(atom.GetAtomicNum())), *([1] if atom.IsInRing() else [])]
            assert invariants_of(*np.array(kind).reshape(-1, 1)).tolist() == [found]
    usual = kinds(range(119), range(7), range(5), range(-4, 7), [0])
    isotopes = kinds(
        [1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 34, 35, 53], range(5), range(5), range(-2, 3), [-3, -2, -1, 1, 2, 3]
    )
    columns = np.concatenate([usual, isotopes], axis=1)
    found = np.concatenate([invariants_of(*columns), invariants_of(*columns, np.ones_like(columns[0]))])
    assert len(np.unique(found)) == len(found)


def kinds(*ranges):
    """All combinations of element, bonds, hydrogens among them, charge and isotope, [5, kinds]."""
    columns = np.stack([grid.ravel() for grid in np.meshgrid(*map(np.array, ranges), indexing="ij")])
    return columns[:, columns[2] <= columns[1]]
