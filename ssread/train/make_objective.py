"""What a model may learn from, by name."""

import math

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.models.factory import model_for
from ssread.train.graphcl import GraphCL
from ssread.train.infograph import InfoGraph
from ssread.train.objective import Objective, Supervised, balanced_weights
from ssread.train.runs import OBJECTIVES, Run

__all__ = ["make_objective"]


def make_objective(graphs: GraphSet, run: Run) -> Objective:
    """The objective of a run around a new model with the sizes of a dataset."""
    if run.learn == "supervised":
        assert graphs.y is not None
        weights = balanced_weights(graphs.y.cpu(), graphs.num_classes) if run.balanced else None
        return Supervised(model_for(graphs, **run.model), weights)
    model = model_for(graphs, **{**run.model, "num_classes": 1})  # the head is taken away again
    if run.learn == "graphcl":
        return GraphCL(model, walk_steps=math.ceil(graphs.x.size(0) / max(len(graphs), 1)))
    if run.learn == "infograph":
        return InfoGraph(model)
    raise InputError(f"There is no way to learn called {run.learn!r}. Choose from {', '.join(OBJECTIVES)}.")
