"""What a model predicts: its task, the names of its outputs, its predictions, and what is known of the graphs."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ssread.data.classes import as_number
from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION
from ssread.explain.forward import classifier, forward_passes, opened
from ssread.models.predictions import predictions as from_scores

__all__ = ["Outputs", "outputs_of", "predictions"]

#: Names of classes that say nothing by themselves; so do numbers.
BARE = ("yes", "no", "true", "false", "active", "inactive", "positive", "negative")


@dataclass(frozen=True)
class Outputs:
    """What a model predicts.

    Attributes:
        task: See :data:`ssread.data.task_names.TASKS`.
        names: The name of each class, label or number.
        what: What the classes are classes of, such as the name of a column; None if unknown.
    """

    task: str
    names: tuple[str, ...]
    what: str | None = None

    @property
    def texts(self) -> list[str]:
        """The names for people: a class that is called 0 is ``class 0``, or ``mutagenic: 0``.

        >>> Outputs("classification", ("0", "mutagen")).texts
        ['class 0', 'mutagen']
        >>> Outputs("classification", ("no", "yes"), "mutagenic").texts
        ['mutagenic: no', 'mutagenic: yes']
        """
        if self.task != CLASSIFICATION:
            return list(self.names)
        return [self._text(name) for name in self.names]

    def _text(self, name: str) -> str:
        """The name of a class, with what it is a class of where it says little by itself."""
        if as_number(name) is None and not (self.what and name.lower() in BARE):
            return name
        return f"{self.what}: {name}" if self.what else f"class {name}"

    def known(self, graphs: GraphSet) -> Tensor | None:
        """What is known of the graphs, in the order of the names; None without labels, or with those of another task.

        Returns:
            Classes [G], -1 for a class that the model does not have; or labels or numbers [G, T], NaN where unknown.
        """
        if graphs.y is None or graphs.task != self.task:
            return None
        y, number_of = graphs.y.cpu(), {name: number for number, name in enumerate(self.names)}
        if self.task == CLASSIFICATION:
            return torch.tensor([number_of.get(name, -1) for name in graphs.class_names], dtype=torch.long)[y]
        known = y.new_full((len(graphs), len(self.names)), torch.nan)
        for name, column in zip(graphs.target_names, y.T, strict=True):
            if name in number_of:
                known[:, number_of[name]] = column
        return known

    def foreign(self, graphs: GraphSet) -> list[str]:
        """The classes, labels or numbers of the graphs that the model does not predict."""
        if graphs.y is None:
            return []
        return [name for name in graphs.output_names if graphs.task != self.task or name not in self.names]


def outputs_of(model: Any, graphs: GraphSet) -> Outputs:
    """What a model predicts; a bare graph classifier predicts what the graphs are labelled with."""
    model = opened(model)
    task = getattr(model, "task", graphs.task)
    names = tuple(getattr(model, "output_names", graphs.output_names))
    if not names:
        layers = [layer for layer in classifier(model).head.modules() if isinstance(layer, nn.Linear)]
        names = tuple(str(number) for number in range(layers[-1].out_features))
    return Outputs(task, names)


def predictions(model: Any, graphs: GraphSet) -> Tensor:
    """Predictions for every graph: probabilities of the classes [G, C] or of the labels [G, T], or numbers [G, T].

    Args:
        model: Anything :func:`ssread.explain.classifier` takes; of a trained model they are its own, the mean over the
            members.
        graphs: The graphs.
    """
    model = opened(model)
    outputs = outputs_of(model, graphs)
    if not len(graphs):
        return torch.zeros(0, len(outputs.names))
    if hasattr(model, "predictions"):  # a trained model, which also knows how its members vote
        return model.predictions(graphs).cpu()
    passes = forward_passes(classifier(model), graphs)
    scores = torch.cat([forward.read(forward.encoding.x)[1].detach().cpu() for forward in passes])
    return from_scores(outputs.task, scores)
