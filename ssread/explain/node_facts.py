"""Facts about nodes that need no model: graph, type, degree, ring membership, functional group."""

import networkx as nx
import torch
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import are_molecules
from ssread.errors import MissingExtraError
from ssread.explain.chemical_groups import GROUP_COLUMN, GROUPS, functional_groups

__all__ = ["graph_of_node", "in_ring", "node_facts"]

#: Degrees from here on share one fact.
MAX_DEGREE = 5


def graph_of_node(graphs: GraphSet) -> Tensor:
    """The number of every node's graph, [N], on the CPU."""
    return torch.arange(len(graphs)).repeat_interleave(graphs.node_counts.cpu())


def node_facts(graphs: GraphSet) -> dict[str, Tensor]:
    """Facts such as ``in a ring``, each with the nodes it holds for, [N]. Facts that hold for all or none are omitted.

    Types are the node features that are 0 or 1. Functional groups need molecules, and either RDKit or the node column
    that :func:`ssread.explain.chemical_groups.with_functional_groups` adds; otherwise they are omitted.
    """
    source, _ = _edges(graphs)
    degree = segment.count(source, graphs.x.size(0))
    facts = _type_facts(graphs)
    for count in range(MAX_DEGREE):
        facts["1 neighbour" if count == 1 else f"{count} neighbours"] = degree == count
    facts[f"{MAX_DEGREE} or more neighbours"] = degree >= MAX_DEGREE
    facts["in a ring"] = in_ring(graphs)
    once = {holds.numpy().tobytes(): name for name, holds in facts.items()}  # a feature may be a degree or a ring
    facts = {name: facts[name] for name in once.values()}
    if GROUP_COLUMN in graphs.node_columns or are_molecules(graphs):
        try:
            group = functional_groups(graphs)
            names = [name if name.endswith("ring") else f"{name} group" for name in GROUPS]
            facts |= {name: group == number for number, name in enumerate(names)}
        except MissingExtraError:  # the other facts do not need RDKit
            pass
    return {name: holds for name, holds in facts.items() if 0 < int(holds.sum()) < len(holds)}


def in_ring(graphs: GraphSet) -> Tensor:
    """Whether every node lies on a cycle, [N]: whether one of its edges is not a bridge."""
    source, target = _edges(graphs)
    network = nx.Graph(pair for pair in zip(source.tolist(), target.tolist(), strict=True) if pair[0] != pair[1])
    bridges = set(nx.bridges(network))
    ring = torch.zeros(graphs.x.size(0), dtype=torch.bool)
    on_cycle = [end for edge in network.edges if edge not in bridges and edge[::-1] not in bridges for end in edge]
    ring[on_cycle] = True
    return ring


def _type_facts(graphs: GraphSet) -> dict[str, Tensor]:
    """The node features that are 0 or 1 everywhere, as booleans [N]."""
    binary = ((graphs.x == 0) | (graphs.x == 1)).all(dim=0).tolist()
    return {
        name.replace("=", " ") if "=" in name else f"type {name}": graphs.x[:, column].bool().cpu()
        for column, (name, is_binary) in enumerate(zip(graphs.node_feature_names, binary, strict=False))
        if is_binary
    }


def _edges(graphs: GraphSet) -> tuple[Tensor, Tensor]:
    """Sources and targets of all edges as rows of the node columns, on the CPU."""
    offset = graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)
    source, target = (graphs.edge_index + offset).cpu()
    return source, target
