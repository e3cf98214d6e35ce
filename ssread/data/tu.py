"""Reader for the text format of the TU collection, from a folder or a zip."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from ssread.data.assemble import assemble
from ssread.data.graphset import GraphSet
from ssread.data.tu_structure import read_structure
from ssread.data.tu_text import TextFiles
from ssread.errors import InputError

MUTAG_ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
MUTAGENICITY_ATOMS = ("C", "O", "Cl", "H", "N", "F", "Br", "S", "P", "I", "Na", "K", "Li", "Ca")
NODE_LABEL_NAMES = {"MUTAG": MUTAG_ATOMS, "Mutagenicity": MUTAGENICITY_ATOMS}
EDGE_LABEL_NAMES = {
    "MUTAG": ("aromatic", "single", "double", "triple"),
    "Mutagenicity": ("single", "double", "triple"),
}


def read_tu(
    path: str | os.PathLike[str],
    *,
    attributes: bool = False,
    degree: bool = False,
    undirected: bool = True,
    self_loops: Literal["keep", "drop"] = "keep",
) -> GraphSet:
    """Reads a dataset in TU text format (``NAME_A.txt``, ``NAME_graph_indicator.txt``, ...).

    Node features are one-hot node labels, or the constant 1 without labels. Edge features are one-hot edge labels.
    Every label that occurs has a column named after it.

    Args:
        path: A folder with the text files, or a zip of such a folder.
        attributes: Whether to append the numeric node and edge attributes, if there are any.
        degree: Whether nodes without labels get their one-hot degree instead of the constant 1. The dataset is then
            called ``NAME-degree``, so that its results are not taken for those of the constant.
        undirected: Whether to add the missing reverse of every edge.
        self_loops: ``"keep"`` or ``"drop"``.
    """
    files = TextFiles(Path(path))
    name = files.name
    structure = read_structure(files)
    graph_of_node = structure.graph_of_node
    # In practice nodes are listed graph by graph, but the format does not require it.
    order = np.argsort(graph_of_node, kind="stable")
    num_nodes = np.bincount(graph_of_node, minlength=structure.num_graphs)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    place -= np.concatenate([[0], np.cumsum(num_nodes)])[graph_of_node]

    x, node_names = _features(files, "node", len(order), attributes, NODE_LABEL_NAMES.get(name, ()))
    num_edges = len(structure.graph_of_edge)
    edge_attr, edge_names = _features(files, "edge", num_edges, attributes, EDGE_LABEL_NAMES.get(name, ()))
    has_labels = files.has("node_labels") or (attributes and files.has("node_attributes"))
    graphs = assemble(
        name=name,
        num_nodes=num_nodes,
        x=np.ones((len(order), 1)) if x is None else x[order],
        graph_of_edge=structure.graph_of_edge,
        edges=place[structure.ends],
        edge_attr=edge_attr,
        y=structure.y,
        class_names=structure.class_names,
        node_feature_names=node_names if x is not None else ("constant",),
        edge_feature_names=edge_names,
        undirected=undirected,
        self_loops=self_loops,
        source=str(path),
    )
    return one_hot_degree(graphs) if degree and not has_labels else graphs


def one_hot_degree(graphs: GraphSet) -> GraphSet:
    """Replaces the node features by the one-hot degree of every node; ``-degree`` is added to the name."""
    first_of_graph = torch.repeat_interleave(graphs.node_ptr[:-1], graphs.edge_counts)
    degree = torch.bincount(graphs.edge_index[0] + first_of_graph, minlength=graphs.x.size(0))
    x, names = _one_hot(degree.numpy(), ())
    features = tuple(f"degree {name}" for name in names)
    return replace(graphs, name=f"{graphs.name}-degree", x=torch.from_numpy(x), node_feature_names=features)


def _features(
    files: TextFiles, what: str, count: int, attributes: bool, known_names: Sequence[str]
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Returns one-hot labels and, if asked for, attributes of nodes or edges; ``None`` without either."""
    parts: list[np.ndarray] = []
    names: list[str] = []
    if files.has(f"{what}_labels"):
        labels = files.whole_numbers(f"{what}_labels", lines=count)
        for number, column in enumerate(labels.T):
            one_hot, values = _one_hot(column, known_names)
            parts.append(one_hot)
            names += values if labels.shape[1] == 1 else [f"{number}: {value}" for value in values]
    if attributes and files.has(f"{what}_attributes"):
        table = files.numbers(f"{what}_attributes", lines=count)
        parts.append(table.astype(np.float32))
        names += [f"attribute {number}" for number in range(table.shape[1])]
    if not parts:
        return None, ()
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1), tuple(names)


def _one_hot(values: np.ndarray, known_names: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    distinct, column = np.unique(values, return_inverse=True)
    if len(values) * len(distinct) > 2**30:
        raise InputError(f"{len(distinct)} different labels on {len(values)} rows are too many for one-hot features.")
    one_hot = np.zeros((len(values), len(distinct)), dtype=np.float32)
    one_hot[np.arange(len(values)), column] = 1
    named = len(distinct) and distinct[0] >= 0 and distinct[-1] < len(known_names)
    return one_hot, [known_names[value] if named else str(value) for value in distinct]
