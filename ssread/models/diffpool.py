"""DiffPool: soft clusters become the nodes of a smaller graph, computed from the sparse adjacency matrix."""

from math import ceil
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch_geometric.nn import DenseSAGEConv

from ssread import segment
from ssread.errors import InputError
from ssread.models.graphs import Encoder, Encoding, Graphs
from ssread.models.layers import Linear, WarmBatchNorm

__all__ = ["DiffPool", "DiffPooling", "Pooled", "SAGEConv", "diff_pool", "num_clusters"]


def num_clusters(max_nodes: int, ratio: float = 0.1, most: int = 100) -> int:
    """Returns the number of clusters for graphs of up to ``max_nodes`` nodes: a tenth, as in Table II.

    The original leaves out graphs of more than 1,000 nodes, so it has at most 100 clusters. Here no graph is left out,
    but the limit of 100 stays.

    >>> num_clusters(28), num_clusters(5748)  # MUTAG, DD
    (3, 100)
    """
    return max(1, min(ceil(ratio * max_nodes), most))


class Pooled(NamedTuple):
    """Pooled graphs of C clusters each, the two losses of every graph, and the largest cluster of every node."""

    x: Tensor  #: [B, C, d]
    adjacency: Tensor  #: [B, C, C]
    link_loss: Tensor  #: [B]
    entropy_loss: Tensor  #: [B]
    cluster: Tensor  #: [N]


def diff_pool(x: Tensor, logits: Tensor, graphs: Graphs) -> Pooled:
    r"""Pools nodes softly into clusters, for all graphs at once, without an N x N matrix.

    .. math::
        S = \mathrm{softmax}(\mathrm{logits}), \quad X' = S^\top X, \quad A' = S^\top (A S)

    The losses are those of the paper, per graph: :math:`\lVert A - S S^\top \rVert_F / n^2` and the mean entropy of the
    rows of S. PyG's ``dense_diff_pool`` computes the same for one graph. For several graphs it takes one norm over all
    and divides by the padded size, so that its losses depend on the batch. The squared norm is expanded to
    :math:`\lVert A \rVert^2 - 2 \, \mathrm{tr}(S^\top A S) + \lVert S^\top S \rVert^2`. Edges must not repeat.

    Args:
        x: Node vectors, [N, d].
        logits: The assignment of every node to C clusters before the softmax, [N, C].
        graphs: The graphs that the nodes belong to.
    """
    index, size = graphs.batch, graphs.batch_size
    S = logits.softmax(dim=-1)
    entering = graphs.neighbours.sum(S)  # A^T S: summed at the targets of the edges
    pooled = segment.outer(S, torch.cat([x, entering, S], dim=-1), index, size)
    pooled_x, transposed, overlap = pooled.split([x.size(1), S.size(1), S.size(1)], dim=-1)
    adjacency = transposed.mT

    edges = segment.count(index.index_select(0, graphs.source), size)
    within = adjacency.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
    squared = edges - 2 * within + overlap.square().sum(dim=(-2, -1))
    positive = squared > 0  # rounding may make it negative, and the root has no gradient at 0
    distance = torch.where(positive, torch.where(positive, squared, 1).sqrt(), 0)
    nodes = segment.count(index, size).clamp(min=1)
    entropy = -(S * logits.log_softmax(dim=-1)).sum(dim=-1)
    entropy_loss = segment.reduce_mean(entropy, index, size)
    return Pooled(pooled_x, adjacency, distance / nodes.square(), entropy_loss, S.detach().argmax(dim=-1))


class SAGEConv(nn.Module):
    r"""`"Inductive Representation Learning on Large Graphs" <https://arxiv.org/abs/1706.02216>`_ with the mean.

    .. math:: h_i' = W_l \, \mathrm{mean}_j \, h_j + b + W_r \, h_i

    PyG's ``SAGEConv`` computes the same and has parameters of the same names and shapes, but it stores a message for
    every edge. The sum over neighbours that all models here share stores none.
    """

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.lin_l = Linear(in_channels, out_channels)
        self.lin_r = Linear(in_channels, out_channels, bias=False)

    def forward(self, h: Tensor, graphs: Graphs, degree: Tensor) -> Tensor:
        """Maps node vectors [N, in] to node vectors [N, out]; ``degree`` [N, 1] is 1 for nodes without neighbours."""
        return self.lin_l(graphs.neighbours.sum(h) / degree) + self.lin_r(h)


class SAGEStack(nn.Module):
    """GraphSAGE layers, each with relu and batch norm; their outputs are concatenated."""

    def __init__(self, in_channels: int, hidden_channels: int, num_layers: int):
        super().__init__()
        inputs = [in_channels] + [hidden_channels] * (num_layers - 1)
        self.convs = nn.ModuleList(SAGEConv(width, hidden_channels) for width in inputs)
        self.norms = nn.ModuleList(WarmBatchNorm(hidden_channels) for _ in inputs)

    def forward(self, graphs: Graphs) -> Tensor:
        """Returns node vectors, [N, num_layers * hidden_channels]."""
        degree = segment.count(graphs.target, graphs.num_nodes).clamp(min=1).to(graphs.x.dtype).unsqueeze(-1)
        h, outputs = graphs.x, []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = norm(conv(h, graphs, degree).relu(), graphs.mask)
            outputs.append(h)
        return torch.cat(outputs, dim=-1)


class DiffPooling(nn.Module):
    """:func:`diff_pool` with an assignment computed by its own GraphSAGE layers."""

    def __init__(self, in_channels: int, hidden_channels: int, num_layers: int, num_clusters: int):
        super().__init__()
        self.assignment = SAGEStack(in_channels, hidden_channels, num_layers)
        self.to_clusters = nn.Linear(num_layers * hidden_channels, num_clusters)

    def forward(self, x: Tensor, graphs: Graphs) -> Pooled:
        """Pools the node vectors ``x`` [N, d]; the assignment depends on the graphs alone, not on ``x``."""
        return diff_pool(x, self.to_clusters(self.assignment(graphs)), graphs)


class DiffPool(Encoder):
    """`"Hierarchical Graph Representation Learning with Differentiable Pooling" <https://arxiv.org/abs/1806.08804>`_
    in the form of Table II: three GraphSAGE layers, one pooling, one GraphSAGE layer on the clusters.

    It returns the clusters as nodes: C of every graph that has nodes.

    Args:
        in_channels: Number of node features.
        hidden_channels: Width of the cluster vectors and of every layer.
        num_layers: Number of layers before the pooling.
        num_clusters: Clusters per graph, C; :func:`num_clusters` computes that of Table II for a dataset.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int = 128, num_layers: int = 3, num_clusters: int = num_clusters(100)
    ):
        super().__init__(in_channels, hidden_channels)
        if num_clusters < 1:
            raise InputError(f"diffpool needs num_clusters of 1 or more, but {num_clusters} was given.")
        self.num_clusters = num_clusters
        self.embedding = SAGEStack(in_channels, hidden_channels, num_layers)
        self.pool = DiffPooling(in_channels, hidden_channels, num_layers, num_clusters)
        self.conv = DenseSAGEConv(num_layers * hidden_channels, hidden_channels)
        self.norm = WarmBatchNorm(hidden_channels)

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the cluster vectors of checked graphs, [B * C, d], and the losses ``link`` and ``entropy``."""
        pooled = self.pool(self.embedding(graphs), graphs)
        clusters = self.conv(pooled.x, pooled.adjacency).relu().flatten(0, 1)
        real = torch.ones_like(graphs.x[:, :1]) if graphs.mask is None else graphs.mask
        real = segment.reduce_max(real, graphs.batch, graphs.batch_size).repeat_interleave(self.num_clusters, dim=0)
        graph = torch.arange(graphs.batch_size, device=clusters.device).repeat_interleave(self.num_clusters)
        some = (segment.count(graphs.batch, graphs.batch_size) > 0).repeat_interleave(self.num_clusters)
        batch = torch.where(some, graph, graphs.batch_size)
        losses = {"link": pooled.link_loss, "entropy": pooled.entropy_loss}
        row = graphs.batch * self.num_clusters + pooled.cluster
        ptr = torch.arange(graphs.batch_size + 1, device=clusters.device) * self.num_clusters
        return Encoding(self.norm(clusters, real), batch, losses, dropped=True, ptr=ptr, row=row)
