"""Coordinates of nodes: finite, deterministic, and true to the distances in the graph."""

import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.draw.layout import layout


def edges(graph: nx.Graph) -> np.ndarray:
    return np.array(list(graph.edges), dtype=int).reshape(-1, 2).T


@given(st.integers(0, 30), st.floats(0, 0.5), st.integers(0, 99))
def test_coordinates_are_finite_and_the_same_each_time(size, density, seed):
    graph = nx.gnp_random_graph(size, density, seed=seed)
    coordinates = layout(size, edges(graph))
    assert coordinates.shape == (size, 2)
    assert np.isfinite(coordinates).all()
    assert np.array_equal(coordinates, layout(size, edges(graph)))
    both_directions = np.concatenate([edges(graph), edges(graph)[::-1]], axis=1)
    assert np.allclose(coordinates, layout(size, both_directions))


@pytest.mark.parametrize(
    "graph", [nx.path_graph(12), nx.cycle_graph(9), nx.grid_2d_graph(4, 5), nx.balanced_tree(2, 4)]
)
def test_distances_are_close_to_the_numbers_of_steps_and_nodes_do_not_overlap(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    coordinates = layout(len(graph), edges(graph))
    steps = np.array(nx.floyd_warshall_numpy(graph))
    distances = np.linalg.norm(coordinates[:, None] - coordinates[None], axis=-1)
    above = np.triu_indices(len(graph), 1)
    assert np.corrcoef(steps[above], distances[above])[0, 1] > 0.85
    assert distances[above].min() > 0.1
    assert np.median(distances[steps == 1]) == pytest.approx(1, abs=0.25)


def test_large_graphs_are_placed_within_seconds_and_keep_their_shape():
    size = 5000
    started = time.perf_counter()
    coordinates = layout(size, edges(nx.path_graph(size)))
    assert time.perf_counter() - started < 20
    assert np.corrcoef(coordinates[:, 0], np.arange(size))[0, 1] ** 2 > 0.99


def test_components_do_not_overlap():
    graph = nx.disjoint_union(nx.cycle_graph(4), nx.cycle_graph(4))
    one, other = np.split(layout(8, edges(graph)), 2)
    gap = np.linalg.norm(one[:, None] - other[None], axis=-1).min()
    assert gap > 1
