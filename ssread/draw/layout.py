"""Coordinates of the nodes of a graph. They depend on the graph alone, so it looks the same in every picture."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

__all__ = ["layout"]

#: Graphs up to this size are scaled by all distances, then improved by stress majorisation.
MAX_EXACT_NODES = 400
ITERATIONS = 60

#: Larger graphs are scaled by the distances to this many pivot nodes.
PIVOTS = 60


def layout(num_nodes: int, edges: np.ndarray) -> np.ndarray:
    """Coordinates with distances close to the numbers of steps between nodes, [n, 2]; an edge is about 1 long.

    Classical scaling of the distances, then stress majorisation, without random numbers. Components are placed side by
    side.

    Args:
        num_nodes: The number of nodes n.
        edges: The ends of every edge, [2, E], in one direction or both.
    """
    if num_nodes == 0:
        return np.zeros((0, 2))
    ends = edges.astype(np.int32)  # older scipy finds no paths with larger numbers
    adjacency = coo_array((np.ones(edges.shape[1]), (ends[0], ends[1])), shape=(num_nodes, num_nodes)).tocsr()
    if num_nodes <= MAX_EXACT_NODES:
        distance = _finite(shortest_path(adjacency, directed=False, unweighted=True))
        return _majorise_stress(_scale(distance), distance)
    pivots = np.linspace(0, num_nodes - 1, PIVOTS).astype(int)
    return _scale(_finite(shortest_path(adjacency, directed=False, unweighted=True, indices=pivots)).T)


def _finite(distance: np.ndarray) -> np.ndarray:
    """Distances in which nodes of different components are a little farther apart than any within a component."""
    connected = np.isfinite(distance)
    return np.where(connected, distance, distance[connected].max() + 2)


def _scale(distance: np.ndarray) -> np.ndarray:
    """Classical scaling to the plane, or pivot scaling for distances [n, pivots]; the signs of both axes are fixed."""
    squared = distance**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    left, values, _ = np.linalg.svd(-0.5 * centred, full_matrices=False)
    coordinates = left[:, :2] * np.sqrt(values[:2] / np.sqrt(distance.shape[1] / distance.shape[0]))
    coordinates = np.pad(coordinates, ((0, 0), (0, 2 - coordinates.shape[1])))
    largest = np.abs(coordinates).argmax(axis=0)
    signs = np.sign(coordinates[largest, [0, 1]])
    # Structurally equivalent nodes would coincide; small offsets on a circle let the majorisation separate them.
    angle = np.arange(len(coordinates)) * 2.399963
    offsets = 1e-2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return coordinates * np.where(signs == 0, 1, signs) + offsets


def _majorise_stress(coordinates: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Reduces the stress by majorisation; pairs have weights of 1 / distance squared."""
    n = len(coordinates)
    if n < 2:
        return coordinates
    weights = np.where(distance > 0, 1 / np.maximum(distance, 1) ** 2, 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / n) - 1 / n  # the pseudo-inverse: constants are its null space
    for _ in range(ITERATIONS):
        current = np.linalg.norm(coordinates[:, None] - coordinates[None], axis=-1)
        pull = -weights * distance / np.maximum(current, 1e-9)
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        coordinates = inverse @ (pull @ coordinates)
    return coordinates
