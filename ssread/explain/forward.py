"""Passes of a trained model over a set of graphs, and the way from the rows it reads back to the nodes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ssread import segment
from ssread.data.batch import GraphBatch
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.models import Encoding, GraphClassifier, Graphs
from ssread.models.diffpool import DiffPool
from ssread.reading import Reading

__all__ = ["Pass", "classifier", "look", "node_vectors", "passes", "probabilities"]

#: Nodes looked at in one pass; a larger graph has a pass of its own.
NODES_AT_ONCE = 20_000


@dataclass(frozen=True, eq=False)
class Pass:
    """Some graphs and the node vectors that a model's readout reads of them.

    Attributes:
        model: The model, in evaluation mode.
        batch: The graphs.
        encoding: The rows that are read; those of a pooled graph may be fewer or others than the nodes.
        clusters: How much of every node is in each cluster, [N, C], where the rows are DiffPool's clusters.
    """

    model: GraphClassifier
    batch: GraphBatch | Graphs
    encoding: Encoding
    clusters: Tensor | None

    def read(self, x: Tensor) -> tuple[Reading, Tensor]:
        """The readout's reading and the class scores [B, C], with ``x`` in the place of the rows' vectors."""
        reading = self.model.read(replace(self.encoding, x=x), self.batch.batch_size)
        return reading, self.model.head(reading.vectors)

    def row_of_node(self) -> Tensor:
        """The row that stands for every node, [N]: its own, or its largest cluster's; -1 for a node dropped.

        Of a node that is read at several heights it is the first: the vector that has seen all its neighbours.
        """
        if self.clusters is not None:
            return self.batch.batch * self.clusters.size(1) + self.clusters.argmax(dim=1)
        rows = torch.arange(self.batch.num_nodes, device=self.batch.x.device)
        return torch.where(self.encoding.batch[: len(rows)] < self.batch.batch_size, rows, -1)

    def shared_out(self, values: Tensor) -> Tensor:
        """Values of rows [M, ...] as values of nodes [N, ...] of the same sum; a node dropped gets 0.

        What a cluster has is shared among its nodes by how much of each it holds.
        """
        if self.clusters is None:
            kept = self.encoding.batch < self.batch.batch_size
            return self.encoding.added_up(values * kept.view(-1, *[1] * (values.dim() - 1)))
        size = segment.reduce_sum(self.clusters, self.batch.batch, self.batch.batch_size)
        shares = self.clusters / size.index_select(0, self.batch.batch).clamp(min=1e-30)
        by_graph = values.view(self.batch.batch_size, self.clusters.size(1), -1).index_select(0, self.batch.batch)
        return torch.einsum("nc,ncv->nv", shares, by_graph).view(-1, *values.shape[1:])


@torch.no_grad()
def look(model: GraphClassifier, batch: GraphBatch | Graphs) -> Pass:
    """One pass of a model that is in evaluation mode."""
    seen: list[Tensor] = []
    hook = None
    if isinstance(model.encoder, DiffPool):
        to_clusters = model.encoder.pool.to_clusters
        hook = to_clusters.register_forward_hook(lambda _, __, logits: seen.append(logits.softmax(dim=-1)))
    try:
        encoding = model.encoder(batch)
        return Pass(model, batch, encoding, seen[0] if seen else None)
    finally:
        if hook is not None:
            hook.remove()


def passes(model: GraphClassifier, graphs: GraphSet) -> Iterator[Pass]:
    """The graphs in turn, as many at once as is good; the model is in evaluation mode meanwhile."""
    graphs = graphs.to(next(model.parameters()).device)
    training = model.training
    model.eval()
    try:
        for ids in _parts(graphs):
            yield look(model, graphs.batch(ids))
    finally:
        model.train(training)


def probabilities(model: Any, graphs: GraphSet) -> Tensor:
    """Class probabilities of every graph, [G, C]."""
    model = classifier(model)
    found = [part.read(part.encoding.x)[1].detach().softmax(dim=-1).cpu() for part in passes(model, graphs)]
    return torch.cat(found) if found else torch.zeros(0, graphs.num_classes)


def node_vectors(model: Any, graphs: GraphSet) -> Tensor:
    """The vectors that the readout reads, one per node, [N, d]; zeros for nodes that pooling dropped."""
    model = classifier(model)
    found = []
    for part in passes(model, graphs):
        row = part.row_of_node()
        found.append((part.encoding.x[row.clamp(min=0)] * (row >= 0).unsqueeze(1)).cpu())
    return torch.cat(found) if found else torch.zeros(0, model.readout.in_channels)


def classifier(model: Any) -> GraphClassifier:
    """The model to look into, from whatever holds one.

    Args:
        model: A :class:`ssread.models.GraphClassifier`, a trained model or its folder, or a fitted estimator. Of
            several members that vote, the first: positions of different trainings have nothing to do with each other.
    """
    if isinstance(model, str | os.PathLike):
        from ssread.apply.trained_model import TrainedModel

        model = TrainedModel.load(model)
    model = getattr(model, "model_", model)  # what fit of an estimator learnt
    members = getattr(model, "models", None)
    if members:
        model = members[0]
    if isinstance(model, GraphClassifier):
        return model
    raise InputError(f"A graph classifier, a trained model or its folder is needed, but {model!r} was given.")


def _parts(graphs: GraphSet) -> Iterator[Tensor]:
    """Graph numbers in parts of about :data:`NODES_AT_ONCE` nodes."""
    part = graphs.node_ptr[1:] // NODES_AT_ONCE
    sizes = torch.unique_consecutive(part, return_counts=True)[1].tolist()
    yield from torch.arange(len(graphs), device=graphs.device).split(sizes)
