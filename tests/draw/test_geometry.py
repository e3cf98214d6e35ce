"""Drawings of molecules and of plain graphs."""

import networkx as nx
import numpy as np
import pytest

from ssread.data import from_networkx, from_smiles
from ssread.draw import drawings


def test_every_edge_is_drawn_once_and_self_loops_are_left_out():
    graph = nx.disjoint_union(nx.cycle_graph(3), nx.empty_graph(2))
    graph.add_edge(0, 0)
    (drawing,) = drawings(from_networkx([graph], labels=["a"]))
    assert drawing.bonds == [(0, 1, 1), (0, 2, 1), (1, 2, 1)]
    assert drawing.coordinates.shape == (5, 2)
    assert np.isfinite(drawing.coordinates).all()
    assert drawing.molecule is None


@pytest.mark.parametrize(("types", "labels"), [("abc", ["a", "b", "c"]), (["long name", "b", "c"], ["", "", ""])])
def test_nodes_are_labelled_by_their_type_where_types_are_short(types, labels):
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, dict(enumerate(types)), "kind")
    (drawing,) = drawings(from_networkx([graph], labels=["a"], node_label="kind"))
    assert drawing.labels == labels


def test_molecules_are_depicted_in_chemical_notation():
    pytest.importorskip("rdkit")
    acid, salt = drawings(from_smiles(["CC(=O)O", "[NH4+].[Ca+2]"], ["a", "b"]))
    assert acid.labels == ["", "", "O", "OH"]
    assert sorted(bond[2] for bond in acid.bonds) == [1, 1, 2]
    assert salt.labels == ["NH₄⁺", "Ca²⁺"]
    lengths = [np.linalg.norm(acid.coordinates[i] - acid.coordinates[j]) for i, j, _ in acid.bonds]
    assert lengths == pytest.approx([1, 1, 1], abs=0.1)


def test_molecules_that_rdkit_rejects_are_plain_graphs(mutag):
    pytest.importorskip("rdkit")
    plain = [drawing for drawing in drawings(mutag) if drawing.molecule is None]
    assert len(plain) == 2
    assert all("N" in drawing.labels and "C" not in drawing.labels for drawing in plain)


def test_without_rdkit_molecules_are_plain_graphs_labelled_by_element(mutag, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    drawing = drawings(mutag[:1])[0]
    assert drawing.molecule is None
    assert set(drawing.labels) == {"", "N", "O"}
