"""Copies of the same graph within a dataset, found by Weisfeiler-Lehman colours computed for all graphs at once.

A copy of a test graph in the training part makes a result look better than it is. Isomorphic graphs with equal
features always get the same hash; the converse fails for the rare graphs that Weisfeiler-Lehman cannot tell apart
(and then a group is too large, never too small, which is the safe side for splits).
"""

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from ssread.data.graphset import GraphSet
from ssread.errors import InputError

Hashes = npt.NDArray[np.uint64]


def duplicate_groups(graphs: GraphSet, iterations: int = 10) -> npt.NDArray[np.int64]:
    """The group of every graph ``[G]``: the number of the first graph that it is a copy of, its own if of none.

    Node features and edge features count, labels and ids do not. Use it as ``groups=`` of
    :func:`ssread.data.splits.stratified_folds` (or of scikit-learn's ``StratifiedGroupKFold``) to keep copies together.

    Args:
        graphs: The set.
        iterations: How far a node sees: graphs that differ only in something further apart are taken for copies.

    >>> import networkx as nx
    >>> from ssread.data.networks import from_networkx
    >>> duplicate_groups(from_networkx([nx.path_graph(3), nx.cycle_graph(3), nx.star_graph(2)])).tolist()
    [0, 1, 0]
    """
    if iterations < 1:
        raise InputError(f"iterations={iterations} sees nothing of a graph; take at least 1.")
    node_ptr = graphs.node_ptr.cpu().numpy()
    node_counts, edge_counts = np.diff(node_ptr), np.diff(graphs.edge_ptr.cpu().numpy())
    row, col = graphs.edge_index.cpu().numpy() + np.repeat(node_ptr[:-1], edge_counts)
    # Edges are sorted by row, so those of one node are neighbours in memory.
    row_ptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=node_ptr[-1]))])
    colours = _hash_rows(graphs.x.cpu().numpy())
    edge_hash = np.zeros(len(row), np.uint64)
    if graphs.edge_attr is not None:
        edge_hash = _hash_rows(graphs.edge_attr.cpu().numpy())
    for _ in range(iterations):
        seen = _sum_runs(_mixed(colours[col] + edge_hash), row_ptr)
        colours = _mixed(_mixed(colours) + seen)
    hashes = _mixed(_sum_runs(_mixed(colours), node_ptr)) + node_counts.astype(np.uint64)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    return first[group].astype(np.int64)


def count_duplicates(groups: ArrayLike, train: ArrayLike, test: ArrayLike) -> int:
    """How many graphs of ``test`` have a copy in ``train``.

    Args:
        groups: What :func:`duplicate_groups` gave for the set.
        train: Numbers of the training graphs.
        test: Numbers of the test graphs.

    >>> count_duplicates([0, 1, 0, 1, 4], train=[0, 1], test=[2, 4])
    1
    """
    group_of = np.asarray(groups)
    return int(np.isin(group_of[np.asarray(test)], group_of[np.asarray(train)]).sum())


def _mixed(values: Hashes) -> Hashes:
    """Spread every bit over all 64 (the finaliser of splitmix64), so that sums of hashes tell multisets apart."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _hash_rows(features: npt.NDArray[np.float32]) -> Hashes:
    """One hash per row of float32 numbers; equal rows, equal hashes."""
    hashes = np.zeros(len(features), np.uint64)
    for column in features.T:
        bits = (column + np.float32(0)).view(np.uint32)  # adding 0 makes -0.0 and 0.0 the same
        hashes = _mixed(hashes + bits)
    return hashes


def _sum_runs(values: Hashes, ptr: npt.NDArray[np.int64]) -> Hashes:
    """The sum, modulo 2**64, of every run ``ptr[i]:ptr[i + 1]``, empty ones too."""
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    return total[ptr[1:]] - total[ptr[:-1]]
