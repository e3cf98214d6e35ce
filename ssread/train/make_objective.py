"""Objectives by name: what a model may learn from."""

import math
from typing import Any

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.models.classifier import GraphClassifier
from ssread.models.factory import model_for
from ssread.train.graphcl import GraphCL
from ssread.train.infograph import InfoGraph
from ssread.train.objective import Objective, Supervised
from ssread.train.runs import OBJECTIVES, Run

__all__ = ["make_objective", "model_of"]


def model_of(graphs: GraphSet, run: Run, **arguments: Any) -> GraphClassifier:
    """Makes the model of a run for a dataset. A run that does not mention ``normalize`` does not normalise."""
    return model_for(graphs, **{"normalize": False, **run.model, **arguments})


def make_objective(graphs: GraphSet, run: Run) -> Objective:
    """Makes the objective of a run for a dataset, with a new model."""
    if run.learn == "supervised":
        return Supervised(model_of(graphs, run), graphs.task, len(graphs.output_names), run.balanced)
    if run.model.get("position_hops") is not None:
        raise InputError("Positions from the structure are for models that learn from labels: leave position_hops out.")
    model = model_of(graphs, run, num_classes=1, graph_channels=0)  # its head is removed
    if run.learn == "graphcl":
        return GraphCL(model, walk_steps=math.ceil(graphs.x.size(0) / max(len(graphs), 1)))
    if run.learn == "infograph":
        return InfoGraph(model)
    raise InputError(f"There is no way to learn called {run.learn!r}. Choose from {', '.join(OBJECTIVES)}.")
