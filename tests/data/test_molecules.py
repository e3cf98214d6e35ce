"""Molecules as graphs: labels, ids, hydrogens, and molecules that cannot be used."""

import sys

import numpy as np
import pandas
import pytest
import torch
from helpers.molecules import MOLECULES
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import GraphSet
from ssread.data.molecules import from_smiles
from ssread.errors import InputError

Chem = pytest.importorskip("rdkit.Chem")


def columns_of(graphs: GraphSet, column: str) -> torch.Tensor:
    return graphs.x[:, graphs.node_feature_names.index(column)]


@given(st.lists(st.sampled_from(MOLECULES), min_size=1, max_size=6))
def test_several_molecules_are_the_single_ones(smiles: list[str]) -> None:
    together = from_smiles(smiles)
    assert together.graph_texts["smiles"] == tuple(smiles)
    for graph, text in zip(together, smiles, strict=True):
        alone = from_smiles([text])[0]
        assert torch.equal(graph.x, alone.x)
        assert torch.equal(graph.edge_index, alone.edge_index)
        assert torch.equal(graph.edge_attr, alone.edge_attr)


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
        (np.array([2.0, -1.0, 2.0]), ("-1", "2"), [1, 0, 1]),
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
        ({"labels": [1, {}]}, "not dict"),
        ({"labels": [[1, 2], [2]]}, "every graph needs 2 labels"),
        ({"labels": [1, None]}, r"molecule 1, \'CC\' \(it has no label\)"),
        ({"labels": [1, float("nan")]}, r"molecule 1, \'CC\' \(it has no label\)"),
        ({"elements": ["C"]}, "elements="),
    ]:
        with pytest.raises(InputError, match=words):
            from_smiles(["C", "CC"], **options)
    with pytest.raises(InputError, match="a list with one entry per molecule"):
        from_smiles("CCO")
    with pytest.raises(InputError, match="has no molecule"):
        from_smiles([])
    with pytest.raises(InputError, match=r"3 of 4 rows.*molecule 1 \(the cell is empty\); molecule 2 .*'Cé' \(RDKit"):
        from_smiles(["C", "", None, "Cé"])
    with pytest.raises(InputError, match="quantity"):
        from_smiles(["C"] * 120, [f"name {number}" for number in range(120)])


def test_without_rdkit_the_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(InputError, match=r"Reading molecules needs RDKit: pip install 'ssread\[molecules\]'\."):
        from_smiles(["C"])
