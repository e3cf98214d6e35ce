"""How well every method finds the nodes and edges that decide, measured on the same graphs of the same models."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.explain.measures import average_precision, fidelity, localisation
from ssread.explain.rivals import METHODS, Importance, Task
from ssread.explain.structure_facts import edges_of, graph_of_node

__all__ = ["localise"]


def localise(task: Task, deciding: Tensor, methods: Sequence[str]) -> dict[str, dict[str, float]]:
    """Means over the graphs, by method and measure.

    A method without scores of its own for edges has the mean of both ends. Time is processor time of one thread,
    training included where a method learns to explain.

    Args:
        task: The model, the graphs and their classes.
        deciding: Whether a node decides, [N]; an edge does if both its ends do.
        methods: Names of :data:`ssread.explain.rivals.METHODS`.
    """
    graphs = task.graphs
    nodes, (source, target) = graph_of_node(graphs), edges_of(graphs)
    edges = nodes[source]
    deciding_edges = deciding[source] & deciding[target]
    sizes = segment.reduce_sum(deciding.long(), nodes, len(graphs))
    by_method = {}
    for name in methods:
        started = time.process_time()
        importance = METHODS[name](task)
        seconds = (time.process_time() - started) / len(graphs)
        of_edges = _both_ways(graphs, importance, source, target)
        change = fidelity(task.model, graphs, importance.nodes, task.target, sizes)
        measures = {
            "AUC": localisation(importance.nodes, deciding, nodes, len(graphs)),
            "AP": average_precision(importance.nodes, deciding, nodes, len(graphs)),
            "bond AUC": localisation(of_edges, deciding_edges, edges, len(graphs)),
            "fidelity+": change.plus,
            "fidelity-": change.minus,
            "sufficiency": change.sufficient.float(),
        }
        by_method[name] = {measure: float(values.nanmean()) for measure, values in measures.items()}
        by_method[name]["ms per graph"] = 1000 * seconds
    return by_method


def _both_ways(graphs: GraphSet, importance: Importance, source: Tensor, target: Tensor) -> Tensor:
    """The importance of every edge, [E], equal for both directions."""
    if importance.edges is None:
        return (importance.nodes[source] + importance.nodes[target]) / 2
    if not graphs.undirected:
        return importance.edges
    forward = (source * graphs.x.size(0) + target).argsort()
    backward = (target * graphs.x.size(0) + source).argsort()
    reverse = torch.empty_like(forward)
    reverse[forward] = backward  # the k-th smallest pair has the k-th smallest reversed pair as its reverse
    return (importance.edges + importance.edges[reverse]) / 2
