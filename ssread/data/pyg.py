"""Graph sets from PyG ``Data`` objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from ssread.data.assemble import assemble
from ssread.data.graphset import GraphSet
from ssread.data.targets import has_no_target, targets_of
from ssread.errors import InputError


def from_pyg(
    graphs: Iterable[Data],
    *,
    name: str | None = None,
    class_names: Sequence[str] = (),
    task: str | None = None,
    undirected: bool = False,
    self_loops: Literal["keep", "drop"] = "keep",
) -> GraphSet:
    """Builds a GraphSet from PyG ``Data`` objects: a list, a dataset, or any other iterable.

    Reads ``x`` (the constant 1 if missing), ``edge_index``, ``edge_attr`` and ``y`` (one class or number per
    graph, or a row of several labels or numbers, NaN where one is not known). Each of
    ``x``, ``edge_attr`` and ``y`` must be present in all graphs or in none.

    Args:
        graphs: The graphs.
        name: The name of the dataset; the ``name`` of ``graphs`` by default.
        class_names: Names of the classes if ``y`` numbers them from 0; the values of ``y`` by default.
        task: ``classification``, ``multilabel`` or ``regression``; by default as :func:`ssread.data.targets.targets_of`
            tells from ``y``.
        undirected: Whether to add the missing reverse of every edge.
        self_loops: ``"keep"`` or ``"drop"``.
    """
    name = name or str(getattr(graphs, "name", "graphs"))
    listed = list(graphs)
    if not listed:
        raise InputError(f"{name} has no graphs: at least one is needed.")
    wrong = [number for number, graph in enumerate(listed) if not isinstance(graph, Data)]
    if wrong:
        raise InputError(f"{name}: graph {wrong[0]} is a {type(listed[wrong[0]]).__name__}, not a PyG Data.")
    num_nodes = [int(graph.num_nodes or 0) for graph in listed]
    features = _column(listed, "x", name)
    edges = [_edges(graph, number, name) for number, graph in enumerate(listed)]
    edge_attr = _column(listed, "edge_attr", name)
    labels = _column(listed, "y", name)
    targets = {} if labels is None else _targets(labels, class_names, task, name)
    return assemble(
        name=name,
        num_nodes=num_nodes,
        x=torch.ones(sum(num_nodes), 1) if features is None else _join(features, "x", name),
        node_feature_names=("constant",) if features is None else (),
        graph_of_edge=torch.repeat_interleave(torch.tensor([edge.size(1) for edge in edges])),
        edges=torch.cat(edges, dim=1),
        edge_attr=None if edge_attr is None else _join(edge_attr, "edge_attr", name),
        **targets,
        undirected=undirected,
        self_loops=self_loops,
    )


def _column(graphs: list[Data], key: str, name: str) -> list[Tensor] | None:
    """Returns one attribute of every graph, or ``None`` if no graph has it."""
    values = [graph.get(key) for graph in graphs]
    missing = [number for number, value in enumerate(values) if value is None]
    if len(missing) == len(values):
        return None
    if missing:
        raise InputError(f"{name}: graph {missing[0]} has no {key!r}, but others do.")
    return [torch.as_tensor(value).detach().cpu() for value in values]


def _edges(graph: Data, number: int, name: str) -> Tensor:
    if graph.edge_index is None:
        return torch.empty(2, 0, dtype=torch.int64)
    if graph.edge_index.dim() != 2 or graph.edge_index.size(0) != 2:
        raise InputError(f"{name}: edge_index of graph {number} is {list(graph.edge_index.shape)}, not [2, edges].")
    return graph.edge_index.detach().cpu()


def _join(parts: list[Tensor], key: str, name: str) -> Tensor:
    rows = [part.unsqueeze(-1) if part.dim() == 1 else part for part in parts]
    for number, part in enumerate(rows):
        if part.dim() != 2 or part.size(1) != rows[0].size(1):
            raise InputError(
                f"{name}: {key} of graph {number} has the shape {list(part.shape)}, but {key} of graph 0 has "
                f"{list(rows[0].shape)}: all graphs need the same number of features."
            )
    return torch.cat(rows)


def _targets(labels: list[Tensor], class_names: Sequence[str], task: str | None, name: str) -> dict[str, Any]:
    rows = [label.flatten().tolist() for label in labels]
    for number, row in enumerate(rows):
        if not row or has_no_target(row) or not all(abs(value) < float("inf") for value in row if value == value):
            raise InputError(f"{name}: y of graph {number} is {row}; a class or number is needed.")
    if class_names:
        return {"y": torch.tensor(rows, dtype=torch.int64).flatten(), "class_names": class_names}
    single = all(len(row) == 1 for row in rows)
    return targets_of([row[0] for row in rows] if single else rows, name, task=task)._asdict()
