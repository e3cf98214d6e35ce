"""What a model learns from: objectives map a batch to the losses to minimise."""

from typing import Any

import torch
from torch import Tensor, nn

from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, REGRESSION
from ssread.models.classifier import GraphClassifier
from ssread.models.graph_features import center_and_spread
from ssread.models.layers import Unscale
from ssread.models.places import places_of
from ssread.train.costs import costs, mean_and_scale

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
            y: The class of every graph, [B], -1 for padding, or its labels or numbers, [B, T], NaN where they are not
                known; None without labels.
            real: 1 for real graphs, 0 for padding, [B]; None if all are real.
            graphs: The arguments of :meth:`GraphClassifier.run`. A padded batch has one dummy graph more than ``real``.
        """
        raise NotImplementedError

    def learnt_from(self, y: Tensor, graph_attr: Tensor | None = None) -> dict[str, Tensor]:
        """Returns the buffers, by name, that follow from the labels and features of the graphs of the training part."""
        return {}

    def placed_by(self, graphs: GraphSet, part: Tensor) -> dict[str, Tensor]:
        """Returns the buffers, by name, that follow from where the nodes of the training part are: see ``places``."""
        return {f"model.{name}": value for name, value in places_of(self.model, graphs, part).items()}


class Supervised(Objective):
    """The cost of what the model predicts plus the encoder's auxiliary losses, and the alignment loss.

    Backpropagating their sum yields the gradients of Algorithm 1: the alignment loss reaches only the prototypes, the
    classification loss everything else.

    Args:
        model: The model to train.
        task: What it predicts; see :data:`ssread.data.task_names.TASKS`.
        num_outputs: The number of classes, labels or numbers.
        balanced: Whether all classes count the same, however many graphs they have; of labels, 0 and 1.
    """

    class_weights: Tensor | None

    def __init__(self, model: GraphClassifier, task: str, num_outputs: int, balanced: bool = False):
        super().__init__(model)
        self._task, self._num_outputs = task, num_outputs
        shape = (num_outputs,) if task == CLASSIFICATION else (2, num_outputs)
        self.register_buffer("class_weights", torch.ones(shape) if balanced else None)

    def forward(self, y: Tensor | None, real: Tensor | None, *graphs: Any) -> Tensor:
        """See :class:`Objective`."""
        assert y is not None
        output = self.model.run(*graphs).first(y.size(0))
        scale = self._unscale.scale if self._task == REGRESSION else None
        per_graph = costs(self._task, output.logits, y, scale, self.class_weights) + output.auxiliary_costs()
        return torch.stack([mean(per_graph, real), mean(output.alignment_costs(), real)])

    def learnt_from(self, y: Tensor, graph_attr: Tensor | None = None) -> dict[str, Tensor]:
        """Returns class weights if classes are balanced, mean and scale of numbers and of features of whole graphs."""
        found: dict[str, Tensor] = {}
        if self.model.graph_features is not None and graph_attr is not None:
            center, spread = center_and_spread(graph_attr)
            found |= {"model.graph_features.center": center, "model.graph_features.spread": spread}
        if self._task == REGRESSION:
            average, scale = mean_and_scale(y)
            if found:
                found["model.graph_features.unit"] = scale
            return found | {"model.head.1.mean": average, "model.head.1.scale": scale}
        if self.class_weights is None:
            return found
        if self._task == CLASSIFICATION:
            return found | {"class_weights": balanced_weights(y, self._num_outputs)}
        columns = [balanced_weights(column[~column.isnan()].long(), 2) for column in y.T]
        return found | {"class_weights": torch.stack(columns, dim=1)}

    @property
    def _unscale(self) -> Unscale:
        assert isinstance(self.model.head, nn.Sequential)
        last = self.model.head[-1]
        assert isinstance(last, Unscale)
        return last


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
