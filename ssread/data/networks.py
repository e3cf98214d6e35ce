"""Graph sets from NetworkX graphs and from folders of graph files."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import networkx as nx
import numpy as np
import numpy.typing as npt

from ssread.data.assemble import assemble
from ssread.data.classes import encode_classes, is_missing
from ssread.data.graphset import GraphSet
from ssread.data.network_files import find_files, read_graph, read_labels
from ssread.data.skipped import SkippedRow, check_on_error, list_rows
from ssread.data.targets import has_no_target, targets_of
from ssread.errors import InputError


class _Element(NamedTuple):
    """A node or an edge with its attributes, and its graph and name for error messages."""

    graph: str
    name: Any
    attributes: dict[str, Any]


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
    task: str | None = None,
    keep: Sequence[str] = (),
    name: str = "graphs",
) -> GraphSet:
    """Builds a GraphSet from NetworkX graphs; nodes keep their order.

    Args:
        graphs: NetworkX graphs of any class; the parallel edges of a multigraph are merged and counted.
        labels: One class or number per graph, or a row of several labels or numbers, empty ones included; ``None`` for
            graphs to predict.
        node_label: A categorical node attribute, which gets one column per value found.
        node_attributes: Node attributes that are numbers, or lists of numbers of the same length everywhere. With
            neither a label nor attributes, every node gets the constant 1.
        edge_label: A categorical edge attribute.
        edge_attributes: Edge attributes that are numbers or lists of numbers.
        undirected: Whether to add the reverse of every edge of a directed graph.
        self_loops: ``"keep"`` or ``"drop"``.
        ids: The id of each graph; its number (from 0) by default.
        task: ``classification``, ``multilabel`` or ``regression``; by default as :func:`ssread.data.targets.targets_of`
            tells from the labels.
        keep: Graph attributes, whose texts are kept in ``graph_texts``; empty where a graph has none.
        name: The name of the dataset.

    >>> from_networkx([nx.cycle_graph(4), nx.path_graph(3)], ["ring", "chain"]).class_names
    ('chain', 'ring')
    """
    networks = [graphs] if isinstance(graphs, nx.Graph) else list(graphs)
    graph_ids = [str(number) for number in range(len(networks))] if ids is None else list(ids)
    if len(graph_ids) != len(networks):
        raise InputError(f"{name}: there are {len(networks)} graphs but {len(graph_ids)} ids.")
    nodes: list[_Element] = []
    edges: list[_Element] = []
    graph_of_edge: list[int] = []
    ends: list[tuple[int, int]] = []
    for number, (graph_id, graph) in enumerate(zip(graph_ids, networks, strict=True)):
        if not isinstance(graph, nx.Graph):
            raise InputError(f"{name}: graph {graph_id} is a {type(graph).__name__}, not a NetworkX graph.")
        index_of = {node: index for index, node in enumerate(graph)}
        nodes.extend(_Element(graph_id, node, attributes) for node, attributes in graph.nodes(data=True))
        for source, target, attributes in graph.edges(data=True):
            both = not graph.is_directed() and source != target
            for start, end in ((source, target), (target, source))[: 1 + both]:
                ends.append((index_of[start], index_of[end]))
                edges.append(_Element(graph_id, (start, end), attributes))
                graph_of_edge.append(number)
    x, node_names = _features(nodes, node_label, node_attributes, f"{name}: node")
    edge_attr, edge_names = _features(edges, edge_label, edge_attributes, f"{name}: edge")
    targets = {} if labels is None else _targets(labels, graph_ids, name, task)
    return assemble(
        name=name,
        num_nodes=[len(graph) for graph in networks],
        x=np.ones((len(nodes), 1)) if x is None else x,
        graph_of_edge=graph_of_edge,
        edges=np.array(ends, dtype=np.int64).reshape(-1, 2).T,
        edge_attr=edge_attr,
        **targets,
        node_feature_names=("constant",) if x is None else node_names,
        edge_feature_names=edge_names,
        ids=graph_ids,
        graph_texts={key: _texts(networks, key, name) for key in keep},
        undirected=undirected,
        self_loops=self_loops,
    )


def _texts(networks: Sequence[nx.Graph], key: str, name: str) -> list[str]:
    """Returns a graph attribute as texts, an empty one where a graph has none."""
    values = [graph.graph.get(key) for graph in networks]
    if networks and all(value is None for value in values):
        found = ", ".join(sorted({repr(known) for graph in networks for known in graph.graph})) or "none"
        raise InputError(f"{name}: no graph has an attribute {key!r}; their attributes are {found}.")
    return ["" if is_missing(value) else str(value) for value in values]


def read_networks(
    folder: str | os.PathLike[str],
    label: str | None = None,
    node_label: str | None = None,
    node_attributes: Sequence[str] = (),
    edge_label: str | None = None,
    edge_attributes: Sequence[str] = (),
    undirected: bool = True,
    self_loops: Literal["keep", "drop"] = "keep",
    task: str | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    keep: Sequence[str] = (),
    name: str | None = None,
) -> GraphSet:
    """Reads a folder of .graphml and node-link .json files, one graph each; its path in the folder is its id.

    The classes come from the graph attribute ``label`` if it is named, else from ``labels.csv`` in the folder (columns
    ``file`` and ``label``), else from the names of the sub-folders. Without any of these the graphs have no classes
    (graphs to predict).

    Args:
        folder: The folder.
        label: Graph attribute that holds the class.
        node_label: As in :func:`from_networkx`, like the arguments that follow.
        node_attributes: Numeric node attributes.
        edge_label: A categorical edge attribute.
        edge_attributes: Numeric edge attributes.
        undirected: Whether to add the reverse of every directed edge.
        self_loops: ``"keep"`` or ``"drop"``.
        task: As in :func:`from_networkx`.
        on_error: ``"raise"`` raises an error for a file that cannot be read; ``"skip"`` leaves such files out, counts
            them in ``repairs`` and lists them in ``skipped``.
        keep: As in :func:`from_networkx`.
        name: The name of the dataset; the folder's name by default.
    """
    check_on_error(on_error)
    folder = Path(folder)
    files = find_files(folder)
    networks: list[nx.Graph | None] = []
    skipped: list[SkippedRow] = []
    for index, path in enumerate(files):
        try:
            networks.append(read_graph(path))
        except InputError as error:
            if on_error == "raise":
                raise
            networks.append(None)
            skipped.append(SkippedRow(index, path.relative_to(folder).as_posix(), "", str(error).rstrip(".")))
    if len(skipped) == len(files):
        raise InputError(f"{folder} has no file that can be used, of {len(files)}: {list_rows(skipped)}.")
    labels = read_labels(folder, files, networks, label)
    kept = [index for index, network in enumerate(networks) if network is not None]
    graphs = from_networkx(
        [network for network in networks if network is not None],
        None if labels is None else [labels[index] for index in kept],
        node_label=node_label,
        node_attributes=node_attributes,
        edge_label=edge_label,
        edge_attributes=edge_attributes,
        undirected=undirected,
        self_loops=self_loops,
        task=task,
        keep=keep,
        ids=[files[index].relative_to(folder).as_posix() for index in kept],
        name=name or folder.resolve().name,
    )
    repairs = {**graphs.repairs, **({"files skipped": len(skipped)} if skipped else {})}
    return replace(graphs, repairs=repairs, skipped=tuple(skipped))


def _targets(labels: Iterable[Any], graph_ids: list[str], name: str, task: str | None) -> dict[str, Any]:
    listed = list(labels)
    if len(listed) != len(graph_ids):
        raise InputError(f"{name}: there are {len(graph_ids)} graphs but {len(listed)} labels.")
    missing = [graph_id for graph_id, label in zip(graph_ids, listed, strict=True) if has_no_target(label)]
    if missing:
        raise InputError(f"{name}: there is no label for graph {', '.join(missing)}: add one or leave the graph out.")
    return targets_of(listed, name, task=task)._asdict()


def _features(
    elements: list[_Element], label: str | None, attributes: Sequence[str], what: str
) -> tuple[npt.NDArray[np.float32] | None, tuple[str, ...]]:
    """Returns one-hot columns of the label and columns of the attributes, with their names; ``None`` without any."""
    if isinstance(attributes, str):
        attributes = (attributes,)
    if not elements or (label is None and not attributes):
        return None, ()
    columns: list[npt.NDArray[np.float32]] = []
    names: list[str] = []
    if label is not None:
        categories, found = encode_classes(_values(elements, label, what), f"{what} attribute {label!r}")
        columns.append(np.eye(len(found), dtype=np.float32)[categories])
        names += [f"{label}={category}" for category in found]
    for attribute in attributes:
        numbers = _numbers(elements, attribute, what)
        columns.append(numbers)
        width = numbers.shape[1]
        names += [attribute] if width == 1 else [f"{attribute}[{index}]" for index in range(width)]
    return np.concatenate(columns, axis=1), tuple(names)


def _values(elements: list[_Element], key: str, what: str) -> list[Any]:
    values = [element.attributes.get(key) for element in elements]
    for element, value in zip(elements, values, strict=True):
        if is_missing(value):
            found = ", ".join(map(repr, element.attributes)) or "none"
            raise InputError(
                f"{what} {element.name!r} of graph {element.graph} has no value for {key!r}; "
                f"its attributes are {found}."
            )
    return values


def _numbers(elements: list[_Element], key: str, what: str) -> npt.NDArray[np.float32]:
    values = _values(elements, key, what)
    try:
        return np.array(values, dtype=np.float32).reshape(len(values), -1)
    except (TypeError, ValueError, OverflowError):
        width = np.size(values[0])
    for element, value in zip(elements, values, strict=True):
        try:
            fits = np.array(value, dtype=np.float32).size == width
        except (TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            raise InputError(
                f"{what} {element.name!r} of graph {element.graph} has {key!r} = {value!r:.60}; "
                f"a number, or as many numbers as elsewhere ({width}), is needed."
            )
    raise InputError(f"{what} attribute {key!r} is not nested alike everywhere; use plain lists.")
