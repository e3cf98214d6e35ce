"""Graph sets from NetworkX graphs, and from folders of the files that NetworkX and others write."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt

from ssread.data.assemble import assemble
from ssread.data.classes import encode_classes, is_missing
from ssread.data.graphset import GraphSet
from ssread.data.network_files import find_files, read_graph, read_labels
from ssread.errors import InputError


class _Item(NamedTuple):
    """A node or an edge with what is written at it, and how to name it in an error."""

    graph: str
    called: Any
    data: dict[str, Any]


def from_networkx(
    graphs: Iterable[nx.Graph],
    labels: Iterable[Any] | None = None,
    *,
    node_label: str | None = None,
    node_attributes: Sequence[str] = (),
    edge_label: str | None = None,
    edge_attributes: Sequence[str] = (),
    undirected: bool = True,
    self_loops: Literal["keep", "drop"] = "keep",
    ids: Sequence[str] | None = None,
    name: str = "graphs",
) -> GraphSet:
    """Make a GraphSet of NetworkX graphs; nodes keep the order they have there.

    Args:
        graphs: Graphs of any of NetworkX's kinds; the parallel edges of a multigraph become one and are counted.
        labels: One class per graph (texts or numbers); ``None`` for graphs to predict.
        node_label: Node attribute with a category: one column per value found.
        node_attributes: Node attributes that are numbers, or lists of numbers of the same length everywhere. With
            neither label nor attributes every node gets the constant 1.
        edge_label: Edge attribute with a category.
        edge_attributes: Edge attributes that are numbers or lists of numbers.
        undirected: Make the edges of directed graphs go both ways.
        self_loops: ``"keep"`` or ``"drop"``.
        ids: What each graph is called; its number (from 0) by default.
        name: What the dataset is called.

    >>> from_networkx([nx.cycle_graph(4), nx.path_graph(3)], ["ring", "chain"]).class_names
    ('chain', 'ring')
    """
    listed = [graphs] if isinstance(graphs, nx.Graph) else list(graphs)
    called = [str(number) for number in range(len(listed))] if ids is None else list(ids)
    if len(called) != len(listed):
        raise InputError(f"{name}: there are {len(listed)} graphs but {len(called)} ids; give one for each.")
    nodes: list[_Item] = []
    edges: list[_Item] = []
    graph_of_edge: list[int] = []
    ends: list[tuple[int, int]] = []
    for number, (graph_id, graph) in enumerate(zip(called, listed, strict=True)):
        if not isinstance(graph, nx.Graph):
            raise InputError(f"{name}: graph {graph_id} is a {type(graph).__name__}, not a NetworkX graph.")
        place = {node: index for index, node in enumerate(graph)}
        nodes.extend(_Item(graph_id, node, data) for node, data in graph.nodes(data=True))
        for source, target, data in graph.edges(data=True):
            both = not graph.is_directed() and source != target
            for start, end in ((source, target), (target, source))[: 1 + both]:
                ends.append((place[start], place[end]))
                edges.append(_Item(graph_id, (start, end), data))
                graph_of_edge.append(number)
    x, node_names = _features(nodes, node_label, node_attributes, f"{name}: node")
    edge_attr, edge_names = _features(edges, edge_label, edge_attributes, f"{name}: edge")
    y, class_names = _classes(labels, called, name)
    return assemble(
        name=name,
        num_nodes=[len(graph) for graph in listed],
        x=np.ones((len(nodes), 1)) if x is None else x,
        graph_of_edge=graph_of_edge,
        edges=np.array(ends, dtype=np.int64).reshape(-1, 2).T,
        edge_attr=edge_attr,
        y=y,
        class_names=class_names,
        node_feature_names=("constant",) if x is None else node_names,
        edge_feature_names=edge_names,
        ids=called,
        undirected=undirected,
        self_loops=self_loops,
    )


def read_networks(
    folder: str | os.PathLike[str],
    label: str | None = None,
    node_label: str | None = None,
    node_attributes: Sequence[str] = (),
    edge_label: str | None = None,
    edge_attributes: Sequence[str] = (),
    undirected: bool = True,
    self_loops: Literal["keep", "drop"] = "keep",
    name: str | None = None,
) -> GraphSet:
    """Read a folder of .graphml and node-link .json files, one graph each, called by its path in the folder.

    The classes come from the graph attribute ``label`` where one is named, else from a ``labels.csv`` in the folder
    (columns ``file`` and ``label``), else from the names of the sub-folders the files lie in; files in no sub-folder
    and without ``labels.csv`` have no class (graphs to predict).

    Args:
        folder: The folder.
        label: Graph attribute that holds the class.
        node_label: As for :func:`from_networkx`, and so are the following.
        node_attributes: Numbers at the nodes.
        edge_label: Category of the edges.
        edge_attributes: Numbers at the edges.
        undirected: Make directed edges go both ways.
        self_loops: ``"keep"`` or ``"drop"``.
        name: What the dataset is called; the folder's name by default.
    """
    folder = Path(folder)
    files = find_files(folder)
    graphs = [read_graph(path) for path in files]
    return from_networkx(
        graphs,
        read_labels(folder, files, graphs, label),
        node_label=node_label,
        node_attributes=node_attributes,
        edge_label=edge_label,
        edge_attributes=edge_attributes,
        undirected=undirected,
        self_loops=self_loops,
        ids=[path.relative_to(folder).as_posix() for path in files],
        name=name or folder.resolve().name,
    )


def _classes(
    labels: Iterable[Any] | None, called: list[str], name: str
) -> tuple[npt.NDArray[np.int64] | None, tuple[str, ...]]:
    if labels is None:
        return None, ()
    listed = list(labels)
    if len(listed) != len(called):
        raise InputError(f"{name}: there are {len(called)} graphs but {len(listed)} labels; give one for each.")
    missing = [graph for graph, label in zip(called, listed, strict=True) if is_missing(label)]
    if missing:
        raise InputError(f"{name}: there is no label for graph {', '.join(missing)}; give one or leave the graph out.")
    return encode_classes(listed, name)


def _features(
    items: list[_Item], label: str | None, attributes: Sequence[str], what: str
) -> tuple[npt.NDArray[np.float32] | None, tuple[str, ...]]:
    """Columns for a category and for numbers with their names, or nothing where nothing was asked for or is there."""
    if isinstance(attributes, str):
        attributes = (attributes,)
    if not items or (label is None and not attributes):
        return None, ()
    columns: list[npt.NDArray[np.float32]] = []
    names: list[str] = []
    if label is not None:
        categories, found = encode_classes(_values(items, label, what), f"{what} attribute {label!r}")
        columns.append(np.eye(len(found), dtype=np.float32)[categories])
        names += [f"{label}={category}" for category in found]
    for attribute in attributes:
        numbers = _numbers(items, attribute, what)
        columns.append(numbers)
        width = numbers.shape[1]
        names += [attribute] if width == 1 else [f"{attribute}[{index}]" for index in range(width)]
    return np.concatenate(columns, axis=1), tuple(names)


def _values(items: list[_Item], key: str, what: str) -> list[Any]:
    values = [item.data.get(key) for item in items]
    for item, value in zip(items, values, strict=True):
        if is_missing(value):
            there = ", ".join(map(repr, item.data)) or "none"
            raise InputError(
                f"{what} {item.called!r} of graph {item.graph} has no value for {key!r}; its attributes are {there}."
            )
    return values


def _numbers(items: list[_Item], key: str, what: str) -> npt.NDArray[np.float32]:
    values = _values(items, key, what)
    try:
        return np.array(values, dtype=np.float32).reshape(len(values), -1)
    except (TypeError, ValueError, OverflowError):
        width = np.size(values[0])
    for item, value in zip(items, values, strict=True):
        try:
            fits = np.array(value, dtype=np.float32).size == width
        except (TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            raise InputError(
                f"{what} {item.called!r} of graph {item.graph} has {key!r} = {value!r:.60}; "
                f"a number, or as many numbers as elsewhere ({width}), is needed."
            )
    raise InputError(f"{what} attribute {key!r} is nested differently from place to place; give plain lists.")
