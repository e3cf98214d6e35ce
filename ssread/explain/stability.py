"""Whether different trainings give nodes the same positions: agreement of partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score
from torch import Tensor

from ssread.errors import InputError
from ssread.models.consensus import match_positions, matched

__all__ = ["Stability", "match_positions", "matched", "stability"]


@dataclass(frozen=True)
class Stability:
    """How far the positions of several trainings agree; means over all pairs of trainings.

    Attributes:
        mutual_information: Adjusted mutual information: 0 is chance, 1 is the same partition.
        share: The share of nodes with the same position once positions are matched one to one.
    """

    mutual_information: float
    share: float


def stability(trainings: Sequence[Tensor], num_positions: int) -> Stability:
    """Compares the positions that several trainings give the same nodes.

    Args:
        trainings: The position of every node, [N], by training, at least two; -1 for a node without a position.
        num_positions: The number of positions K.

    >>> import torch
    >>> same = [torch.tensor([0, 0, 1, 2]), torch.tensor([2, 2, 0, 1])]
    >>> stability(same, 3)
    Stability(mutual_information=1.0, share=1.0)
    """
    if len(trainings) < 2:
        raise InputError(f"Agreement needs two trainings or more, but {len(trainings)} was given.")
    values = []
    for first, second in combinations(trainings, 2):
        both = (first >= 0) & (second >= 0)
        if not bool(both.any()):
            values.append((float("nan"), float("nan")))
            continue
        share = (matched(second, match_positions(first, second, num_positions)) == first)[both].float().mean()
        values.append((adjusted_mutual_info_score(first[both].numpy(), second[both].numpy()), float(share)))
    mutual_information, share_of_nodes = np.mean(values, axis=0)
    return Stability(float(mutual_information), float(share_of_nodes))
