"""Measures of explanations against the ground truth: agreement of positions with roles, localisation of motifs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_mutual_info_score
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.explain.node_facts import graph_of_node
from ssread.explain.outputs import predictions

__all__ = ["Agreement", "Fidelity", "agreement", "average_precision", "fidelity", "induced_subgraphs", "localisation"]


@dataclass(frozen=True)
class Agreement:
    """How well clusters of nodes (or positions) agree with known roles.

    Attributes:
        mutual_information: Adjusted mutual information: 0 is chance, 1 is the same partition.
        purity: The share of nodes with the most frequent role of their cluster.
        consistency: How much more often than by chance two nodes of the same role in different graphs share a
            cluster: 0 is chance, 1 is always.
    """

    mutual_information: float
    purity: float
    consistency: float


def agreement(cluster: Tensor, role: Tensor, graph: Tensor) -> Agreement:
    """Compares a clustering of nodes with their true roles.

    Args:
        cluster: The cluster of every node, [N], from 0.
        role: The true role of every node, [N], from 0; nodes with a negative role are ignored.
        graph: The graph of every node, [N].
    """
    known = role >= 0
    clusters, roles, owners = (column[known].cpu().numpy() for column in (cluster, role, graph))
    if not len(clusters):
        return Agreement(float("nan"), float("nan"), float("nan"))
    table = np.zeros((clusters.max() + 1, roles.max() + 1), dtype=np.int64)
    np.add.at(table, (clusters, roles), 1)
    purity = table.max(axis=1).sum() / len(clusters)
    return Agreement(adjusted_mutual_info_score(roles, clusters), float(purity), _consistency(clusters, roles, owners))


def _consistency(cluster: np.ndarray, role: np.ndarray, graph: np.ndarray) -> float:
    """Cohen's kappa of pairs: (observed - expected) / (1 - expected)."""
    together, pairs = _count_pairs(cluster, role, graph)
    all_together, all_pairs = _count_pairs(cluster, np.zeros_like(role), graph)
    has_pairs = pairs > 0
    if not has_pairs.any() or all_pairs.sum() == 0:
        return float("nan")
    nodes = np.bincount(role, minlength=len(pairs))[has_pairs]
    observed = float(np.average(together[has_pairs] / pairs[has_pairs], weights=nodes))
    expected = float(all_together.sum() / all_pairs.sum())
    return (observed - expected) / (1 - expected) if expected < 1 else 0.0


def _count_pairs(cluster: np.ndarray, role: np.ndarray, graph: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every role, the pairs of its nodes in different graphs: those that share a cluster, and all of them."""
    roles, clusters, graphs = role.max() + 1, cluster.max() + 1, graph.max() + 1

    def squares(key: np.ndarray, per_role: int) -> np.ndarray:
        counts = np.bincount(key, minlength=roles * per_role).astype(float)
        return (counts**2).reshape(roles, per_role).sum(axis=1)

    by_cluster = role * clusters + cluster
    together = squares(by_cluster, clusters) - squares(by_cluster * graphs + graph, clusters * graphs)
    pairs = squares(role, 1) - squares(role * graphs + graph, graphs)
    return together, pairs


def localisation(scores: Tensor, truth: Tensor, graph: Tensor, num_graphs: int) -> Tensor:
    """How well scores find the true nodes of each graph: ROC-AUC, [G]; NaN where all nodes are true, or none.

    Args:
        scores: The score of every node, [N].
        truth: Whether a node should be found, [N].
        graph: The graph of every node, [N].
        num_graphs: The number of graphs G.
    """
    truth = truth.to(torch.double)
    order, level, num_levels = _levels(scores, graph)
    rank = torch.empty(len(order), dtype=torch.double)
    rank[order] = segment.reduce_mean(segment.rank(graph[order], num_graphs).double(), level, num_levels)[level]
    positives = segment.reduce_sum(truth, graph, num_graphs)
    negatives = segment.count(graph, num_graphs) - positives
    wins = segment.reduce_sum(rank * truth, graph, num_graphs) - positives * (positives - 1) / 2
    return torch.where((positives > 0) & (negatives > 0), wins / (positives * negatives), torch.nan)


def average_precision(scores: Tensor, truth: Tensor, graph: Tensor, num_graphs: int) -> Tensor:
    """The average precision of scores in each graph, [G]; NaN where no node is true. Arguments: :func:`localisation`.

    Nodes with equal scores are found together.
    """
    order, level, num_levels = _levels(-scores.double(), graph)
    true_here = segment.reduce_sum(truth[order].to(torch.double), level, num_levels)
    found_here = segment.count(level, num_levels)
    owner = torch.zeros(num_levels, dtype=torch.long).index_copy(0, level, graph[order])
    true_so_far, found_so_far = (_within_graph(counts, owner, num_graphs) for counts in (true_here, found_here))
    total = segment.reduce_sum(true_here, owner, num_graphs)
    precision = segment.reduce_sum(true_here * true_so_far / found_so_far, owner, num_graphs)
    return torch.where(total > 0, precision / total, torch.nan)


def _levels(scores: Tensor, graph: Tensor) -> tuple[Tensor, Tensor, int]:
    """Nodes by graph and ascending score, [N]; the level of each in this order, shared by equal scores of a graph; how
    many levels there are."""
    order = scores.double().argsort(stable=True)
    order = order[graph[order].argsort(stable=True)]
    level = torch.ones(len(order), dtype=torch.long)
    tied = (scores[order].diff() == 0) & (graph[order].diff() == 0)
    level[1:] = (~tied).long()
    level = level.cumsum(0) - 1
    return order, level, int(level[-1]) + 1 if len(level) else 0


def _within_graph(counts: Tensor, owner: Tensor, num_graphs: int) -> Tensor:
    """Running sums that begin anew in every graph; rows are in the order of the graphs."""
    total = counts.cumsum(0)
    before = torch.nn.functional.pad(segment.reduce_sum(counts, owner, num_graphs).cumsum(0), (1, 0))
    return total - before[owner]


@dataclass(frozen=True, eq=False)
class Fidelity:
    """The effect of the top-scored nodes on the probability of a class.

    Attributes:
        plus: How much the probability falls without them, [G]: large is good.
        minus: How much the probability falls with only them, [G]: small is good.
        sufficient: Whether the class is still the most probable with only them, [G].
    """

    plus: Tensor
    minus: Tensor
    sufficient: Tensor


def fidelity(model: Any, graphs: GraphSet, scores: Tensor, target: Tensor, sizes: Tensor) -> Fidelity:
    """Measures the probability of a class without the top-scored nodes of every graph, and with only them.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
        scores: The score of every node, [N].
        target: The class of every graph, [G].
        sizes: The number of top-scored nodes of every graph, [G].
    """
    graph = graph_of_node(graphs)
    top = segment.rank(graph, len(graphs), by=scores) < sizes[graph]

    parts = [
        predictions(model, given) for given in (graphs, *(induced_subgraphs(graphs, kept) for kept in (~top, top)))
    ]
    whole, without_top, only_top = (part.gather(1, target.unsqueeze(1)).squeeze(1) for part in parts)
    return Fidelity(whole - without_top, whole - only_top, parts[2].argmax(dim=1) == target)


def induced_subgraphs(graphs: GraphSet, kept: Tensor) -> GraphSet:
    """The same graphs with only the ``kept`` nodes [N] and the edges among them."""
    edge_graph = torch.arange(len(graphs)).repeat_interleave(graphs.edge_counts)
    ends = graphs.edge_index + graphs.node_ptr[edge_graph]
    edges = kept[ends[0]] & kept[ends[1]]
    kept_before = torch.nn.functional.pad(kept.long().cumsum(0), (1, 0))
    node_ptr = kept_before[graphs.node_ptr]
    edge_ptr = torch.nn.functional.pad(segment.count(edge_graph[edges], len(graphs)).cumsum(0), (1, 0))
    return replace(
        graphs,
        x=graphs.x[kept],
        node_ptr=node_ptr,
        edge_index=kept_before[:-1][ends[:, edges]] - node_ptr[edge_graph[edges]],
        edge_ptr=edge_ptr,
        edge_attr=None if graphs.edge_attr is None else graphs.edge_attr[edges],
        node_columns={name: column[kept] for name, column in graphs.node_columns.items()},
    )
