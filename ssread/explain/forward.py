"""Forward passes of a trained model over a dataset, and the model inside whatever holds one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from ssread.data.batch import GraphBatch
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.models import GraphClassifier
from ssread.models.forward_pass import ForwardPass, forward_pass

__all__ = ["batches", "classifier", "evaluating", "forward_passes", "members", "node_vectors", "opened"]

#: About how many nodes one forward pass takes; a larger graph has a pass of its own.
NODES_PER_PASS = 20_000


def forward_passes(model: GraphClassifier, graphs: GraphSet) -> Iterator[ForwardPass]:
    """Yields forward passes over all graphs in order; meanwhile the model is in evaluation mode."""
    with evaluating([model]):
        for batch in batches(model, graphs):
            yield forward_pass(model, batch)


def batches(model: GraphClassifier, graphs: GraphSet) -> Iterator[GraphBatch]:
    """Yields all graphs in order, about :data:`NODES_PER_PASS` nodes at a time, on the device of a model."""
    graphs = graphs.to(next(model.parameters()).device)
    batch = graphs.node_ptr[1:] // NODES_PER_PASS
    sizes = torch.unique_consecutive(batch, return_counts=True)[1].tolist()
    for ids in torch.arange(len(graphs), device=graphs.device).split(sizes):
        if len(ids):
            yield graphs.batch(ids)


@contextmanager
def evaluating(models: Sequence[GraphClassifier]) -> Iterator[None]:
    """Puts models in evaluation mode for a while."""
    training = [model.training for model in models]
    for model in models:
        model.eval()
    try:
        yield
    finally:
        for model, before in zip(models, training, strict=True):
            model.train(before)


def node_vectors(model: Any, graphs: GraphSet) -> Tensor:
    """The vectors that the readout reads, one per node, [N, d]; zeros for nodes that pooling dropped."""
    model = classifier(model)
    parts = []
    for forward in forward_passes(model, graphs):
        row = forward.node_to_row()
        parts.append((forward.encoding.x[row.clamp(min=0)] * (row >= 0).unsqueeze(1)).cpu())
    return torch.cat(parts) if parts else torch.zeros(0, model.readout.in_channels)


def opened(model: Any) -> Any:
    """Returns the trained model in a folder or a fitted estimator; anything else as it is."""
    if isinstance(model, str | os.PathLike):
        from ssread.apply.trained_model import TrainedModel

        return TrainedModel.load(model)
    return getattr(model, "model_", model)  # set by fit of an estimator


def members(model: Any) -> list[GraphClassifier]:
    """Returns the members of an ensemble, or the only model, of anything :func:`classifier` takes."""
    model = opened(model)
    found = list(getattr(model, "models", [model]))
    if not all(isinstance(member, GraphClassifier) for member in found):
        raise InputError(f"A graph classifier, a trained model or its folder is needed, but {model!r} was given.")
    return found


def classifier(model: Any) -> GraphClassifier:
    """Returns the graph classifier inside a trained model, its folder or a fitted estimator.

    Args:
        model: A :class:`ssread.models.GraphClassifier`, a trained model or its folder, or a fitted estimator. For an
            ensemble this is the first member: positions of different members are not comparable.
    """
    return members(model)[0]
