"""Consensus positions of an ensemble: members' positions matched, then a majority vote with its certainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.explain.forward import members, opened
from ssread.explain.positions import Positions, positions
from ssread.explain.stability import Stability, stability
from ssread.models.consensus import agreed, match_members, matched, votes

__all__ = ["Consensus", "consensus", "majority", "stored_matching"]


@dataclass(frozen=True, eq=False, repr=False)
class Consensus:
    """The consensus positions of an ensemble for every node of a dataset.

    Attributes:
        position: The position that most members give a node, [N]; of equally many, that of the earliest member. -1 for
            a node that no member has a position for.
        certainty: The share of members that give the node this position, [N]; 0 where there is none.
        shares: The share of members for every position, [N, K].
        cost: The mean cost of the position over the members, [N]; NaN where there is none.
        weights: The soft alignment, averaged over the members, [N, K].
        matching: For every member, the consensus position of each of its own, [M, K].
        stability: How far members agree with each other; None with a single model.
    """

    position: Tensor
    certainty: Tensor
    shares: Tensor
    cost: Tensor
    weights: Tensor
    matching: Tensor
    stability: Stability | None

    @property
    def num_positions(self) -> int:
        """The number of positions K."""
        return self.shares.size(1)

    def __repr__(self) -> str:
        members = f"{len(self.matching)} member{'s' if len(self.matching) > 1 else ''}"
        return f"Consensus({len(self.position)} nodes, {self.num_positions} positions, {members})"


def consensus(model: Any, graphs: GraphSet, matching: Tensor | None = None) -> Consensus:
    """The positions on which the members of an ensemble agree, and how sure each node's position is.

    Positions of different trainings have different numbers, so they are matched first
    (:func:`ssread.models.consensus.match_members`). A single model is its own consensus, with certainty 1. Predictions,
    contributions, pages and exported models report these positions.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes, with SSRead as its readout.
        graphs: The graphs.
        matching: ``Consensus.matching`` of other graphs, [M, K], to number the positions of a few graphs as there. By
            default that of the training set, which a trained model keeps, and without one these graphs decide.
    """
    model = opened(model)
    of_members = [positions(member, graphs) for member in members(model)]
    count = of_members[0].num_positions
    own = [member.position for member in of_members]
    matching = stored_matching(model) if matching is None else torch.as_tensor(matching)
    matching = match_members(own, count) if matching is None else matching
    numbers = torch.stack([matched(position, row) for position, row in zip(own, matching, strict=True)])
    position, shares = agreed(numbers, count), votes(numbers, count) / len(own)
    weights = torch.stack([_renumbered(member, row) for member, row in zip(of_members, matching, strict=True)])
    costs = torch.stack([member.cost for member in of_members])
    agreeing = numbers == position
    cost = torch.where(agreeing, costs, 0).sum(dim=0) / agreeing.sum(dim=0)
    return Consensus(
        position=position,
        certainty=_certainty(shares),
        shares=shares,
        cost=torch.where(position >= 0, cost, torch.nan),
        weights=weights.mean(dim=0),
        matching=matching,
        stability=stability(own, count) if len(own) > 1 and len(graphs.x) else None,
    )


def stored_matching(model: Any) -> Tensor | None:
    """How the members' positions correspond by what is stored with a model, [M, K]; None where nothing is."""
    return getattr(opened(model), "matching", None)


def majority(trainings: list[Tensor], num_positions: int) -> tuple[Tensor, Tensor]:
    """The position that most of several trainings give every node, [N], and the share of trainings that do, [N].

    Args:
        trainings: The position of every node by training, [N] each; they are matched with each other first.
        num_positions: The number of positions K.
    """
    matching = match_members(trainings, num_positions)
    numbers = torch.stack([matched(p, row) for p, row in zip(trainings, matching, strict=True)])
    return agreed(numbers, num_positions), _certainty(votes(numbers, num_positions) / len(trainings))


def _certainty(shares: Tensor) -> Tensor:
    return shares.amax(dim=1) if len(shares) else shares.new_zeros(0)


def _renumbered(member: Positions, matching: Tensor) -> Tensor:
    """The soft weights of a member, [N, K], under the numbers of the consensus."""
    return member.weights[:, matching.argsort()]
