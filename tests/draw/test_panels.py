"""Where nodes stand, what colours mean, pictures that come out the same twice."""

import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import from_networkx, from_smiles, planted
from ssread.draw import Panel, activation_colours, draw_panels, drawings, graph_svg, position_colours
from ssread.draw.layout import layout
from ssread.draw.palette import strength


def edges(graph: nx.Graph) -> np.ndarray:
    return np.array(list(graph.edges), dtype=int).reshape(-1, 2).T


@given(st.integers(0, 30), st.floats(0, 0.5), st.integers(0, 99))
def test_any_graph_has_finite_places_and_the_same_each_time(size, density, seed):
    graph = nx.gnp_random_graph(size, density, seed=seed)
    places = layout(size, edges(graph))
    assert places.shape == (size, 2)
    assert np.isfinite(places).all()
    assert np.array_equal(places, layout(size, edges(graph)))


@pytest.mark.parametrize(
    "graph", [nx.path_graph(12), nx.cycle_graph(9), nx.grid_2d_graph(4, 5), nx.balanced_tree(2, 4)]
)
def test_distances_are_near_the_numbers_of_steps_and_nodes_do_not_stand_on_each_other(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    places = layout(len(graph), edges(graph))
    steps = np.array(nx.floyd_warshall_numpy(graph))
    between = np.linalg.norm(places[:, None] - places[None], axis=-1)
    above = np.triu_indices(len(graph), 1)
    assert np.corrcoef(steps[above], between[above])[0, 1] > 0.85
    assert between[above].min() > 0.1


def test_five_thousand_nodes_are_placed_within_seconds():
    graphs = planted(1, nodes=5000)
    started = time.perf_counter()
    (drawing,) = drawings(graphs)
    assert time.perf_counter() - started < 20
    assert len(drawing.places) == 5000


def test_molecules_are_depicted_as_chemists_write_them():
    pytest.importorskip("rdkit")
    acid, salt = drawings(from_smiles(["CC(=O)O", "[NH4+].[Ca+2]"], ["a", "b"]))
    assert acid.labels == ["", "", "O", "OH"]
    assert sorted(bond[2] for bond in acid.bonds) == [1, 1, 2]
    assert salt.labels == ["NH4+", "Ca2+"]
    lengths = [np.linalg.norm(acid.places[i] - acid.places[j]) for i, j, _ in acid.bonds]
    assert lengths == pytest.approx([1, 1, 1], abs=0.1)


def test_what_rdkit_does_not_accept_is_a_plain_graph(mutag):
    pytest.importorskip("rdkit")
    plain = [drawing for drawing in drawings(mutag) if drawing.molecule is None]
    assert len(plain) == 2
    assert all("N" in drawing.labels and "C" not in drawing.labels for drawing in plain)


def test_without_rdkit_molecules_are_plain_graphs_with_their_elements(mutag, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    drawing = drawings(mutag[:1])[0]
    assert drawing.molecule is None
    assert set(drawing.labels) == {"", "N", "O"}


def test_colours_of_activations_follow_sign_and_size():
    assert activation_colours([0.0, 0.0]) == ["#ffffff", "#ffffff"]
    assert strength([2.0, -4.0]).tolist() == [0.5, -1.0]
    assert len(set(position_colours(16))) == 16


def test_pictures_are_the_same_bytes_twice(tmp_path):
    graphs = planted(2, seed=3)
    colours = position_colours(5)
    roles = graphs.node_columns["position"].split(graphs.node_counts.tolist())
    panels = [Panel(d, [colours[k] for k in role], "<b> & x") for d, role in zip(drawings(graphs), roles, strict=True)]
    once = [path.read_bytes() for path in draw_panels([panels], tmp_path / "one", {"a": "#000000"})]
    assert once == [path.read_bytes() for path in draw_panels([panels], tmp_path / "two", {"a": "#000000"})]
    assert graph_svg(panels[0]) == graph_svg(panels[0])
    assert b"<b>" not in once[0]


def test_molecules_in_rdkits_drawing(tmp_path: Path):
    pytest.importorskip("rdkit")
    (drawing,) = drawings(from_smiles(["c1ccccc1N"], ["a"]))
    svg = graph_svg(Panel(drawing, ["#0072B2"] * 7, "aniline"))
    assert svg == graph_svg(Panel(drawing, ["#0072B2"] * 7, "aniline"))
    assert svg.upper().count("#0072B2") >= 7
    assert "<svg" in svg


def test_unconnected_graphs_and_self_loops_can_be_drawn():
    graph = nx.disjoint_union(nx.cycle_graph(3), nx.empty_graph(2))
    graph.add_edge(0, 0)
    (drawing,) = drawings(from_networkx([graph], labels=["a"]))
    assert len(drawing.bonds) == 3
    assert torch.tensor(drawing.places).isfinite().all()
