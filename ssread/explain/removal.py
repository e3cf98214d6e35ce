"""Graphs with single nodes removed, scored many at a time."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.explain.measures import induced_subgraphs
from ssread.explain.node_facts import graph_of_node

__all__ = ["occlusion"]

#: About how many nodes are scored at a time.
NODES_PER_PASS = 20_000


@torch.no_grad()
def occlusion(graphs: GraphSet, target: Tensor, score: Callable[[GraphSet, Tensor], Tensor]) -> Tensor:
    """How much the score of a graph falls when a node and its edges are removed, for every node, [N].

    Args:
        graphs: The graphs.
        target: The class of every graph, [G].
        score: Returns the scores [B] of some graphs and their classes [B].
    """
    owner = graph_of_node(graphs)
    nodes = torch.arange(len(owner))
    whole = score(graphs, target)
    copied = graphs.node_counts[owner].cumsum(0) // NODES_PER_PASS  # a copy of its graph for every node
    parts = []
    for some in nodes.split(torch.unique_consecutive(copied, return_counts=True)[1].tolist()):
        copies = graphs[owner[some]]
        removed = copies.node_ptr[:-1] + some - graphs.node_ptr[owner[some]]
        kept = torch.ones(copies.x.size(0), dtype=torch.bool)
        kept[removed] = False
        parts.append(whole[owner[some]] - score(induced_subgraphs(copies, kept), target[owner[some]]))
    return torch.cat(parts) if parts else torch.zeros(0)
