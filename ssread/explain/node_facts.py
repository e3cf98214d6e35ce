"""What can be said about a node without any model: its type, its degree, whether it is in a ring, its group."""

import networkx as nx
import torch
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import are_molecules
from ssread.errors import MissingExtraError
from ssread.explain.chemical_groups import COLUMN, GROUPS, functional_groups

__all__ = ["global_edges", "in_ring", "node_facts", "node_types"]

#: Degrees from here on are one fact.
MOST_NEIGHBOURS = 5


def node_facts(graphs: GraphSet) -> dict[str, Tensor]:
    """Statements about nodes, each with the nodes it is true of, [N]; those true of all or of none are left out.

    Types are the node features that are 0 or 1. Functional groups need molecules, and RDKit (or the node column that
    :func:`ssread.explain.chemical_groups.with_functional_groups` made); where that is missing they are left out.
    """
    source, _ = global_edges(graphs)
    degree = segment.count(source, graphs.x.size(0))
    facts = {_type(name): column for name, column in node_types(graphs).items()}
    for count in range(MOST_NEIGHBOURS):
        facts["1 neighbour" if count == 1 else f"{count} neighbours"] = degree == count
    facts[f"{MOST_NEIGHBOURS} or more neighbours"] = degree >= MOST_NEIGHBOURS
    facts["in a ring"] = in_ring(graphs)
    if COLUMN in graphs.node_columns or are_molecules(graphs):
        try:
            group = functional_groups(graphs)
            facts |= {_named(name): group == number for number, name in enumerate(GROUPS)}
        except MissingExtraError:  # the other facts stand without it
            pass
    return {name: true for name, true in facts.items() if 0 < int(true.sum()) < len(true)}


def _type(feature: str) -> str:
    return feature.replace("=", " ") if "=" in feature else f"type {feature}"


def _named(group: str) -> str:
    return group if group.endswith("ring") else f"{group} group"


def node_types(graphs: GraphSet) -> dict[str, Tensor]:
    """The node features that are 0 or 1 everywhere, by name, as booleans [N]."""
    flags = ((graphs.x == 0) | (graphs.x == 1)).all(dim=0).tolist()
    return {
        name: graphs.x[:, column].bool().cpu()
        for column, (name, flag) in enumerate(zip(graphs.node_feature_names, flags, strict=False))
        if flag
    }


def in_ring(graphs: GraphSet) -> Tensor:
    """Whether every node lies on a cycle, [N]: it does if an edge of it is no bridge."""
    source, target = global_edges(graphs)
    network = nx.Graph(pair for pair in zip(source.tolist(), target.tolist(), strict=True) if pair[0] != pair[1])
    bridges = set(nx.bridges(network))
    ring = torch.zeros(graphs.x.size(0), dtype=torch.bool)
    on_cycle = [end for edge in network.edges if edge not in bridges and edge[::-1] not in bridges for end in edge]
    ring[on_cycle] = True
    return ring


def global_edges(graphs: GraphSet) -> tuple[Tensor, Tensor]:
    """Sources and targets of all edges as rows of the set's node columns, on the CPU."""
    offset = graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)
    source, target = (graphs.edge_index + offset).cpu()
    return source, target
