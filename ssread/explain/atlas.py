"""The meaning of each structural position: its typical nodes, its over-represented properties, its activations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.evaluate.statistics import holm
from ssread.explain.consensus import Consensus, consensus
from ssread.explain.contributions import activation
from ssread.explain.forward import node_vectors
from ssread.explain.merging import merge_positions
from ssread.explain.node_facts import graph_of_node, node_facts
from ssread.explain.position_names import name_positions
from ssread.explain.positions import Positions

__all__ = ["Exemplar", "Level", "PositionCard", "Trait", "atlas_levels", "prototype_atlas"]

#: The radius of an exemplar's neighbourhood.
HOPS = 2


@dataclass(frozen=True)
class Exemplar:
    """A typical node of a position.

    Attributes:
        graph: The number of its graph in the dataset.
        node: Its number within the graph.
        cost: The distance of its vector from the prototype.
        num_alike: The number of nodes with the same vector in the half of the position closest to the prototype.
        neighbourhood: The nodes within two steps, by their numbers within the graph.
    """

    graph: int
    node: int
    cost: float
    num_alike: int
    neighbourhood: tuple[int, ...]


@dataclass(frozen=True)
class Trait:
    """A fact that holds more often for the nodes of a position than for other nodes.

    Attributes:
        fact: The fact, such as ``type O``, ``nitro group`` or ``in a ring``.
        inside: The share of the position's nodes it holds for.
        outside: The share of all other nodes it holds for.
        effect: Cohen's h, the effect size for two shares: 0.2 is small, 0.5 medium, 0.8 large.
        p: The p-value of a paired t-test over the graphs with nodes inside and outside the position, after Holm's
            correction for all facts and positions. NaN with fewer than two such graphs.
    """

    fact: str
    inside: float
    outside: float
    effect: float
    p: float


@dataclass(frozen=True)
class PositionCard:
    """A summary of one structural position.

    Attributes:
        position: Its number.
        name: What it means, in words (:func:`ssread.explain.position_names.name_positions`).
        share: The share of nodes aligned with it.
        graph_share: The share of graphs with a node aligned with it.
        cost: The mean cost of its nodes; NaN without nodes.
        exemplars: Its most typical nodes: the most frequent vectors among the half closest to the prototype.
        traits: Facts over-represented among its nodes, the largest effect first.
        activations: The mean activation of its nodes for each class, label or number
            (:func:`ssread.explain.contributions`): the effect of the position-specific weights.
    """

    position: int
    name: str
    share: float
    graph_share: float
    cost: float
    exemplars: tuple[Exemplar, ...]
    traits: tuple[Trait, ...]
    activations: tuple[float, ...]


@dataclass(frozen=True)
class Level:
    """The positions of a model, or groups of them when the most similar are merged.

    Attributes:
        groups: The group of every position, [K]; its own number where nothing is merged.
        cards: A card for every group.
    """

    groups: tuple[int, ...]
    cards: tuple[PositionCard, ...]


def prototype_atlas(
    model: Any, graphs: GraphSet, num_exemplars: int = 4, num_traits: int = 6, alpha: float = 0.05
) -> list[PositionCard]:
    """A card for every position of a model with SSRead: the first of :func:`atlas_levels`.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes; of an ensemble the positions are those of
            :func:`ssread.explain.consensus`.
        graphs: The graphs from which the positions are described.
        num_exemplars: The largest number of exemplars, each from another graph.
        num_traits: The largest number of traits.
        alpha: Traits with a larger p-value are omitted.
    """
    levels = atlas_levels(model, graphs, groups=[], num_exemplars=num_exemplars, num_traits=num_traits, alpha=alpha)
    return list(levels[0].cards)


def atlas_levels(
    model: Any,
    graphs: GraphSet,
    aligned: Positions | Consensus | None = None,
    groups: Sequence[Sequence[int]] | None = None,
    num_exemplars: int = 4,
    num_traits: int = 6,
    alpha: float = 0.05,
) -> list[Level]:
    """The cards of all positions, then of the groups that remain as the most similar positions are merged.

    Args:
        model: As in :func:`prototype_atlas`, like ``graphs``, ``num_exemplars``, ``num_traits`` and ``alpha``.
        aligned: The positions of the nodes; by default the consensus of the members.
        groups: The group of every position on each further level; by default :func:`merge_positions` decides.
    """
    aligned = consensus(model, graphs) if aligned is None else aligned
    K = aligned.num_positions
    vectors, facts, activations = node_vectors(model, graphs), node_facts(graphs), activation(model, graphs)
    groups = merge_positions(vectors, aligned.position, K) if groups is None else groups
    levels = []
    for of_position in [list(range(K)), *map(list, groups)]:
        number = torch.tensor([*of_position, -1])[aligned.position]  # -1 stays -1
        traits = _traits(graphs, facts, number, max(of_position) + 1)
        names = name_positions(traits, list(facts), alpha)
        cards = tuple(
            PositionCard(
                position=k,
                name=names[k],
                share=float((number == k).double().sum() / max(int((number >= 0).sum()), 1)),
                graph_share=len(graph_of_node(graphs)[number == k].unique()) / max(len(graphs), 1),
                cost=_mean(aligned.cost, number == k),
                exemplars=_exemplars(graphs, aligned.cost, vectors, (number == k).nonzero().squeeze(1), num_exemplars),
                traits=tuple(trait for trait in traits[k] if trait.p <= alpha and trait.effect > 0)[:num_traits],
                activations=tuple(activations[number == k].sum(0).div(max(int((number == k).sum()), 1)).tolist()),
            )
            for k in range(max(of_position) + 1)
        )
        levels.append(Level(tuple(of_position), cards))
    return levels


def _mean(values: Tensor, chosen: Tensor) -> float:
    return float(values[chosen].mean()) if bool(chosen.any()) else float("nan")


def _traits(graphs: GraphSet, facts: dict[str, Tensor], position: Tensor, K: int) -> list[list[Trait]]:
    """Every fact for every position, the largest effect first, with p-values after Holm's correction."""
    G = len(graphs)
    kept = position >= 0
    pair = graph_of_node(graphs)[kept] * K + position[kept]
    nodes_inside = segment.count(pair, G * K).view(G, K).double().numpy()
    nodes_outside = nodes_inside.sum(axis=1, keepdims=True) - nodes_inside
    tests: list[tuple[int, str, float, float, float]] = []
    for fact, holds in facts.items():
        inside = segment.reduce_sum(holds[kept].double(), pair, G * K).view(G, K).numpy()
        outside = inside.sum(axis=1, keepdims=True) - inside
        for k in range(K):
            both = (nodes_inside[:, k] > 0) & (nodes_outside[:, k] > 0)
            if not both.any():
                continue
            gaps = inside[both, k] / nodes_inside[both, k] - outside[both, k] / nodes_outside[both, k]
            share_inside = float(inside[:, k].sum() / nodes_inside[:, k].sum())
            share_outside = float(outside[:, k].sum() / nodes_outside[:, k].sum())
            tests.append((k, fact, share_inside, share_outside, _p_value(gaps)))
    corrected = holm([p for *_, p in tests])
    traits: list[list[Trait]] = [[] for _ in range(K)]
    for (k, fact, share_inside, share_outside, _), p in zip(tests, corrected, strict=True):
        effect = 2 * float(np.arcsin(np.sqrt(share_inside)) - np.arcsin(np.sqrt(share_outside)))
        traits[k].append(Trait(fact, share_inside, share_outside, effect, p))
    return [sorted(of_position, key=lambda trait: -trait.effect) for of_position in traits]


def _p_value(gaps: np.ndarray) -> float:
    """Of a t-test that the mean gap is 0; NaN for fewer than two gaps."""
    if len(gaps) < 2:
        return float("nan")
    if np.ptp(gaps) == 0:  # no variance, so no t statistic
        return 0.0 if gaps[0] != 0 else 1.0
    return float(stats.ttest_1samp(gaps, 0).pvalue)


def _exemplars(graphs: GraphSet, cost: Tensor, vectors: Tensor, members: Tensor, wanted: int) -> tuple[Exemplar, ...]:
    """The most frequent vectors among the half of the members closest to the prototype, one per graph."""
    if not len(members):
        return ()
    graph = graph_of_node(graphs)
    nearest = members[cost[members].argsort(stable=True)[: (len(members) + 1) // 2]]
    _, kind = (vectors[nearest] * 1e3).round().long().unique(dim=0, return_inverse=True)  # equal to three decimals
    counts = segment.count(kind, int(kind.max()) + 1)
    first = segment.rank(kind, len(counts)) == 0  # of equal vectors, the node closest to the prototype
    order = counts[kind[first]].argsort(descending=True, stable=True)
    chosen: list[Exemplar] = []
    for row, count in zip(nearest[first][order].tolist(), counts[kind[first]][order].tolist(), strict=True):
        number = int(graph[row])
        if len(chosen) == wanted:
            break
        if any(exemplar.graph == number for exemplar in chosen):
            continue
        node = row - int(graphs.node_ptr[number])
        chosen.append(Exemplar(number, node, float(cost[row]), count, _neighbourhood(graphs, number, node)))
    return tuple(chosen)


def _neighbourhood(graphs: GraphSet, graph: int, node: int) -> tuple[int, ...]:
    """The nodes within :data:`HOPS` steps of a node, by their numbers within the graph."""
    source, target = graphs.edge_index[:, graphs.edge_ptr[graph] : graphs.edge_ptr[graph + 1]].cpu()
    reached = torch.zeros(int(graphs.node_counts[graph]), dtype=torch.bool)
    reached[node] = True
    for _ in range(HOPS):
        reached[target[reached[source]]] = True
    return tuple(reached.nonzero().squeeze(1).tolist())
