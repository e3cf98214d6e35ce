"""From raw arrays to a GraphSet: checks them, repairs and sorts the edges, and counts the repairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ssread.data.check import check
from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION
from ssread.errors import InputError


def assemble(
    *,
    name: str,
    num_nodes: ArrayLike,
    x: Any,
    graph_of_edge: ArrayLike,
    edges: ArrayLike,
    edge_attr: Any = None,
    y: Any = None,
    class_names: Sequence[str] = (),
    task: str = CLASSIFICATION,
    target_names: Sequence[str] = (),
    node_feature_names: Sequence[str] = (),
    edge_feature_names: Sequence[str] = (),
    ids: Sequence[str] | None = None,
    undirected: bool = True,
    self_loops: Literal["keep", "drop"] = "keep",
    node_columns: Mapping[str, Any] | None = None,
    graph_columns: Mapping[str, Any] | None = None,
    graph_texts: Mapping[str, Sequence[str]] | None = None,
    source: str = "",
) -> GraphSet:
    """Builds a GraphSet from raw arrays; edges may come in any order and more than once.

    Duplicate edges are merged (the features of the first one win), and every repair is counted in
    ``GraphSet.repairs``. Input that cannot be repaired raises an ``InputError``.

    Args:
        name: The name of the dataset.
        num_nodes: Number of nodes of each graph ``[G]``; 0 is allowed.
        x: Node features ``[N, F]``, graph by graph.
        graph_of_edge: The graph that each edge belongs to ``[E]``.
        edges: Node ids within the graph ``[2, E]``, in any order.
        edge_attr: Edge features ``[E, D]``.
        y: Class index of each graph ``[G]``; for other tasks numbers ``[G, T]``, NaN where one is not known.
        class_names: Name of each class; "0", "1", ... by default.
        task: ``classification``, ``multilabel`` or ``regression``.
        target_names: Name of each label or number of the other tasks.
        node_feature_names: Name of each node feature.
        edge_feature_names: Name of each edge feature.
        ids: Id of each graph; row numbers by default.
        undirected: Whether to add the missing reverse of every edge, with the same features.
        self_loops: ``"keep"`` or ``"drop"``.
        node_columns: Further columns with one row per node.
        graph_columns: Further columns with one row per graph.
        graph_texts: Further texts, one per graph.
        source: The name of the input in error messages, such as a file; ``name`` by default.

    >>> assemble(name="two", num_nodes=[2, 1], x=[[1.0]] * 3, graph_of_edge=[0], edges=[[0], [1]])
    GraphSet('two', 2 graphs, 1.50 nodes and 0.50 edges on average, 1 node features, 1 reverse edges added)
    """
    source = source or name
    if self_loops not in ("keep", "drop"):
        raise InputError(f"self_loops={self_loops!r} is not an option: choose 'keep' or 'drop'.")
    counts = _integers(num_nodes, "num_nodes", source).reshape(-1)
    if counts.size == 0:
        raise InputError(f"{source} has no graphs: at least one is needed.")
    if counts.min() < 0:
        raise InputError(f"{source}: graph {counts.argmin()} has {counts.min()} nodes; 0 or more are needed.")
    node_ptr = np.concatenate([[0], np.cumsum(counts)])
    features = _floats(x, "node features", source)
    if features.ndim != 2 or len(features) != node_ptr[-1]:
        raise InputError(
            f"{source}: node features have the shape {list(features.shape)}, but there are {node_ptr[-1]} nodes: "
            "one row per node is needed."
        )
    row, column, graph = _edge_columns(edges, graph_of_edge, counts, source)
    attributes = None if edge_attr is None else _floats(edge_attr, "edge features", source)
    if attributes is not None and (attributes.ndim != 2 or len(attributes) != len(row)):
        raise InputError(
            f"{source}: edge features have the shape {list(attributes.shape)}, but there are {len(row)} edges: "
            "one row per edge is needed."
        )
    repaired = _repair(_Edges(row, column, graph, attributes), node_ptr, undirected, self_loops)
    labels = None
    if y is not None:
        is_class = task == CLASSIFICATION
        labels = _integers(y, "labels", source).reshape(-1) if is_class else _floats(y, "labels", source)
        if len(labels) != len(counts):
            raise InputError(f"{source}: there are {len(labels)} labels for {len(counts)} graphs.")
        if is_class and not class_names:
            class_names = [str(number) for number in range(int(labels.max()) + 1)]
    edge_counts = np.bincount(repaired.graph, minlength=len(counts))
    graphs = GraphSet(
        name=name,
        x=torch.from_numpy(features),
        node_ptr=torch.from_numpy(node_ptr),
        edge_index=torch.from_numpy(np.stack([repaired.row, repaired.column])),
        edge_ptr=torch.from_numpy(np.concatenate([[0], np.cumsum(edge_counts)])),
        edge_attr=None if repaired.attributes is None else torch.from_numpy(repaired.attributes),
        y=None if labels is None else torch.from_numpy(labels),
        class_names=tuple(class_names),
        task=task,
        target_names=tuple(target_names),
        node_feature_names=tuple(node_feature_names),
        edge_feature_names=tuple(edge_feature_names),
        ids=() if ids is None else tuple(ids),
        undirected=repaired.symmetric,
        repairs=repaired.repairs,
        node_columns=_columns(node_columns, source),
        graph_columns=_columns(graph_columns, source),
        graph_texts={key: tuple(value) for key, value in (graph_texts or {}).items()},
    )
    check(graphs, source)
    return graphs


class _Edges:
    """The edge columns during the repairs, and the repairs so far."""

    def __init__(self, row: np.ndarray, column: np.ndarray, graph: np.ndarray, attributes: np.ndarray | None):
        self.row, self.column, self.graph, self.attributes = row, column, graph, attributes
        self.symmetric = False
        self.repairs: dict[str, int] = {}

    def select(self, which: np.ndarray) -> None:
        """Keeps the edges ``which``, in that order."""
        self.row, self.column, self.graph = self.row[which], self.column[which], self.graph[which]
        if self.attributes is not None:
            self.attributes = self.attributes[which]

    def count(self, repair: str, number: int) -> None:
        """Adds to the count of a repair."""
        if number:
            self.repairs[repair] = self.repairs.get(repair, 0) + number


def _repair(edges: _Edges, node_ptr: np.ndarray, undirected: bool, self_loops: str) -> _Edges:
    """Drops self-loops and adds reverse edges as asked, removes duplicates and sorts; returns the same object."""
    width = int(np.diff(node_ptr).max()) + 1

    def sort_without_duplicates() -> np.ndarray:
        # One number per possible edge of the dataset, ascending in the order of the finished columns.
        key = (node_ptr[edges.graph] + edges.row) * width + edges.column
        if (key[1:] > key[:-1]).all():
            return key
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.concatenate([[True], key[1:] != key[:-1]])
        kept = order[first]
        edges.count("duplicate edges removed", len(order) - len(kept))
        if edges.attributes is not None and len(kept) < len(order):
            merged_into = kept[np.cumsum(first) - 1]
            differ = (edges.attributes[order] != edges.attributes[merged_into]).any(axis=1)
            edges.count("of them with other edge features", int(differ.sum()))
        edges.select(kept)
        return key[first]

    if self_loops == "drop":
        proper = edges.row != edges.column
        edges.count("self-loops dropped", int(len(proper) - proper.sum()))
        edges.select(np.flatnonzero(proper))
    key = sort_without_duplicates()
    reverse = (node_ptr[edges.graph] + edges.column) * width + edges.row
    edges.symmetric = np.array_equal(np.sort(reverse), key)
    if undirected and not edges.symmetric:
        one_way = np.flatnonzero(~np.isin(reverse, key))
        edges.count("reverse edges added", len(one_way))
        row, column = edges.row, edges.column
        edges.select(np.concatenate([np.arange(len(row)), one_way]))
        edges.row[len(row) :], edges.column[len(row) :] = column[one_way], row[one_way]
        sort_without_duplicates()
        edges.symmetric = True
    return edges


def _edge_columns(
    edges: ArrayLike, graph_of_edge: ArrayLike, counts: np.ndarray, source: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Checks the edges; returns the row, the column and the graph of each."""
    ends = _integers(edges, "edges", source)
    ends = ends.reshape(2, 0) if ends.size == 0 else ends
    graph = _integers(graph_of_edge, "graph_of_edge", source).reshape(-1)
    if ends.ndim != 2 or len(ends) != 2 or ends.shape[1] != len(graph):
        raise InputError(
            f"{source}: edges have the shape {list(ends.shape)}, but graph_of_edge has {len(graph)} entries: "
            f"[2, {len(graph)}] is needed."
        )
    row, column = ends
    if len(graph) and (graph.min() < 0 or graph.max() >= len(counts)):
        edge = int(np.flatnonzero((graph < 0) | (graph >= len(counts)))[0])
        raise InputError(
            f"{source}: edge {edge} belongs to graph {graph[edge]}, but the graphs are 0 to {len(counts) - 1}."
        )
    wrong = (np.minimum(row, column) < 0) | (np.maximum(row, column) >= counts[graph])
    if wrong.any():
        edge = int(wrong.argmax())
        raise InputError(
            f"{source}: graph {graph[edge]} has an edge from node {row[edge]} to node {column[edge]}, but only "
            f"{counts[graph[edge]]} nodes, numbered from 0."
        )
    return row, column, graph


def _integers(values: Any, what: str, source: str) -> np.ndarray:
    array = values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
    if array.size and array.dtype.kind not in "iub":
        raise InputError(f"{source}: {what} must be integers, not {array.dtype}.")
    return array.astype(np.int64)


def _floats(values: Any, what: str, source: str) -> np.ndarray:
    # Always a copy: a GraphSet must not change when the caller's array does.
    values = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    try:
        return np.array(values, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(f"{source}: {what} must be numbers in rows of equal length ({error}).") from None


def _columns(columns: Mapping[str, Any] | None, source: str) -> dict[str, Tensor]:
    tensors = {}
    for name, values in (columns or {}).items():
        try:
            tensors[name] = torch.as_tensor(values).detach().cpu().clone()
        except (TypeError, ValueError) as error:
            raise InputError(f"{source}: column {name!r} does not hold numbers only ({error}).") from None
    return tensors
