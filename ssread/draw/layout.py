"""Where the nodes of a graph stand: a function of the graph alone, so that it looks the same in every picture."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

__all__ = ["layout"]

#: Larger graphs are placed by the distances to some nodes only, and are not polished.
POLISHED, PIVOTS = 400, 60
ROUNDS = 60


def layout(num_nodes: int, edges: np.ndarray) -> np.ndarray:
    """Places whose distances are close to the numbers of steps between nodes, [n, 2]; edges are about 1 long.

    Classical scaling of the distances, then majorisation of the stress: no random numbers. Pieces that are not
    connected stand side by side.

    Args:
        num_nodes: The number of nodes n.
        edges: Their ends, [2, E], in one direction or both.
    """
    if num_nodes == 0:
        return np.zeros((0, 2))
    matrix = coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(num_nodes, num_nodes)).tocsr()
    if num_nodes <= POLISHED:
        distance = _finite(shortest_path(matrix, directed=False, unweighted=True))
        return _polished(_scaled(distance), distance)
    pivots = np.linspace(0, num_nodes - 1, PIVOTS).astype(int)
    return _scaled(_finite(shortest_path(matrix, directed=False, unweighted=True, indices=pivots)).T)


def _finite(distance: np.ndarray) -> np.ndarray:
    """Nodes of other pieces are a little farther away than any node of the same piece."""
    reached = np.isfinite(distance)
    return np.where(reached, distance, distance[reached].max() + 2)


def _scaled(distance: np.ndarray) -> np.ndarray:
    """Classical (or pivot) scaling to the plane; signs are fixed, for eigenvectors come with either."""
    squared = distance**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    left, values, _ = np.linalg.svd(-0.5 * centred, full_matrices=False)
    places = left[:, :2] * np.sqrt(values[:2] / np.sqrt(distance.shape[1] / distance.shape[0]))
    places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    largest = np.abs(places).argmax(axis=0)
    signs = np.sign(places[largest, [0, 1]])
    # Nodes in like places would stand on each other; a tiny step apart, on a circle, lets the polish part them.
    angle = np.arange(len(places)) * 2.399963
    apart = 1e-2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return places * np.where(signs == 0, 1, signs) + apart


def _polished(places: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Majorisation of the stress, near pairs counting most (weights of 1 / distance squared)."""
    n = len(places)
    if n < 2:
        return places
    weights = np.where(distance > 0, 1 / np.maximum(distance, 1) ** 2, 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / n) - 1 / n  # the pseudo-inverse: constants are its null space
    for _ in range(ROUNDS):
        between = np.linalg.norm(places[:, None] - places[None], axis=-1)
        pull = -weights * distance / np.maximum(between, 1e-9)
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        places = inverse @ (pull @ places)
    return places
