"""Known explanations: the role of every node, and the motif that decides the class of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import are_molecules
from ssread.errors import InputError
from ssread.explain.chemical_groups import GROUP_COLUMN, GROUPS, functional_groups
from ssread.explain.node_facts import graph_of_node

__all__ = ["DECIDING", "GroundTruth", "ground_truth"]

#: The node column that says which nodes decide the class of their graph.
DECIDING = "deciding"

#: The groups that make a molecule of Mutagenicity a mutagen (Debnath et al., 1991), and the name of that class.
MUTAGENIC_GROUPS = ("nitro", "amino")
MUTAGEN = "mutagen"


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """The ground truth about the nodes of a dataset.

    Attributes:
        roles: The role of every node, [N], to compare positions with; -1 where it is unknown.
        deciding: Whether a node belongs to the motif that decides its graph's class, [N]; None where that is unknown.
        description: Both in a few words, for the heading of a table.
    """

    roles: Tensor
    deciding: Tensor | None
    description: str

    def select(self, graphs: GraphSet, ids: Tensor) -> GroundTruth:
        """The ground truth about ``graphs[ids]``, where ``ids`` are in ascending order."""
        nodes = torch.isin(graph_of_node(graphs), ids)
        deciding = None if self.deciding is None else self.deciding[nodes]
        return GroundTruth(self.roles[nodes], deciding, self.description)

    def graphs_with_motif(self, graphs: GraphSet) -> Tensor:
        """The numbers of the graphs in which some nodes, but not all, are deciding."""
        if self.deciding is None:
            return torch.zeros(0, dtype=torch.long)
        motif_size = segment.reduce_sum(self.deciding.long(), graph_of_node(graphs), len(graphs))
        return ((motif_size > 0) & (motif_size < graphs.node_counts.cpu())).nonzero().squeeze(1)


def ground_truth(graphs: GraphSet) -> GroundTruth:
    """The ground truth of generated graphs (planted roles and motifs) or of molecules (functional groups).

    Among molecules, those labelled by a rule have a known motif (:mod:`ssread.explain.rules`), and those of
    Mutagenicity: the nitro and amino groups of mutagens.
    """
    if {"position", DECIDING} <= set(graphs.node_columns):
        deciding = graphs.node_columns[DECIDING].bool().cpu()
        roles = graphs.node_columns["position"].cpu()
        return GroundTruth(roles, deciding, "roles: planted; motif: the one that decides")
    if not (GROUP_COLUMN in graphs.node_columns or are_molecules(graphs)):
        raise InputError(
            f"Explanations of {graphs.name} cannot be scored, because the true roles of its nodes are unknown. Choose "
            "planted graphs or molecules."
        )
    group = functional_groups(graphs)
    if DECIDING in graphs.node_columns:
        deciding = graphs.node_columns[DECIDING].bool().cpu()
        return GroundTruth(group, deciding, "roles: functional groups (RDKit); motif: what decides by the rule")
    if MUTAGEN not in graphs.class_names or graphs.y is None:
        return GroundTruth(group, None, "roles: functional groups (RDKit)")
    motif = torch.isin(group, torch.tensor([list(GROUPS).index(name) for name in MUTAGENIC_GROUPS]))
    mutagen = (graphs.y == graphs.class_names.index(MUTAGEN)).cpu()
    deciding = motif & mutagen.repeat_interleave(graphs.node_counts.cpu())
    return GroundTruth(group, deciding, "roles: functional groups (RDKit); motif: nitro and amino groups of mutagens")
