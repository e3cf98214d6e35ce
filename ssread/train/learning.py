"""What a model may learn from, by name."""

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.models.factory import model_for
from ssread.train.objective import Objective, Supervised
from ssread.train.runs import Run

__all__ = ["LEARNING", "objective_for"]

#: The first needs classes, the others read no label.
LEARNING = ("supervised", "graphcl", "infograph")


def objective_for(graphs: GraphSet, run: Run) -> Objective:
    """The objective of a run around a new model with the sizes of a dataset."""
    if run.learn == "supervised":
        return Supervised(model_for(graphs, **run.model))
    raise InputError(f"There is no way to learn called {run.learn!r}. Choose from {', '.join(LEARNING)}.")
