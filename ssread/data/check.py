"""Checks that the columns of a GraphSet are consistent, as its docstring promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ssread.data.task_names import CLASSIFICATION, MULTILABEL, check_task
from ssread.errors import InputError

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet


def check(graphs: GraphSet, source: str = "") -> None:
    """Raises an ``InputError`` that names the first graph, node or column that is wrong.

    Args:
        graphs: The graph set to check.
        source: Its name in the message, such as a file; the set's own name by default.
    """
    source = source or graphs.name or "the graph set"
    num_graphs = len(graphs)
    if num_graphs < 1:
        raise InputError(f"{source} has no graphs: at least one is needed.")
    _check_pointer(graphs.node_ptr, graphs.x.size(0), f"{source}: node_ptr")
    _check_features(graphs.x, graphs.node_ptr, graphs.node_feature_names, source, "node")
    if graphs.edge_index.dim() != 2 or graphs.edge_index.size(0) != 2:
        raise InputError(f"{source}: edge_index has the shape {list(graphs.edge_index.shape)}, not [2, edges].")
    _check_pointer(graphs.edge_ptr, graphs.edge_index.size(1), f"{source}: edge_ptr")
    if graphs.edge_ptr.numel() != num_graphs + 1:
        raise InputError(f"{source}: edge_ptr is for {graphs.edge_ptr.numel() - 1} graphs, node_ptr for {num_graphs}.")
    _check_edges(graphs, source)
    if graphs.edge_attr is not None:
        if graphs.edge_attr.size(0) != graphs.edge_index.size(1):
            raise InputError(
                f"{source}: there are {graphs.edge_attr.size(0)} rows of edge features for "
                f"{graphs.edge_index.size(1)} edges."
            )
        _check_features(graphs.edge_attr, graphs.edge_ptr, graphs.edge_feature_names, source, "edge")
    _check_labels(graphs, source)
    _check_graph_features(graphs, source)
    for per, count, columns in (
        ("node", graphs.x.size(0), graphs.node_columns),
        ("graph", num_graphs, graphs.graph_columns),
        ("graph", num_graphs, graphs.graph_texts),
        ("graph", num_graphs, {"ids": graphs.ids}),
    ):
        for name, column in columns.items():
            if len(column) != count:
                raise InputError(f"{source}: column {name!r} has {len(column)} rows, but one per {per} is {count}.")


def _check_pointer(pointer: Tensor, count: int, what: str) -> None:
    if pointer.dtype != torch.int64 or pointer.dim() != 1:
        raise InputError(f"{what} is {pointer.dtype} with {pointer.dim()} dimensions, not int64 with one.")
    if int(pointer[0]) != 0 or int(pointer[-1]) != count or bool((pointer.diff() < 0).any()):
        raise InputError(f"{what} does not increase from 0 to {count}.")


def _check_features(features: Tensor, pointer: Tensor, names: tuple[str, ...], source: str, what: str) -> None:
    if features.dtype != torch.float32 or features.dim() != 2:
        raise InputError(
            f"{source}: {what} features are {features.dtype} {list(features.shape)}, not float32 with one row per "
            f"{what}."
        )
    if names and len(names) != features.size(1):
        raise InputError(f"{source}: {len(names)} {what} feature names for {features.size(1)} features.")
    # NaN and infinity times 0 is NaN, so one sum over all features finds them without a mask.
    if not bool((features.sum() * 0 == 0).all()):
        bad = (~torch.isfinite(features)).nonzero()
        if bad.numel():
            row, column = bad[0].tolist()
            graph, local = locate(pointer, row)
            called = f"{names[column]!r}" if names else f"number {column}"
            raise InputError(
                f"{source}: feature {called} of {what} {local} in graph {graph} is "
                f"{features[row, column].item()}; features must be finite numbers."
            )


def _check_graph_features(graphs: GraphSet, source: str) -> None:
    values, names = graphs.graph_attr, graphs.graph_feature_names
    if values is None:
        return
    if values.dtype != torch.float32 or values.dim() != 2 or len(values) != len(graphs):
        raise InputError(
            f"{source}: features of whole graphs are {values.dtype} {list(values.shape)}, not float32 with one row for "
            f"each of the {len(graphs)} graphs."
        )
    if names and len(names) != values.size(1):
        raise InputError(f"{source}: {len(names)} names for {values.size(1)} features of whole graphs.")
    if bool(values.isinf().any()):
        graph, column = values.isinf().nonzero()[0].tolist()
        called = f"{names[column]!r}" if names else f"number {column}"
        raise InputError(f"{source}: feature {called} of graph {graph} is infinite, not a finite number or NaN.")


def _check_edges(graphs: GraphSet, source: str) -> None:
    row, column = graphs.edge_index
    if row.dtype != torch.int64:
        raise InputError(f"{source}: edge_index is {row.dtype}, not int64.")
    graph = torch.repeat_interleave(graphs.edge_counts)
    num_nodes = graphs.node_counts.index_select(0, graph)
    wrong = (torch.minimum(row, column) < 0) | (torch.maximum(row, column) >= num_nodes)
    if bool(wrong.any()):
        edge = int(wrong.nonzero()[0])
        raise InputError(
            f"{source}: graph {int(graph[edge])} has an edge from node {int(row[edge])} to node "
            f"{int(column[edge])}, but only {int(num_nodes[edge])} nodes, numbered from 0."
        )
    key = (graphs.node_ptr.index_select(0, graph) + row) * (int(graphs.node_counts.max()) + 1) + column
    unsorted = key.diff() <= 0
    if bool(unsorted.any()):
        edge = int(unsorted.nonzero()[0]) + 1
        raise InputError(
            f"{source}: the edges of graph {int(graph[edge])} are not sorted by row and column, or one occurs twice; "
            "build graph sets with ssread.data.assemble."
        )


def _check_labels(graphs: GraphSet, source: str) -> None:
    check_task(graphs.task)
    if graphs.y is None:
        return
    if graphs.task != CLASSIFICATION:
        _check_targets(graphs, graphs.y, source)
        return
    if graphs.y.dtype != torch.int64 or tuple(graphs.y.shape) != (len(graphs),):
        raise InputError(
            f"{source}: labels are {graphs.y.dtype} {list(graphs.y.shape)}, not one int64 class index for each "
            f"of the {len(graphs)} graphs."
        )
    wrong = (graphs.y < 0) | (graphs.y >= graphs.num_classes)
    if bool(wrong.any()):
        graph = int(wrong.nonzero()[0])
        raise InputError(
            f"{source}: graph {graph} has class index {int(graphs.y[graph])}, but there are "
            f"{graphs.num_classes} class names."
        )


def _check_targets(graphs: GraphSet, y: Tensor, source: str) -> None:
    expected = (len(graphs), len(graphs.target_names))
    if y.dtype != torch.float32 or tuple(y.shape) != expected:
        raise InputError(
            f"{source}: what is to be predicted is {y.dtype} {list(y.shape)}, not float32 {list(expected)}, a column "
            "for each target name."
        )
    wrong = ~((y == 0) | (y == 1) | y.isnan()) if graphs.task == MULTILABEL else y.isinf()
    if bool(wrong.any()):
        graph, column = wrong.nonzero()[0].tolist()
        needed = "0, 1 or NaN" if graphs.task == MULTILABEL else "a finite number or NaN"
        raise InputError(
            f"{source}: {graphs.target_names[column]!r} of graph {graph} is {y[graph, column].item()}, not {needed}."
        )


def locate(pointer: Tensor, row: int) -> tuple[int, int]:
    """Returns the graph that a row of a flat column belongs to, and the number of the row within it."""
    graph = int(torch.searchsorted(pointer, row, right=True)) - 1
    return graph, row - int(pointer[graph])
