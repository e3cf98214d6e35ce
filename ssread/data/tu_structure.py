"""Which nodes and edges the graphs of a TU dataset have, and their classes: all but the features."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ssread.data.tu_text import TextFiles
from ssread.errors import InputError

__all__ = ["Structure", "read_structure"]

CLASS_NAMES = {"Mutagenicity": ("mutagen", "nonmutagen")}


class Structure(NamedTuple):
    """The graphs of a dataset without features.

    Attributes:
        num_graphs: Their number.
        graph_of_node: The graph of every node, from 0, in the order of the file, [N].
        graph_of_edge: The graph of every edge, [E].
        ends: Both ends of every edge as node numbers of the whole dataset, from 0, as the file lists them, [2, E].
        y: The class of every graph, [G]; None where there are no classes.
        class_names: The names of the classes.
    """

    num_graphs: int
    graph_of_node: np.ndarray
    graph_of_edge: np.ndarray
    ends: np.ndarray
    y: np.ndarray | None
    class_names: Sequence[str]

    def statistics(self) -> dict[str, Any]:
        """The size of the dataset in the terms of the paper's Table I, as ``GraphSet.statistics`` of it has them.

        An edge between two nodes counts once, however often and in whichever direction the file lists it.
        """
        one, other = self.ends
        edges = np.unique(np.minimum(one, other) * len(self.graph_of_node) + np.maximum(one, other))
        return {
            "graphs": self.num_graphs,
            "mean_nodes": len(self.graph_of_node) / self.num_graphs,
            "mean_edges": len(edges) / self.num_graphs,
            "classes": len(self.class_names),
        }


def read_structure(files: TextFiles) -> Structure:
    """Reads everything but the features, and checks that it fits together."""
    graph_of_node = files.whole_numbers("graph_indicator")[:, 0]
    if len(graph_of_node) == 0:
        raise InputError(f"{files.called('graph_indicator')} is empty: the dataset has no nodes.")
    if graph_of_node.min() < 1:
        line = int(graph_of_node.argmin()) + 1
        raise InputError(
            f"{files.called('graph_indicator')}, line {line}: graph {graph_of_node.min()}; the first is graph 1."
        )
    y, class_names, num_graphs = _classes(files, graph_of_node)
    ends, graph_of_edge = _edges(files, graph_of_node)
    return Structure(num_graphs, graph_of_node - 1, graph_of_edge, ends, y, class_names)


def _classes(files: TextFiles, graph_of_node: np.ndarray) -> tuple[np.ndarray | None, Sequence[str], int]:
    """Class index of each graph, class names, number of graphs."""
    last = int(graph_of_node.max())
    if not files.has("graph_labels"):  # regression sets come with graph attributes instead
        if last > len(graph_of_node):
            raise InputError(
                f"{files.called('graph_indicator')} contains graph {last}, but only {len(graph_of_node)} nodes."
            )
        return None, (), last
    labels = files.numbers("graph_labels")
    if labels.shape[1] != 1:
        raise InputError(f"{files.called('graph_labels')} has {labels.shape[1]} columns: one class is needed.")
    if not np.isfinite(labels).all():
        line = int(np.isfinite(labels[:, 0]).argmin())
        raise InputError(f"{files.called('graph_labels')}, line {line + 1}: {labels[line, 0]} is not a class.")
    if last > len(labels):
        raise InputError(
            f"{files.called('graph_labels')} has {len(labels)} lines, but {files.called('graph_indicator')} "
            f"contains graph {last}."
        )
    values, y = np.unique(labels[:, 0], return_inverse=True)
    known = CLASS_NAMES.get(files.name, ())
    return y, known if len(known) == len(values) else [f"{value:.12g}" for value in values], len(labels)


def _edges(files: TextFiles, graph_of_node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of every edge as node numbers of the whole dataset from 0, and the graph of each edge."""
    ends = files.whole_numbers("A", columns=2).T - 1
    missing = (ends < 0) | (ends >= len(graph_of_node))
    if missing.any():
        line = int(missing.any(axis=0).argmax())
        raise InputError(
            f"{files.called('A')}, line {line + 1}: an edge between nodes {ends[0, line] + 1} and "
            f"{ends[1, line] + 1}, but the nodes are 1 to {len(graph_of_node)}."
        )
    graph_of_end = graph_of_node[ends]
    across = graph_of_end[0] != graph_of_end[1]
    if across.any():
        line = int(across.argmax())
        raise InputError(
            f"{files.called('A')}, line {line + 1}: an edge from graph {graph_of_end[0, line]} to graph "
            f"{graph_of_end[1, line]}; edges must stay within a graph."
        )
    return ends, graph_of_end[0] - 1
