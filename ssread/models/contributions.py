"""A score as a sum: what every node and every structural position adds to it, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ssread import segment
from ssread.aggregate.base import FlatAggregation
from ssread.data.batch import GraphBatch
from ssread.models.classifier import GraphClassifier
from ssread.models.consensus import consensus_of
from ssread.models.forward_pass import ForwardPass, forward_pass
from ssread.models.graphs import Graphs
from ssread.readout import SSRead

__all__ = ["Contributions", "ScoreParts", "contributions_of", "held_fixed", "left_over", "score_parts"]


@dataclass(frozen=True, eq=False, repr=False)
class Contributions:
    r"""The scores of graphs, each divided into terms that add up to it.

    .. math:: s = \sum_k c_k + r, \quad c_k = \frac{\partial s}{\partial \bar h_k} \cdot \bar h_k

    where :math:`s` is the score of a class or label before the softmax or sigmoid, or a predicted number in its unit,
    and :math:`\bar h_k` the vector of position k. With a linear head this is the score written out: the weights of a
    position times its vector, and a rest that is the same for every graph, the score of a graph without nodes. An MLP
    head is linear as long as the same hidden units are active: these are held fixed, and the rest is different for
    every graph.

    A position's term is the sum over its nodes, exactly with a sum, a mean, a maximum (every channel is credited to its
    largest node, or shared by equal ones) and attention (with its weights held fixed). Beside the nodes, set2set has a
    query, sort a bias, and a foreign PyG aggregation whatever its slope leaves over: these belong to the position, to
    none of its nodes.

    Attributes:
        nodes: What every node adds, [N, outputs]; 0 for a node that pooling dropped. The term of a DiffPool cluster is
            divided among its nodes.
        positions: What every position adds, [G, K, outputs]; K is 1 with the global readout. For an ensemble, whose
            members have positions of their own, it is the sum over the nodes that have the position by the consensus.
        rest: What is left: the bias, the shift of normalised vectors, and of an ensemble what belongs to no node,
            [G, outputs].
        position: The position of every node, [N]; -1 for a node that pooling dropped.
        graph: The graph of every node, [N].
        held_fixed: What must stay as it is for the terms to add up, in words.
        left_over: What positions hold beside their nodes, in words; empty where nodes account for everything.
        graph_features: What features of whole graphs add, [G, outputs]; None for a model without any.
    """

    nodes: Tensor
    positions: Tensor
    rest: Tensor
    position: Tensor
    graph: Tensor
    held_fixed: tuple[str, ...] = ()
    left_over: tuple[str, ...] = ()
    graph_features: Tensor | None = None

    @property
    def same_rest(self) -> bool:
        """Whether the rest is the same for every graph, and so the score of a graph without nodes."""
        largest = float(self.total().abs().max()) if len(self.rest) else 0.0
        return bool(((self.rest - self.rest[:1]).abs() <= 1e-4 * largest).all())

    def total(self) -> Tensor:
        """The scores, [G, outputs]."""
        of_nodes = self.positions.sum(dim=1) + self.rest
        return of_nodes if self.graph_features is None else of_nodes + self.graph_features

    def beside_nodes(self) -> Tensor:
        """What positions hold that no node accounts for, [G, outputs]; 0 where :attr:`left_over` is empty."""
        return self.positions.sum(dim=1) - segment.reduce_sum(self.nodes, self.graph, len(self.rest))

    def regrouped(self, position: Tensor, num_positions: int) -> Contributions:
        """The same scores with the nodes in other positions [N] (-1 for none), such as merged ones.

        What belongs to no node moves to the rest.
        """
        sums = sum_by_position(self.nodes, self.graph, position, len(self.rest), num_positions)
        rest = self.rest + self.positions.sum(dim=1) - sums.sum(dim=1)
        return replace(self, positions=sums, rest=rest, position=position)

    def __repr__(self) -> str:
        graphs, positions, outputs = self.positions.shape
        return f"Contributions({len(self.nodes)} nodes, {graphs} graphs, {positions} positions, {outputs} outputs)"


class ScoreParts(NamedTuple):
    """The parts of the scores of one model for one batch.

    Attributes:
        rows: What every row that the readout reads adds, [M, outputs].
        positions: What every position adds, [B, K, outputs].
        scores: The scores without what features of whole graphs add, [B, outputs].
    """

    rows: Tensor
    positions: Tensor
    scores: Tensor


#: What an MLP head holds fixed.
MLP_UNITS = "the active units of the head"


def held_fixed(model: GraphClassifier) -> tuple[str, ...]:
    """What must stay as it is for the terms of a score to add up, in words; empty where it is nothing."""
    layers = [layer for layer in model.head.modules() if isinstance(layer, nn.Linear)]
    return tuple(text for text in (MLP_UNITS if len(layers) > 1 else "", _aggregation(model).held_fixed) if text)


def left_over(model: GraphClassifier) -> tuple[str, ...]:
    """What positions hold beside their nodes, in words; empty where nodes account for everything."""
    return tuple(text for text in (_aggregation(model).beside_nodes,) if text)


def contributions_of(
    models: Sequence[GraphClassifier], batch: GraphBatch | Graphs, matching: Tensor | None = None
) -> Contributions:
    """The contributions to the mean score of the members of an ensemble, or of the only model.

    Args:
        models: The members, in evaluation mode and on the device of the batch.
        batch: The graphs.
        matching: How the positions of the members correspond, [M, K]
            (:func:`ssread.models.consensus.match_members`); where that is not known, nodes have the first member's.
    """
    passes = [forward_pass(model, batch) for model in models]
    parts = [score_parts(forward) for forward in passes]
    nodes = torch.stack([f.rows_to_nodes(p.rows) for f, p in zip(passes, parts, strict=True)]).mean(dim=0)
    scores = torch.stack([part.scores for part in parts]).mean(dim=0)
    position = consensus_of([_node_positions(f) for f in passes], matching, parts[0].positions.size(1))
    if len(models) == 1:
        positions = parts[0].positions
    else:
        positions = sum_by_position(nodes, batch.batch, position, len(scores), parts[0].positions.size(1))
    rest = scores - positions.sum(dim=1)
    fixed, beside = (tuple(dict.fromkeys(text for m in models for text in of(m))) for of in (held_fixed, left_over))
    features = _graph_features(models, batch)
    return Contributions(nodes, positions, rest, position, batch.batch, fixed, beside, features)


@torch.no_grad()
def _graph_features(models: Sequence[GraphClassifier], batch: GraphBatch | Graphs) -> Tensor | None:
    """What features of whole graphs add to the mean score of the members, [B, outputs]."""
    layers = [model.graph_features for model in models if model.graph_features is not None]
    if not layers or batch.graph_attr is None:
        return None
    return torch.stack([layer(batch.graph_attr) for layer in layers]).mean(dim=0)


def score_parts(forward: ForwardPass) -> ScoreParts:
    """The parts of the scores of one model, by one backward pass per output for all graphs at once."""
    model, encoding, size = forward.model, forward.encoding, forward.batch.batch_size
    K = model.readout.num_positions if isinstance(model.readout, SSRead) else 1
    rows, positions = [], []
    with torch.enable_grad():
        x = encoding.x.detach().clone().requires_grad_()
        vectors = _vectors(forward, x, K)
        scores = model.head(vectors if model.norm is None else model.norm(vectors))
        for number, score in enumerate(scores.sum(dim=0)):  # a graph's score depends on its own vector only
            of_rows, of_vectors = torch.autograd.grad(score, (x, vectors), retain_graph=number + 1 < scores.size(1))
            rows.append((of_rows * x).sum(dim=1).detach())
            positions.append((of_vectors * vectors).view(size, K, -1).sum(dim=2).detach())
    return ScoreParts(torch.stack(rows, dim=1), torch.stack(positions, dim=2), scores.detach())


def sum_by_position(nodes: Tensor, graph: Tensor, position: Tensor, num_graphs: int, num_positions: int) -> Tensor:
    """Adds up values of nodes [N, ...] for every position of every graph, [G, K, ...]; position -1 is left out."""
    kept = position >= 0
    pair = torch.where(kept, graph * num_positions + position, num_graphs * num_positions)
    sums = segment.reduce_sum(nodes, pair, num_graphs * num_positions + 1)[:-1]
    return sums.view(num_graphs, num_positions, *nodes.shape[1:])


def _vectors(forward: ForwardPass, x: Tensor, K: int) -> Tensor:
    """Graph vectors before their normalisation, [B, K * out], as sums over the rows ``x``."""
    encoding, size = forward.encoding, forward.batch.batch_size + int(forward.encoding.dropped)
    group = encoding.groups(size)
    if isinstance(forward.model.readout, SSRead):
        group = group * K + forward.model.readout.align(x.detach())
        x = forward.model.readout.aggregated(x)
    read = _aggregation(forward.model).as_sum(x, group, encoding.heights * size * K)
    return encoding.added_up(read.view(encoding.heights * size, -1))[: forward.batch.batch_size]


def _node_positions(forward: ForwardPass) -> Tensor:
    """The position of every node, [N]; 0 with the global readout, -1 for a node that pooling dropped."""
    row, readout = forward.node_to_row(), forward.model.readout
    aligned = readout.align(forward.encoding.x) if isinstance(readout, SSRead) else torch.zeros_like(row)
    return torch.where(row >= 0, aligned[row.clamp(min=0)] if len(row) else row, -1)


def _aggregation(model: GraphClassifier) -> FlatAggregation:
    return model.readout.per_position.aggr if isinstance(model.readout, SSRead) else model.readout.aggr
