"""From the scores of a model's head to what is predicted."""

from torch import Tensor

from ssread.data.task_names import CLASSIFICATION, MULTILABEL

__all__ = ["predictions"]


def predictions(task: str, scores: Tensor) -> Tensor:
    """Returns probabilities of the classes, probabilities of the labels, or numbers, [..., outputs].

    >>> import torch
    >>> predictions("multilabel", torch.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """
    if task == CLASSIFICATION:
        return scores.softmax(dim=-1)
    return scores.sigmoid() if task == MULTILABEL else scores
