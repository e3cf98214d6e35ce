"""One forward pass of a classifier in evaluation mode, and the mapping from the rows it reads back to the nodes."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ssread import segment
from ssread.data.batch import GraphBatch
from ssread.models.classifier import GraphClassifier
from ssread.models.diffpool import DiffPool
from ssread.models.graphs import Encoding, Graphs
from ssread.reading import Reading

__all__ = ["ForwardPass", "forward_pass"]


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
        return reading, self.model.score(reading.vectors, self.batch.graph_attr)

    def node_to_row(self) -> Tensor:
        """The row of every node, [N]; -1 for a dropped node: see :meth:`Encoding.node_rows`."""
        return self.encoding.node_rows(self.batch.batch_size)

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
