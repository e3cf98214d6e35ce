"""Fewer positions from many: a hierarchy that merges the most similar ones, so that K can be looked at from K to 2."""

from __future__ import annotations

import numpy as np
import torch
from scipy.cluster.hierarchy import cut_tree, linkage
from torch import Tensor

from ssread import segment

__all__ = ["merge_positions"]


def merge_positions(vectors: Tensor, position: Tensor, num_positions: int) -> list[list[int]]:
    """The group of every position when the most similar are merged, for K - 1, K - 2, ..., 2 groups.

    Positions are similar if the mean directions of their nodes are (cosine distance, average linkage). A position
    without nodes is merged first.

    Args:
        vectors: The vector of every node, [N, d].
        position: The position of every node, [N]; -1 for none.
        num_positions: The number of positions K.

    Returns:
        A list of K group numbers for each level. Groups are numbered in the order of their first positions.
    """
    if num_positions < 3:
        return []
    kept = position >= 0
    directions = torch.nn.functional.normalize(vectors[kept].double(), dim=1)
    centres = torch.nn.functional.normalize(segment.reduce_mean(directions, position[kept], num_positions), dim=1)
    distance = (1 - centres @ centres.T).clamp(min=0).numpy()
    empty = (segment.count(position[kept], num_positions) == 0).numpy()
    distance[empty] = distance[:, empty] = 0.0
    pairs = distance[np.triu_indices(num_positions, 1)]
    tree = linkage(pairs, "average")
    levels = []
    for groups in range(num_positions - 1, 1, -1):
        labels = cut_tree(tree, n_clusters=groups).reshape(-1)
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        levels.append(first.argsort().argsort()[inverse].tolist())
    return levels
