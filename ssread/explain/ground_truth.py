"""What is known to be right: the role of every node, and the motif that decides the class of a graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import are_molecules
from ssread.errors import InputError
from ssread.explain.chemical_groups import COLUMN, GROUPS, functional_groups

__all__ = ["Truth", "known_truth"]

#: What makes a molecule of Mutagenicity a mutagen, as chemists know it (Debnath et al., 1991).
MUTAGENIC = ("nitro", "amino")
MUTAGEN = "mutagen"


@dataclass(frozen=True, eq=False)
class Truth:
    """Ground truth of a dataset.

    Attributes:
        roles: The role of every node, [N], to compare positions with; -1 where it is not known.
        deciding: Whether every node belongs to the motif that decides its graph's class, [N]; None where nobody knows.
        what: Both in a sentence, for the heading of a table.
    """

    roles: Tensor
    deciding: Tensor | None
    what: str


def known_truth(graphs: GraphSet) -> Truth:
    """The truth of generated graphs (planted roles and motifs) or of molecules (functional groups).

    Of molecules only Mutagenicity's have a known motif: nitro and amino groups of mutagens.
    """
    if {"position", "deciding"} <= set(graphs.node_columns):
        deciding = graphs.node_columns["deciding"].bool().cpu()
        return Truth(graphs.node_columns["position"].cpu(), deciding, "roles: planted; motif: the one that decides")
    if not (COLUMN in graphs.node_columns or are_molecules(graphs)):
        raise InputError(
            f"Nothing is known about the nodes of {graphs.name}, so explanations of it cannot be scored: take planted "
            f"graphs or molecules."
        )
    group = functional_groups(graphs)
    if MUTAGEN not in graphs.class_names or graphs.y is None:
        return Truth(group, None, "roles: functional groups (RDKit)")
    motif = torch.isin(group, torch.tensor([list(GROUPS).index(name) for name in MUTAGENIC]))
    mutagen = (graphs.y == graphs.class_names.index(MUTAGEN)).cpu()
    deciding = motif & mutagen.repeat_interleave(graphs.node_counts.cpu())
    return Truth(group, deciding, "roles: functional groups (RDKit); motif: nitro and amino groups of mutagens")


def with_motif(truth: Truth, graphs: GraphSet) -> Tensor:
    """The graphs in which some nodes but not all decide, by number."""
    if truth.deciding is None:
        return torch.zeros(0, dtype=torch.long)
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts.cpu())
    found = segment.reduce_sum(truth.deciding.long(), graph, len(graphs))
    return ((found > 0) & (found < graphs.node_counts.cpu())).nonzero().squeeze(1)
