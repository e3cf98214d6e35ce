"""Positions of several trainings: matched with each other, then counted, so that every node has the majority's."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["agreed", "consensus_of", "match_members", "match_positions", "matched", "votes"]

#: Matching with the votes of all members is repeated until nothing changes, at most so often.
MAX_ROUNDS = 20


def match_positions(reference: Tensor, other: Tensor, num_positions: int) -> Tensor:
    """The position of ``reference`` that each position of ``other`` corresponds to, [K], one to one.

    The matching maximises the number of nodes on which both agree (the Hungarian algorithm on co-assignment counts).

    Args:
        reference: The position of every node, [N], or votes for each of its positions, [N, K]; -1 for no position.
        other: The position of every node in another training, [N]; -1 for none.
        num_positions: The number of positions K.

    >>> match_positions(torch.tensor([0, 0, 1, 2]), torch.tensor([2, 2, 0, 0]), 3)
    tensor([1, 2, 0])
    """
    from scipy.optimize import linear_sum_assignment

    counts = votes(reference.unsqueeze(0), num_positions) if reference.dim() == 1 else reference
    known = other >= 0
    together = torch.zeros(num_positions, num_positions, dtype=torch.double)
    together.index_add_(0, other[known], counts[known].double())
    return torch.from_numpy(linear_sum_assignment(together.numpy(), maximize=True)[1])


def matched(position: Tensor, matching: Tensor) -> Tensor:
    """Positions [N] under the numbers of the reference that a matching [K] leads to; -1 stays."""
    return torch.where(position >= 0, matching[position.clamp(min=0)], -1)


def match_members(members: Sequence[Tensor], num_positions: int) -> Tensor:
    """For every member, the common number of each of its positions, [M, K].

    Positions are matched one to one with those of the first member, then with the votes of all members until nothing
    changes; a position keeps the number it has in the first member wherever the others allow it.

    Args:
        members: The position of every node by each member, [N] each; -1 for none.
        num_positions: The number of positions K.
    """
    matching = torch.stack([match_positions(members[0], position, num_positions) for position in members])
    for _ in range(MAX_ROUNDS):
        numbers = torch.stack([matched(p, row) for p, row in zip(members, matching, strict=True)])
        counts = votes(numbers, num_positions)
        again = torch.stack([match_positions(counts, position, num_positions) for position in members])
        if torch.equal(again, matching):
            break
        matching = again
    return matching


def votes(numbers: Tensor, num_positions: int) -> Tensor:
    """How many members give a node each position, [N, K], from positions [M, N] under common numbers; -1 for none."""
    return (numbers.unsqueeze(2) == torch.arange(num_positions, device=numbers.device)).sum(dim=0).float()


def agreed(numbers: Tensor, num_positions: int) -> Tensor:
    """The position that most members give a node, [N]; of equally many, that of the earliest member.

    Args:
        numbers: The position of every node by each member, [M, N], under common numbers; -1 for none.
        num_positions: The number of positions K.

    >>> agreed(torch.tensor([[0, 2, -1], [1, 1, -1], [1, 0, -1]]), 3)
    tensor([ 1,  2, -1])
    """
    counts = votes(numbers, num_positions).gather(1, numbers.clamp(min=0).T).T  # the votes for each member's position
    counts = torch.where(numbers >= 0, counts, 0)
    order = torch.arange(len(numbers), device=numbers.device).unsqueeze(1)
    first = torch.where(counts == counts.amax(dim=0), order, len(numbers)).amin(dim=0)
    return numbers.gather(0, first.unsqueeze(0)).squeeze(0)


def consensus_of(members: Sequence[Tensor], matching: Tensor | None, num_positions: int) -> Tensor:
    """The position that most members give a node, [N]; the first member's where it is not known how they correspond.

    Args:
        members: The position of every node by each member, [N] each; -1 for none.
        matching: What :func:`match_members` returned, [M, K], or None.
        num_positions: The number of positions K.
    """
    if matching is None or len(members) == 1:
        return members[0]
    rows = matching.to(members[0].device)
    return agreed(torch.stack([matched(p, row) for p, row in zip(members, rows, strict=True)]), num_positions)
