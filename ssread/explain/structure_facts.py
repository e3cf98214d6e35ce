"""Facts about the place of a node in its graph, in words, that need no types: rings, chains, hubs."""

import networkx as nx
import numpy as np
import torch
from scipy.sparse import coo_array
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet

__all__ = ["edges_of", "graph_of_node", "in_ring", "structure_facts"]

#: Degrees from here on share one fact.
MAX_DEGREE = 5

#: A hub has at least this many neighbours, and this many standard deviations more than the mean of its graph.
HUB_DEGREE, HUB_DEVIATIONS = 4, 2.0


def graph_of_node(graphs: GraphSet) -> Tensor:
    """The number of every node's graph, [N], on the CPU."""
    return torch.arange(len(graphs)).repeat_interleave(graphs.node_counts.cpu())


def edges_of(graphs: GraphSet) -> tuple[Tensor, Tensor]:
    """Sources and targets of all edges as rows of the node columns, on the CPU."""
    offset = graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)
    source, target = (graphs.edge_index + offset).cpu()
    return source, target


def structure_facts(graphs: GraphSet, counts: str = "degree {}") -> dict[str, Tensor]:
    """Facts such as ``in a ring``, each with the nodes it holds for, [N].

    Args:
        graphs: The graphs.
        counts: How the number of neighbours is told.
    """
    size = graphs.x.size(0)
    source, target = edges_of(graphs)
    degree = segment.count(source, size)
    ring_edges = _ring_edges(graphs)
    ring = ring_edges > 0
    facts = {
        "end of a chain": degree == 1,
        "inside a chain": (degree == 2) & ~ring,
        "branching point": (degree >= 3) & ~ring,
        "hub": _hubs(graphs, degree),
        "where rings are fused": ring_edges >= 3,
        "ring with a branch": ring & (degree > ring_edges),
        "in a triangle": _in_triangle(source, target, size),
        "in a ring": ring,
        "outside of rings": ~ring,
        "next to a hub": _next_to(_hubs(graphs, degree), source, target),
        "next to an end": _next_to(degree == 1, source, target),
    }
    for count in (0, *range(2, MAX_DEGREE)):
        facts[counts.format(count)] = degree == count
    facts[counts.format(f"{MAX_DEGREE} or more")] = degree >= MAX_DEGREE
    return facts


def in_ring(graphs: GraphSet) -> Tensor:
    """Whether every node lies on a cycle, [N]: whether one of its edges is not a bridge."""
    return _ring_edges(graphs) > 0


def _ring_edges(graphs: GraphSet) -> Tensor:
    """How many edges of every node are not bridges, [N]."""
    source, target = edges_of(graphs)
    network = nx.Graph(pair for pair in zip(source.tolist(), target.tolist(), strict=True) if pair[0] != pair[1])
    bridges = set(nx.bridges(network))
    ends = [end for edge in network.edges if edge not in bridges and edge[::-1] not in bridges for end in edge]
    return segment.count(torch.tensor(ends, dtype=torch.long), graphs.x.size(0))


def _hubs(graphs: GraphSet, degree: Tensor) -> Tensor:
    graph, G = graph_of_node(graphs), len(graphs)
    mean = segment.reduce_mean(degree.double(), graph, G)
    spread = segment.reduce_mean((degree - mean[graph]).square(), graph, G).sqrt()
    return (degree >= HUB_DEGREE) & (degree >= (mean + HUB_DEVIATIONS * spread)[graph])


def _in_triangle(source: Tensor, target: Tensor, size: int) -> Tensor:
    different = source != target
    ends = source[different].numpy(), target[different].numpy()
    matrix = coo_array((np.ones(len(ends[0])), ends), shape=(size, size)).tocsr()
    return torch.from_numpy(np.asarray((matrix @ matrix).multiply(matrix).sum(axis=1)).reshape(-1) > 0)


def _next_to(holds: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """Whether a neighbour of a node has a property, [N]."""
    return segment.reduce_sum(holds[target].long(), source, len(holds)) > 0
