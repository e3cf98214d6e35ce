"""Forward passes of a trained model over a dataset, and the mapping from the rows it reads back to the nodes."""

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

__all__ = ["ForwardPass", "classifier", "forward_pass", "forward_passes", "members", "node_vectors", "opened"]

#: About how many nodes one forward pass takes; a larger graph has a pass of its own.
NODES_PER_PASS = 20_000


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """A batch of graphs and the rows that a model's readout reads.

    A row is usually the vector of one node. Pooling may drop a node, read it at several heights, or replace the nodes
    by clusters.

    Attributes:
        model: The model, in evaluation mode.
        batch: The graphs.
        encoding: The rows.
        clusters: DiffPool's soft assignment of nodes to clusters, [N, C]; None for other encoders.
    """

    model: GraphClassifier
    batch: GraphBatch | Graphs
    encoding: Encoding
    clusters: Tensor | None

    def read(self, x: Tensor) -> tuple[Reading, Tensor]:
        """The readout's reading and the class scores [B, C], with ``x`` as the vectors of the rows."""
        reading = self.model.read(replace(self.encoding, x=x), self.batch.batch_size)
        return reading, self.model.head(reading.vectors)

    def node_to_row(self) -> Tensor:
        """The row of every node, [N]: its own, or that of its largest cluster; -1 for a dropped node.

        A node read at several heights has its first row, the vector that includes all its neighbours.
        """
        if self.clusters is not None:
            return self.batch.batch * self.clusters.size(1) + self.clusters.argmax(dim=1)
        rows = torch.arange(self.batch.num_nodes, device=self.batch.x.device)
        return torch.where(self.encoding.batch[: len(rows)] < self.batch.batch_size, rows, -1)

    def rows_to_nodes(self, values: Tensor) -> Tensor:
        """Distributes values of rows [M, ...] over the nodes, [N, ...]. The sum stays; a dropped node gets 0.

        The value of a cluster is divided among its nodes in proportion to their assignment.
        """
        if self.clusters is None:
            kept = self.encoding.batch < self.batch.batch_size
            return self.encoding.added_up(values * kept.view(-1, *[1] * (values.dim() - 1)))
        size = segment.reduce_sum(self.clusters, self.batch.batch, self.batch.batch_size)
        shares = self.clusters / size.index_select(0, self.batch.batch).clamp(min=1e-30)
        by_graph = values.view(self.batch.batch_size, self.clusters.size(1), -1).index_select(0, self.batch.batch)
        return torch.einsum("nc,ncv->nv", shares, by_graph).view(-1, *values.shape[1:])


@torch.no_grad()
def forward_pass(model: GraphClassifier, batch: GraphBatch | Graphs) -> ForwardPass:
    """One forward pass of a model that is in evaluation mode."""
    clusters: list[Tensor] = []
    hook = None
    if isinstance(model.encoder, DiffPool):
        to_clusters = model.encoder.pool.to_clusters
        hook = to_clusters.register_forward_hook(lambda _, __, logits: clusters.append(logits.softmax(dim=-1)))
    try:
        encoding = model.encoder(batch)
        return ForwardPass(model, batch, encoding, clusters[0] if clusters else None)
    finally:
        if hook is not None:
            hook.remove()


def forward_passes(model: GraphClassifier, graphs: GraphSet) -> Iterator[ForwardPass]:
    """Yields forward passes over all graphs in order; meanwhile the model is in evaluation mode."""
    graphs = graphs.to(next(model.parameters()).device)
    training = model.training
    model.eval()
    try:
        for ids in _batches(graphs):
            yield forward_pass(model, graphs.batch(ids))
    finally:
        model.train(training)


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


def _batches(graphs: GraphSet) -> Iterator[Tensor]:
    """Yields graph numbers, about :data:`NODES_PER_PASS` nodes at a time."""
    batch = graphs.node_ptr[1:] // NODES_PER_PASS
    sizes = torch.unique_consecutive(batch, return_counts=True)[1].tolist()
    yield from torch.arange(len(graphs), device=graphs.device).split(sizes)
