"""How right explanations are, where the truth is known: agreement of parts with roles, localisation of motifs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_mutual_info_score
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.explain.forward import probabilities

__all__ = ["Agreement", "Fidelity", "agreement", "fidelity", "localisation"]


@dataclass(frozen=True)
class Agreement:
    """How well parts of graphs agree with known roles of nodes.

    Attributes:
        mutual_information: Adjusted for chance: 0 is chance, 1 is the same division.
        purity: The share of nodes that have the commonest role of their part.
        consistency: How much more often than chance two nodes of the same role in different graphs are in the same
            part: 0 is chance, 1 is always.
    """

    mutual_information: float
    purity: float
    consistency: float


def agreement(part: Tensor, role: Tensor, graph: Tensor) -> Agreement:
    """Compares a division of nodes with the truth.

    Args:
        part: The part of every node, [N], from 0.
        role: The true role of every node, [N], from 0; nodes with a negative one are left out.
        graph: The graph of every node, [N].
    """
    known = role >= 0
    parts, roles, owners = (column[known].cpu().numpy() for column in (part, role, graph))
    if not len(parts):
        return Agreement(float("nan"), float("nan"), float("nan"))
    table = np.zeros((parts.max() + 1, roles.max() + 1), dtype=np.int64)
    np.add.at(table, (parts, roles), 1)
    purity = table.max(axis=1).sum() / len(parts)
    return Agreement(adjusted_mutual_info_score(roles, parts), float(purity), _consistency(parts, roles, owners))


def _consistency(part: np.ndarray, role: np.ndarray, graph: np.ndarray) -> float:
    """Cohen's kappa of pairs: (observed - expected) / (1 - expected)."""
    observed, pairs = _pairs_together(part, role, graph)
    expected, every = _pairs_together(part, np.zeros_like(role), graph)
    some = pairs > 0
    if not some.any() or every.sum() == 0:
        return float("nan")
    weight = np.bincount(role, minlength=len(pairs))[some]
    chance = float(expected.sum() / every.sum())
    found = float(np.average(observed[some] / pairs[some], weights=weight))
    return (found - chance) / (1 - chance) if chance < 1 else 0.0


def _pairs_together(part: np.ndarray, role: np.ndarray, graph: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of every role: pairs of its nodes in different graphs that share a part, and all pairs in different graphs."""
    roles, parts, graphs = role.max() + 1, part.max() + 1, graph.max() + 1

    def squares(key: np.ndarray, size: int, per: int) -> np.ndarray:
        return (np.bincount(key, minlength=size).astype(float) ** 2).reshape(roles, per).sum(axis=1)

    by_part = role * parts + part
    together = squares(by_part, roles * parts, parts)
    together -= squares(by_part * graphs + graph, roles * parts * graphs, parts * graphs)
    pairs = squares(role, roles, 1) - squares(role * graphs + graph, roles * graphs, graphs)
    return together, pairs


def localisation(scores: Tensor, truth: Tensor, graph: Tensor, num_graphs: int) -> Tensor:
    """How well scores find the true nodes of each graph: ROC-AUC, [G]; NaN where all nodes are true, or none.

    Args:
        scores: One value per node, [N].
        truth: Whether every node is one to be found, [N].
        graph: The graph of every node, [N].
        num_graphs: The number of graphs G.
    """
    truth = truth.to(torch.double)
    order = scores.double().argsort(stable=True)
    order = order[graph[order].argsort(stable=True)]
    level = torch.ones(len(order), dtype=torch.long)  # nodes of equal score in a graph share a mean rank
    same = (scores[order].diff() == 0) & (graph[order].diff() == 0)
    level[1:] = (~same).long()
    level = level.cumsum(0) - 1
    rank = torch.empty(len(order), dtype=torch.double)
    place = segment.rank(graph[order], num_graphs).double()
    tied = int(level[-1]) + 1 if len(level) else 0
    rank[order] = segment.reduce_mean(place, level, tied)[level]
    found = segment.reduce_sum(truth, graph, num_graphs)
    others = segment.count(graph, num_graphs) - found
    above = segment.reduce_sum(rank * truth, graph, num_graphs) - found * (found - 1) / 2
    return torch.where((found > 0) & (others > 0), above / (found * others), torch.nan)


@dataclass(frozen=True, eq=False)
class Fidelity:
    """What the best-scored nodes do to the probability of a class.

    Attributes:
        plus: How much it falls when they are removed, [G]: large is good.
        minus: How much it falls when only they are left, [G]: small is good.
    """

    plus: Tensor
    minus: Tensor


def fidelity(model: Any, graphs: GraphSet, scores: Tensor, target: Tensor, sizes: Tensor) -> Fidelity:
    """Removes the best-scored nodes of every graph, and all others, and looks at the probability of a class.

    Args:
        model: What :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
        scores: One value per node, [N].
        target: The class of every graph, [G].
        sizes: How many nodes of every graph count as the best, [G].
    """
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    best = segment.rank(graph, len(graphs), by=scores) < sizes[graph]

    def probability(some: GraphSet) -> Tensor:
        return probabilities(model, some).gather(1, target.unsqueeze(1)).squeeze(1)

    whole = probability(graphs)
    return Fidelity(whole - probability(_induced(graphs, ~best)), whole - probability(_induced(graphs, best)))


def _induced(graphs: GraphSet, kept: Tensor) -> GraphSet:
    """The same graphs with the kept nodes, and the edges among them, alone."""
    edge_graph = torch.arange(len(graphs)).repeat_interleave(graphs.edge_counts)
    ends = graphs.edge_index + graphs.node_ptr[edge_graph]
    edges = kept[ends[0]] & kept[ends[1]]
    before = torch.nn.functional.pad(kept.long().cumsum(0), (1, 0))
    node_ptr = before[graphs.node_ptr]
    edge_ptr = torch.nn.functional.pad(segment.count(edge_graph[edges], len(graphs)).cumsum(0), (1, 0))
    return replace(
        graphs,
        x=graphs.x[kept],
        node_ptr=node_ptr,
        edge_index=before[:-1][ends[:, edges]] - node_ptr[edge_graph[edges]],
        edge_ptr=edge_ptr,
        edge_attr=None if graphs.edge_attr is None else graphs.edge_attr[edges],
        node_columns={name: column[kept] for name, column in graphs.node_columns.items()},
    )
