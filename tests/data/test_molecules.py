"""Molecules as graphs: what RDKit sees is what the graphs hold."""

import sys

import numpy as np
import pandas
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import GraphSet
from ssread.data.atom_features import ATOM_COLUMNS, BOND_COLUMNS
from ssread.data.molecules import from_smiles
from ssread.errors import InputError

Chem = pytest.importorskip("rdkit.Chem")

MOLECULES = [
    "CCO",
    "c1ccccc1",
    "CC(=O)Oc1ccccc1C(=O)O",
    "C[C@H](N)C(=O)O",
    "C[C@@H](N)C(=O)O",
    "F/C=C/F",
    "F/C=C\\F",
    "[Na+].[Cl-]",
    "[He]",
    "C#N",
    "CS(=O)(=O)N",
    "C[Si](C)(C)C",
    "N->[Cu]",
    "*CC",
    "[2H]O[2H]",
    "OP(=O)(O)O",
    "[H][H]",
    "C[N+](=O)[O-]",
    "FS(F)(F)(F)(F)F",
]


def columns_of(graphs: GraphSet, column: str) -> torch.Tensor:
    return graphs.x[:, graphs.node_feature_names.index(column)]


@pytest.mark.parametrize("smiles", MOLECULES)
def test_every_column_is_what_rdkit_says_of_the_atom_and_the_bond(smiles: str) -> None:
    """An oracle that asks for one column after the other, atom by atom."""
    graphs = from_smiles([smiles]).validate()
    molecule = Chem.MolFromSmiles(smiles)
    assert graphs.node_feature_names == ATOM_COLUMNS
    assert graphs.edge_feature_names == BOND_COLUMNS
    elements = [column.split("=")[1] for column in ATOM_COLUMNS if column.startswith("element=")]
    for atom, row in zip(molecule.GetAtoms(), graphs.x.tolist(), strict=True):
        told = {column for column, value in zip(ATOM_COLUMNS, row, strict=True) if value and column != "charge"}
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
        assert told == expected
        assert row[ATOM_COLUMNS.index("charge")] == atom.GetFormalCharge()
    pairs = [tuple(pair) for pair in graphs.edge_index.T.tolist()]
    assert len(pairs) == 2 * molecule.GetNumBonds()
    assert graphs.repairs == {}
    for (start, end), row in zip(pairs, graphs.edge_attr.tolist(), strict=True):
        bond = molecule.GetBondBetweenAtoms(start, end)
        kind = str(bond.GetBondType()).lower()
        expected = {f"bond={kind if kind in ('single', 'double', 'triple', 'aromatic') else 'other'}"}
        expected |= {"conjugated"} if bond.GetIsConjugated() else set()
        expected |= {"ring"} if bond.IsInRing() else set()
        stereo = str(bond.GetStereo())[-1]
        expected |= {f"stereo={stereo}"} if stereo in ("Z", "E") and bond.GetStereo() else set()
        assert {column for column, value in zip(BOND_COLUMNS, row, strict=True) if value} == expected


@given(st.lists(st.sampled_from(MOLECULES), min_size=1, max_size=6))
def test_many_molecules_are_each_molecule_alone(smiles: list[str]) -> None:
    together = from_smiles(smiles)
    assert together.graph_texts["smiles"] == tuple(smiles)
    for graph, text in zip(together, smiles, strict=True):
        alone = from_smiles([text])[0]
        assert torch.equal(graph.x, alone.x)
        assert torch.equal(graph.edge_index, alone.edge_index)
        assert torch.equal(graph.edge_attr, alone.edge_attr)


def test_labels_alone_are_elements_and_bond_types() -> None:
    graphs = from_smiles(["C=O", "c1ccccc1Cl"], features="labels")
    assert graphs.node_feature_names == ("C", "O", "Cl")
    assert graphs.x[:2].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert graphs.edge_attr[0].tolist() == [0, 1, 0, 0, 0]
    again = from_smiles(["CC"], features="labels", elements=graphs.node_feature_names)
    assert again.x.tolist() == [[1, 0, 0], [1, 0, 0]]
    with pytest.raises(InputError, match=r"Molecule 1 .*atom Br.*'Cl'"):
        from_smiles(["CC", "CBr"], features="labels", elements=graphs.node_feature_names)
    with pytest.raises(InputError, match="'Xx'"):
        from_smiles(["CC"], features="labels", elements=["C", "Xx"])


def test_hydrogens_become_nodes_by_option() -> None:
    assert from_smiles(["C"]).node_counts.tolist() == [1]
    methane = from_smiles(["C"], hydrogens=True)
    assert methane.node_counts.tolist() == [5]
    assert columns_of(methane, "hydrogens=4+").tolist() == [1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("labels", "names", "y"),
    [
        ([1, 0, 1], ("0", "1"), [1, 0, 1]),
        (["10", "9", "10.0"], ("9", "10"), [1, 0, 1]),
        (["b", "a", "10"], ("10", "a", "b"), [2, 1, 0]),
        ([True, False, True], ("False", "True"), [1, 0, 1]),
        (np.array([0.5, -1.0, 0.5]), ("-1", "0.5"), [1, 0, 1]),
        (pandas.Series(["x", "y", "x"]), ("x", "y"), [0, 1, 0]),
    ],
)
def test_labels_may_be_words_or_numbers(labels: list, names: tuple, y: list) -> None:
    graphs = from_smiles(["C", "CC", "CCC"], labels)
    assert graphs.class_names == names
    assert graphs.y.tolist() == y


def test_wrong_arguments_get_a_sentence() -> None:
    for options, words in [
        ({"features": "all"}, "features='all'"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
        ({"labels": [1]}, "2 SMILES but 1 labels"),
        ({"ids": ["a"]}, "2 SMILES but 1 ids"),
        ({"labels": [1, None]}, "no label for molecule 1"),
        ({"labels": [1, float("nan")]}, "no label for molecule 1"),
        ({"labels": [1, [2]]}, "not list"),
        ({"elements": ["C"]}, "elements="),
    ]:
        with pytest.raises(InputError, match=words):
            from_smiles(["C", "CC"], **options)
    with pytest.raises(InputError, match="give a list"):
        from_smiles("CCO")
    with pytest.raises(InputError, match="holds no molecule"):
        from_smiles([])
    with pytest.raises(InputError, match="molecules 0, 2-4"):
        from_smiles(["CCO 12", "C", "", None, "Cé"])
    with pytest.raises(InputError, match="quantity"):
        from_smiles(["C"] * 120, [number / 7 for number in range(120)])


def test_without_rdkit_the_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(InputError, match=r"Reading molecules needs RDKit: pip install 'ssread\[chem\]'\."):
        from_smiles(["C"])
