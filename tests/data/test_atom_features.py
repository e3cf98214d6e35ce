"""Features of atoms and bonds against RDKit's own properties."""

import numpy as np
import pytest
from helpers.molecules import MOLECULES
from hypothesis import given
from hypothesis import strategies as st

from ssread.data.atom_features import ATOM_COLUMNS, BOND_COLUMNS, FEATURES, molecule_columns
from ssread.errors import InputError

Chem = pytest.importorskip("rdkit.Chem")


@pytest.mark.parametrize("smiles", MOLECULES)
def test_every_column_equals_the_property_in_rdkit(smiles):
    """The oracle goes through one column after the other, atom by atom."""
    molecule = Chem.MolFromSmiles(smiles)
    columns = molecule_columns([molecule])
    assert columns.num_nodes.tolist() == [molecule.GetNumAtoms()]
    assert columns.node_feature_names == ATOM_COLUMNS
    assert columns.edge_feature_names == BOND_COLUMNS
    elements = [column.split("=")[1] for column in ATOM_COLUMNS if column.startswith("element=")]
    for atom, row in zip(molecule.GetAtoms(), columns.x.tolist(), strict=True):
        found = {column for column, value in zip(ATOM_COLUMNS, row, strict=True) if value and column != "charge"}
        element = atom.GetSymbol() if atom.GetSymbol() in elements else "other"
        hybridisation = str(atom.GetHybridization()).lower()
        hydrogens = atom.GetTotalNumHs() + sum(n.GetSymbol() == "H" for n in atom.GetNeighbors())
        expected = {
            f"element={element}",
            f"neighbours={atom.GetDegree() if atom.GetDegree() < 5 else '5+'}",
            f"hydrogens={hydrogens if hydrogens < 4 else '4+'}",
            f"hybridisation={hybridisation if hybridisation in ('sp', 'sp2', 'sp3') else 'other'}",
        }
        expected |= {"aromatic"} if atom.GetIsAromatic() else set()
        expected |= {"ring"} if atom.IsInRing() else set()
        expected |= {f"chirality={atom.GetProp('_CIPCode')}"} if atom.HasProp("_CIPCode") else set()
        assert found == expected
        assert row[ATOM_COLUMNS.index("charge")] == atom.GetFormalCharge()
    pairs = [tuple(pair) for pair in columns.edges.T.tolist()]
    assert len(pairs) == 2 * molecule.GetNumBonds()
    for (start, end), row in zip(pairs, columns.edge_attr.tolist(), strict=True):
        bond = molecule.GetBondBetweenAtoms(start, end)
        kind = str(bond.GetBondType()).lower()
        expected = {f"bond={kind if kind in ('single', 'double', 'triple', 'aromatic') else 'other'}"}
        expected |= {"conjugated"} if bond.GetIsConjugated() else set()
        expected |= {"ring"} if bond.IsInRing() else set()
        stereo = str(bond.GetStereo())[-1]
        expected |= {f"stereo={stereo}"} if stereo in ("Z", "E") and bond.GetStereo() else set()
        assert {column for column, value in zip(BOND_COLUMNS, row, strict=True) if value} == expected


@given(st.lists(st.sampled_from(MOLECULES), min_size=1, max_size=6), st.sampled_from(FEATURES))
def test_several_molecules_are_the_single_ones_behind_each_other(smiles, features):
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    elements = ["H", "C", "N", "O", "F", "Na", "P", "S", "Cl", "Si", "Cu", "He", "*"] if features == "labels" else None
    together = molecule_columns(molecules, features, elements)
    for graph, molecule in enumerate(molecules):
        alone = molecule_columns([molecule], features, elements)
        first = int(together.num_nodes[:graph].sum())
        np.testing.assert_array_equal(together.x[first : first + together.num_nodes[graph]], alone.x)
        edges = together.graph_of_edge == graph
        np.testing.assert_array_equal(together.edges[:, edges], alone.edges)
        np.testing.assert_array_equal(together.edge_attr[edges], alone.edge_attr)


@pytest.mark.parametrize("features", FEATURES)
def test_no_molecules_and_molecules_without_atoms_have_no_rows(features):
    for molecules in ([], [Chem.Mol(), Chem.Mol()]):
        columns = molecule_columns(molecules, features, ["C"] if features == "labels" else None)
        assert columns.num_nodes.tolist() == [0] * len(molecules)
        assert columns.x.shape == (0, len(columns.node_feature_names))
        assert columns.edge_attr.shape == (0, len(columns.edge_feature_names))
        assert columns.edges.shape == (2, 0)


def test_labels_are_elements_and_bond_types():
    def labels(*smiles, elements=None):
        return molecule_columns([Chem.MolFromSmiles(text) for text in smiles], "labels", elements)

    found = labels("C=O", "c1ccccc1Cl")
    assert found.node_feature_names == ("C", "O", "Cl")
    assert found.edge_feature_names == BOND_COLUMNS[:5]
    assert found.x[:2].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert found.edge_attr[0].tolist() == [0, 1, 0, 0, 0]
    assert labels("CC", elements=found.node_feature_names).x.tolist() == [[1, 0, 0], [1, 0, 0]]
    with pytest.raises(InputError, match=r"Molecule 1 \(counting from 0\) has an atom Br.*'Cl'"):
        labels("CC", "CBr", elements=found.node_feature_names)
    with pytest.raises(InputError, match=r"elements= contains \['Xx'\]: use element symbols"):
        labels("CC", elements=["C", "Xx"])


def test_wrong_options_get_a_sentence():
    with pytest.raises(InputError, match="features='all' is not an option: choose 'rdkit' or 'labels'"):
        molecule_columns([], "all")
    with pytest.raises(InputError, match="elements= needs features='labels'"):
        molecule_columns([], "rdkit", ["C"])
