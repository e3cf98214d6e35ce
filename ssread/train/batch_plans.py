"""Which graphs go into which batch: the plan of an epoch is [steps, R, B] for R models, padded with -1."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from ssread.data.graphset import GraphSet

__all__ = ["even_plan", "full_plan", "large_batches_together", "pad"]


def full_plan(members: Sequence[Tensor], generators: Sequence[torch.Generator], batch_size: int) -> Tensor:
    """Plans an epoch over every model's own graphs, in random order; only the last batch of a model is smaller."""
    orders = pad([part[torch.randperm(len(part), generator=g)] for part, g in zip(members, generators, strict=True)])
    size = min(batch_size, orders.size(1))
    steps = -(-orders.size(1) // size)
    orders = F.pad(orders, (0, steps * size - orders.size(1)), value=-1)
    return orders.view(len(members), steps, size).transpose(0, 1).contiguous()


def even_plan(order: Tensor, batch_size: int) -> Tensor:
    """Plans an epoch over the graphs ``order`` [R, n] in as few batches as possible, whose sizes differ by at most one.

    Without labels, the graphs of a small last batch would have few negatives, or none.

    >>> even_plan(torch.arange(5).unsqueeze(0), batch_size=4).tolist()
    [[[0, 1, 2]], [[3, 4, -1]]]
    """
    steps = math.ceil(order.size(1) / batch_size)
    longest = math.ceil(order.size(1) / steps)
    parts = order.tensor_split(steps, dim=1)
    return torch.stack([F.pad(part, (0, longest - part.size(1)), value=-1) for part in parts])


def large_batches_together(plan: Tensor, graphs: GraphSet, epoch: int) -> Tensor:
    """Shuffles the batches of every model such that all models have their large batches in the same step.

    In a stack of models, the batches of a step are padded to the largest of them. So each model's batches are sorted by
    their number of nodes, and the ranks are shuffled. The order of ranks is the same for all models and does not depend
    on which models are trained together.

    Args:
        plan: The batches of an epoch.
        graphs: The dataset.
        epoch: The number of the epoch, which seeds the shuffle.
    """
    nodes = (graphs.node_counts.cpu()[plan.clamp(min=0)] * (plan >= 0)).sum(dim=2)
    ranks = torch.randperm(len(plan), generator=torch.Generator().manual_seed(epoch))
    step = nodes.argsort(dim=0, stable=True)[ranks]
    return plan.gather(0, step.unsqueeze(2).expand_as(plan))


def pad(parts: Sequence[Tensor]) -> Tensor:
    """Stacks lists of graphs as the rows of one matrix, padded with -1."""
    return torch.nn.utils.rnn.pad_sequence(list(parts), batch_first=True, padding_value=-1)
