"""What a prediction costs, for every task: the part of the loss that comes from what graphs are labelled with."""

import torch
import torch.nn.functional as F
from torch import Tensor

from ssread.data.task_names import CLASSIFICATION, MULTILABEL

__all__ = ["costs", "mean_and_scale"]


def costs(
    task: str, scores: Tensor, y: Tensor, scale: Tensor | None = None, class_weights: Tensor | None = None
) -> Tensor:
    """Returns the cost of every graph, [B]: cross entropy, or squared error in units of the targets' spread.

    Of several labels or numbers it is the mean; those that are not known cost nothing.

    Args:
        task: See :data:`ssread.data.task_names.TASKS`.
        scores: What the model's head returns, [B, outputs].
        y: Classes [B], negative for padding; labels or numbers [B, T], NaN where they are not known.
        scale: The spread of the numbers, [T].
        class_weights: How much every class counts, [C]; how much the labels 0 and 1 count, [2, T].
    """
    if task == CLASSIFICATION:
        return F.cross_entropy(scores, y.clamp(min=0), weight=class_weights, reduction="none")
    known = ~y.isnan()
    y = torch.where(known, y, 0)
    if task == MULTILABEL:
        cost = F.binary_cross_entropy_with_logits(scores, y, reduction="none")
        if class_weights is not None:
            cost = cost * torch.where(y > 0, class_weights[1], class_weights[0])
    else:
        assert scale is not None
        cost = ((scores - y) / scale).square()
    return torch.where(known, cost, 0).mean(dim=-1)


def mean_and_scale(y: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the mean and the standard deviation of every column of numbers, NaN left out; 0 and 1 without any.

    >>> mean_and_scale(torch.tensor([[1.0, torch.nan], [3.0, torch.nan]]))
    (tensor([2., 0.]), tensor([1., 1.]))
    """
    center = y.nanmean(dim=0).nan_to_num()
    scale = (y - center).square().nanmean(dim=0).sqrt().nan_to_num()
    return center, torch.where(scale > 0, scale, 1.0)
