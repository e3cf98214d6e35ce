"""Molecules rebuilt from labelled graphs."""

from dataclasses import replace

import pytest

from ssread.data import from_smiles, load, planted
from ssread.data.rebuild_molecules import are_molecules, molecules

Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["O=[N+]([O-])c1ccccc1", "C[N+](C)(C)C.[Cl-]", "CC(=O)[O-].[Na+]", "c1ccsc1", "C#N", "NC1CC1", "[OH2]"]


def test_smiles_are_parsed_again():
    graphs = from_smiles(SMILES)
    assert are_molecules(graphs)
    assert [Chem.MolToSmiles(m) for m in molecules(graphs)] == [Chem.CanonSmiles(text) for text in SMILES]


def test_hydrogens_that_are_nodes_are_atoms():
    (molecule,) = molecules(from_smiles(["CO"], hydrogens=True))
    assert molecule.GetNumAtoms() == 6


def test_charges_that_the_labels_leave_out_are_restored():
    """Graphs with elements and bonds alone and hydrogens as nodes, like those of Mutagenicity."""
    kekulized = [Chem.MolFromSmiles(text) for text in SMILES if text != "[OH2]"]
    for molecule in kekulized:
        Chem.Kekulize(molecule, clearAromaticFlags=True)
    texts = [Chem.MolToSmiles(Chem.AddHs(m), kekuleSmiles=True, allHsExplicit=True) for m in kekulized]
    graphs = from_smiles(texts, features="labels", hydrogens=True)
    labelled = replace(
        graphs,
        graph_texts={},
        node_feature_names=tuple(name.split("=")[-1] for name in graphs.node_feature_names),
        edge_attr=graphs.edge_attr[:, :4],
        edge_feature_names=("single", "double", "triple", "aromatic"),
    )
    rebuilt = [Chem.MolToSmiles(Chem.RemoveHs(molecule)) for molecule in molecules(labelled)]
    assert rebuilt == [Chem.CanonSmiles(text) for text in SMILES if text != "[OH2]"]


def test_other_graphs_are_not_molecules():
    graphs = planted(3)
    assert not are_molecules(graphs)
    assert molecules(graphs) == [None] * 3


def test_mutag_is_rebuilt(mutag):
    found = molecules(mutag)
    assert sum(molecule is None for molecule in found) == 2
    assert Chem.MolToSmiles(found[0]) == Chem.CanonSmiles("O=[N+]([O-])c1ccc2c(ccc3ccccc32)c1")


def test_mutagenicity_is_rebuilt(mirror):
    graphs = load("Mutagenicity")
    assert are_molecules(graphs)
    assert all(molecule is not None for molecule in molecules(graphs[:1000]))
