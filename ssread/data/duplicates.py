"""Copies of the same graph within a dataset, found by Weisfeiler-Lehman hashes of all graphs at once.

A copy of a test graph in the training part makes a result look better than it is. Isomorphic graphs with equal
features always get the same hash. So do the rare other graphs that Weisfeiler-Lehman cannot tell apart: a group may
be too large but never too small, which is safe for splits.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from ssread.data.graphset import GraphSet
from ssread.errors import InputError

Hashes = npt.NDArray[np.uint64]


def duplicate_groups(graphs: GraphSet, iterations: int = 10) -> npt.NDArray[np.int64]:
    """Returns the group of every graph ``[G]``: the number of its first copy, or its own number if it is the first.

    Copies have equal node and edge features; labels and ids may differ. Pass the groups to
    :func:`ssread.data.splits.stratified_folds` (or to scikit-learn's ``StratifiedGroupKFold``) to keep copies together.

    Args:
        graphs: The dataset.
        iterations: The radius of the neighbourhoods that are compared. Graphs that differ only beyond it are grouped.

    >>> import networkx as nx
    >>> from ssread.data.networks import from_networkx
    >>> duplicate_groups(from_networkx([nx.path_graph(3), nx.cycle_graph(3), nx.star_graph(2)])).tolist()
    [0, 1, 0]
    """
    if iterations < 1:
        raise InputError(f"iterations={iterations} compares no edges: choose 1 or more.")
    node_ptr = graphs.node_ptr.cpu().numpy()
    node_counts, edge_counts = np.diff(node_ptr), np.diff(graphs.edge_ptr.cpu().numpy())
    row, col = graphs.edge_index.cpu().numpy() + np.repeat(node_ptr[:-1], edge_counts)
    # Edges are sorted by row, so those of one node are contiguous.
    row_ptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=node_ptr[-1]))])
    colours = _hash_rows(graphs.x.cpu().numpy())
    edge_hash = np.zeros(len(row), np.uint64)
    if graphs.edge_attr is not None:
        edge_hash = _hash_rows(graphs.edge_attr.cpu().numpy())
    for _ in range(iterations):
        neighbours = _sum_runs(_mix(colours[col] + edge_hash), row_ptr)
        colours = _mix(_mix(colours) + neighbours)
    hashes = _mix(_sum_runs(_mix(colours), node_ptr)) + node_counts.astype(np.uint64)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    return first[group].astype(np.int64)


def count_duplicates(groups: ArrayLike, train: ArrayLike, test: ArrayLike) -> int:
    """Returns the number of graphs of ``test`` that have a copy in ``train``.

    Args:
        groups: The result of :func:`duplicate_groups` for the dataset.
        train: Numbers of the training graphs.
        test: Numbers of the test graphs.

    >>> count_duplicates([0, 1, 0, 1, 4], train=[0, 1], test=[2, 4])
    1
    """
    group_of = np.asarray(groups)
    return int(np.isin(group_of[np.asarray(test)], group_of[np.asarray(train)]).sum())


class Copies(NamedTuple):
    """Graphs that occur more than once in a dataset.

    Attributes:
        repeated: The number of different graphs that occur more than once.
        rows: How often these occur in all.
        contradictory: How many of them occur with different labels.
    """

    repeated: int
    rows: int
    contradictory: int

    def __str__(self) -> str:
        what = "graph occurs" if self.repeated == 1 else "graphs occur"
        told = f"{self.repeated} {what} more than once ({self.rows} rows)"
        return f"{told}, {self.contradictory} of them with different labels" if self.contradictory else told


def find_copies(graphs: GraphSet) -> Copies:
    """Counts the graphs that occur more than once, and those of them that have different labels.

    >>> import networkx as nx
    >>> from ssread.data.networks import from_networkx
    >>> print(find_copies(from_networkx([nx.path_graph(3), nx.cycle_graph(3), nx.star_graph(2)], ["a", "a", "b"])))
    1 graph occurs more than once (2 rows), 1 of them with different labels
    """
    groups = duplicate_groups(graphs)
    counts = np.bincount(groups, minlength=len(graphs))
    repeated = counts > 1
    contradictory = 0
    if graphs.y is not None:
        labels = graphs.y.cpu().numpy().reshape(len(graphs), -1)
        first = labels[groups]
        differs = ((labels != first) & ~(np.isnan(labels) & np.isnan(first))).any(axis=1)
        contradictory = len(np.unique(groups[differs]))
    return Copies(int(repeated.sum()), int(counts[repeated].sum()), contradictory)


def _mix(values: Hashes) -> Hashes:
    """Spreads every bit over all 64 (the finaliser of splitmix64), so that different multisets have different sums."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _hash_rows(features: npt.NDArray[np.float32]) -> Hashes:
    """Returns one hash per row of float32 numbers; equal rows have equal hashes."""
    hashes = np.zeros(len(features), np.uint64)
    for column in features.T:
        bits = (column + np.float32(0)).view(np.uint32)  # adding 0 turns -0.0 into 0.0
        hashes = _mix(hashes + bits)
    return hashes


def _sum_runs(values: Hashes, ptr: npt.NDArray[np.int64]) -> Hashes:
    """Returns the sum, modulo 2**64, of every run ``ptr[i]:ptr[i + 1]``; runs may be empty."""
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
    return total[ptr[1:]] - total[ptr[:-1]]
