"""Facts about nodes that need no model: type, place in the structure, functional group."""

from contextlib import suppress

import torch
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import are_molecules
from ssread.errors import MissingExtraError
from ssread.explain.atom_facts import atom_facts, group_facts
from ssread.explain.chemical_groups import GROUP_COLUMN
from ssread.explain.structure_facts import edges_of, graph_of_node, in_ring, structure_facts

__all__ = ["graph_of_node", "in_ring", "node_facts"]

#: How many pairs of types, the most frequent ones, are facts of the kind "N next to O".
MAX_PAIRS = 30


def node_facts(graphs: GraphSet) -> dict[str, Tensor]:
    """Facts such as ``in a ring``, each with the nodes it holds for, [N].

    Facts that hold for all nodes or none are omitted, and of facts that hold for the same nodes all but the first.
    Types are the node features that are 0 or 1. Facts about atoms need molecules, and either RDKit or the node column
    that :func:`ssread.explain.chemical_groups.with_functional_groups` adds; otherwise they are omitted.
    """
    facts: dict[str, Tensor] = {}
    if are_molecules(graphs):
        with suppress(MissingExtraError):  # the other facts do not need RDKit
            facts |= atom_facts(graphs)
    elif GROUP_COLUMN in graphs.node_columns:
        facts |= group_facts(graphs)
    types = _type_facts(graphs)
    facts |= structure_facts(graphs, "{} neighbours" if are_molecules(graphs) else "degree {}") | types
    if not are_molecules(graphs):
        facts |= _pairs(graphs, types)
    once: dict[bytes, str] = {}
    for name, holds in facts.items():
        once.setdefault(holds.numpy().tobytes(), name)
    return {name: facts[name] for name in once.values() if 0 < int(facts[name].sum()) < len(facts[name])}


def _type_facts(graphs: GraphSet) -> dict[str, Tensor]:
    """The node features that are 0 or 1 everywhere, as booleans [N]."""
    binary = ((graphs.x == 0) | (graphs.x == 1)).all(dim=0).tolist()
    return {
        name.replace("=", " ") if "=" in name else f"type {name}": graphs.x[:, column].bool().cpu()
        for column, (name, is_binary) in enumerate(zip(graphs.node_feature_names, binary, strict=False))
        if is_binary
    }


def _pairs(graphs: GraphSet, types: dict[str, Tensor]) -> dict[str, Tensor]:
    """Nodes of one type with a neighbour of another, such as ``type N next to O``, for the most frequent pairs."""
    one_hot = {name: holds for name, holds in types.items() if name.startswith("type ")}
    if len(one_hot) < 2:
        return {}
    source, target = edges_of(graphs)
    holds = torch.stack(list(one_hot.values()), dim=1)
    beside = segment.reduce_sum(holds[target].long(), source, len(holds)) > 0
    names = [name.removeprefix("type ") for name in one_hot]
    found = []
    for i, name in enumerate(one_hot):
        both = holds[:, i : i + 1] & beside
        found += [(int(both[:, j].sum()), f"{name} next to {other}", both[:, j]) for j, other in enumerate(names)]
    found.sort(key=lambda pair: -pair[0])
    return {name: pair for count, name, pair in found[:MAX_PAIRS] if count}
