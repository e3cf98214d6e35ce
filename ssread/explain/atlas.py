"""What each structural position means: its share, its typical nodes, what marks them out, the classes it speaks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.evaluate.statistics import holm
from ssread.explain.activation import activation
from ssread.explain.forward import node_vectors
from ssread.explain.node_facts import node_facts
from ssread.explain.positions import Positions, positions

__all__ = ["Exemplar", "Mark", "PositionCard", "prototype_atlas"]

#: How far the neighbourhood of an exemplar reaches.
HOPS = 2


@dataclass(frozen=True)
class Exemplar:
    """A node that stands for a position.

    Attributes:
        graph: Its graph's number in the set.
        node: Its number within the graph.
        cost: How far its vector is from the prototype.
        alike: How many nodes of the position have the same vector, this one included.
        neighbourhood: The nodes within two steps, by their numbers within the graph.
    """

    graph: int
    node: int
    cost: float
    alike: int
    neighbourhood: tuple[int, ...]


@dataclass(frozen=True)
class Mark:
    """A statement that is more often true of a position's nodes than of others.

    Attributes:
        statement: What it says, such as ``type O``, ``nitro group`` or ``in a ring``.
        inside: The share of the position's nodes it is true of.
        outside: The share of all other nodes.
        effect: Cohen's h, the effect size of two shares: 0.2 is small, 0.5 medium, 0.8 large.
        p: That graphs show so much difference by chance: paired t-test over the graphs that have nodes in and out of
            the position, after Holm's correction for all statements and positions. NaN with fewer than two graphs.
    """

    statement: str
    inside: float
    outside: float
    effect: float
    p: float


@dataclass(frozen=True)
class PositionCard:
    """What is known about one structural position.

    Attributes:
        position: Its number.
        share: The share of nodes aligned with it.
        graphs: The share of graphs that have a node there.
        cost: The mean cost of its nodes; NaN where there are none.
        exemplars: Its most typical nodes: the most frequent vectors among the half closest to the prototype.
        marks: What is over-represented, the largest effect first.
        class_scores: What an average node there adds to the score of each class, [C]: the position-specific weights at
            work (:func:`ssread.explain.activation`).
    """

    position: int
    share: float
    graphs: float
    cost: float
    exemplars: tuple[Exemplar, ...]
    marks: tuple[Mark, ...]
    class_scores: tuple[float, ...]


def prototype_atlas(
    model: Any, graphs: GraphSet, num_exemplars: int = 4, num_marks: int = 6, alpha: float = 0.05
) -> list[PositionCard]:
    """One card for every position of a model with SSRead.

    Args:
        model: What :func:`ssread.explain.classifier` takes.
        graphs: The graphs whose nodes are looked at.
        num_exemplars: How many typical nodes at most, each of another graph.
        num_marks: How many statements at most.
        alpha: Statements with a larger p-value are left out.
    """
    found = positions(model, graphs)
    scores = activation(model, graphs)
    vectors = node_vectors(model, graphs)
    marks = _marks(graphs, found)
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts.cpu())
    aligned = max(int((found.position >= 0).sum()), 1)
    cards = []
    for k in range(found.num_positions):
        members = (found.position == k).nonzero().squeeze(1)
        some = len(members) > 0
        cards.append(
            PositionCard(
                position=k,
                share=len(members) / aligned,
                graphs=len(graph[members].unique()) / max(len(graphs), 1),
                cost=float(found.cost[members].mean()) if some else float("nan"),
                exemplars=_exemplars(graphs, found, vectors, graph, members, num_exemplars),
                marks=tuple(mark for mark in marks[k] if mark.p <= alpha and mark.effect > 0)[:num_marks],
                class_scores=tuple(scores[members].mean(dim=0).tolist()) if some else (0.0,) * scores.size(1),
            )
        )
    return cards


def _marks(graphs: GraphSet, found: Positions) -> list[list[Mark]]:
    """Every statement for every position, the largest effect first, with p-values after Holm's correction."""
    facts = node_facts(graphs)
    K, G = found.num_positions, len(graphs)
    aligned = found.position >= 0
    graph = torch.arange(G).repeat_interleave(graphs.node_counts.cpu())[aligned]
    pair = graph * K + found.position[aligned]
    nodes = segment.count(pair, G * K).view(G, K).double().numpy()
    rest = nodes.sum(axis=1, keepdims=True) - nodes
    raw: list[tuple[int, str, float, float, float]] = []
    for statement, true in facts.items():
        inside = segment.reduce_sum(true[aligned].double(), pair, G * K).view(G, K).numpy()
        outside = inside.sum(axis=1, keepdims=True) - inside
        for k in range(K):
            both = (nodes[:, k] > 0) & (rest[:, k] > 0)
            if not both.any():
                continue
            gaps = inside[both, k] / nodes[both, k] - outside[both, k] / rest[both, k]
            share = float(inside[:, k].sum() / nodes[:, k].sum())
            other = float(outside[:, k].sum() / rest[:, k].sum())
            raw.append((k, statement, share, other, _p_value(gaps)))
    known = [p for *_, p in raw if np.isfinite(p)]
    corrected = iter(holm(known))
    marks: list[list[Mark]] = [[] for _ in range(K)]
    for k, statement, share, other, p in raw:
        effect = 2 * float(np.arcsin(np.sqrt(share)) - np.arcsin(np.sqrt(other)))
        marks[k].append(Mark(statement, share, other, effect, next(corrected) if np.isfinite(p) else p))
    return [sorted(of_position, key=lambda mark: -mark.effect) for of_position in marks]


def _p_value(gaps: np.ndarray) -> float:
    if len(gaps) < 2:
        return float("nan")
    if np.ptp(gaps) == 0:  # no spread at all: as sure as it can be, either way
        return 0.0 if gaps[0] != 0 else 1.0
    return float(stats.ttest_1samp(gaps, 0).pvalue)


def _exemplars(
    graphs: GraphSet, found: Positions, vectors: Tensor, graph: Tensor, members: Tensor, wanted: int
) -> tuple[Exemplar, ...]:
    if not len(members):
        return ()
    near = members[found.cost[members].argsort(stable=True)[: (len(members) + 1) // 2]]
    _, kind = (vectors[near] * 1e3).round().long().unique(dim=0, return_inverse=True)
    alike = segment.count(kind, int(kind.max()) + 1)
    first = segment.rank(kind, len(alike)) == 0  # the node of its kind that is closest to the prototype
    order = alike[kind[first]].argsort(descending=True, stable=True)
    chosen: list[Exemplar] = []
    for row, count in zip(near[first][order].tolist(), alike[kind[first]][order].tolist(), strict=True):
        number = int(graph[row])
        if len(chosen) == wanted:
            break
        if any(exemplar.graph == number for exemplar in chosen):
            continue
        node = row - int(graphs.node_ptr[number])
        around = _neighbourhood(graphs, number, node)
        chosen.append(Exemplar(number, node, float(found.cost[row]), count, around))
    return tuple(chosen)


def _neighbourhood(graphs: GraphSet, graph: int, node: int) -> tuple[int, ...]:
    source, target = graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].cpu()
    reached = torch.zeros(int(graphs.node_counts[graph]), dtype=torch.bool)
    reached[node] = True
    for _ in range(HOPS):
        reached[target[reached[source]]] = True
    return tuple(reached.nonzero().squeeze(1).tolist())
