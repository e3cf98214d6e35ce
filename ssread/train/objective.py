"""What a model learns from: objectives map a batch to the losses to minimise."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ssread.models.classifier import GraphClassifier

__all__ = ["Objective", "Supervised", "Unlabelled", "mean"]


class Objective(nn.Module):
    """A model with its training loss; a module, so that further weights of the loss are trained with the model.

    Args:
        model: The model to train.
    """

    def __init__(self, model: GraphClassifier):
        super().__init__()
        self.model = model

    def forward(self, y: Tensor | None, real: Tensor | None, *graphs: Any) -> Tensor:
        """Returns the loss without the alignment loss, and the alignment loss, means over the real graphs, [2].

        Args:
            y: The class of every graph, [B], -1 for padding; None without labels.
            real: 1 for real graphs, 0 for padding, [B]; None if all are real.
            graphs: The arguments of :meth:`GraphClassifier.run`. A padded batch has one dummy graph more than ``real``.
        """
        raise NotImplementedError


class Supervised(Objective):
    """Cross entropy plus the encoder's auxiliary losses, and the alignment loss.

    Backpropagating their sum yields the gradients of Algorithm 1: the alignment loss reaches only the prototypes, the
    classification loss everything else.

    Args:
        model: The model to train.
        class_weights: How much a graph of each class counts, [C]; all the same by default.
    """

    class_weights: Tensor | None

    def __init__(self, model: GraphClassifier, class_weights: Tensor | None = None):
        super().__init__(model)
        self.register_buffer("class_weights", class_weights)

    def forward(self, y: Tensor | None, real: Tensor | None, *graphs: Any) -> Tensor:
        """See :class:`Objective`."""
        assert y is not None
        output = self.model.run(*graphs).first(y.size(0))
        per_graph = F.cross_entropy(output.logits, y.clamp(min=0), weight=self.class_weights, reduction="none")
        per_graph = per_graph + output.auxiliary_costs()
        return torch.stack([mean(per_graph, real), mean(output.alignment_costs(), real)])


class Unlabelled(Objective):
    """An objective that uses no labels. Its model has no head: the logits are the graph vectors themselves."""

    def __init__(self, model: GraphClassifier):
        super().__init__(model)
        model.head = nn.Identity()  # weights without a gradient would only decay


def balanced_weights(y: Tensor, num_classes: int) -> Tensor:
    """Returns class weights [C] such that all classes that occur count the same and a graph counts 1 on average.

    >>> balanced_weights(torch.tensor([0, 0, 0, 1]), 2)
    tensor([0.6667, 2.0000])
    """
    members = torch.bincount(y, minlength=num_classes)
    occurring = (members > 0).sum()
    return torch.where(members > 0, len(y) / (occurring * members.clamp(min=1)), 0.0)


def mean(per_graph: Tensor, real: Tensor | None) -> Tensor:
    """Returns the mean over the real graphs; 0 if there are none."""
    if real is None:
        return per_graph.mean()
    return (per_graph * real).sum() / real.sum().clamp(min=1)
