"""Pooling that keeps a graph's best nodes, by masks: shapes never change, nodes stay where they are."""

import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import uniform

from ssread import segment
from ssread.errors import InputError
from ssread.models.gcn_conv import GCNConv, Propagation
from ssread.models.graphs import Graphs

__all__ = ["SAGPooling", "TopKPooling", "check_ratio", "keep_best"]


def keep_best(scores: Tensor, kept: Tensor, graphs: Graphs, ratio: float) -> Tensor:
    """Keeps the best ceil(ratio * n) of the n nodes still kept in every graph.

    Nodes of equal score are taken in the order they stand in, as by PyG: only there does the choice depend on the
    numbering of the nodes.

    Args:
        scores: One score per node, [N].
        kept: 1 for nodes still there, 0 for nodes dropped before, [N].
        graphs: The graphs.
        ratio: The share to keep, above 0 and at most 1.

    Returns:
        The new ``kept``, [N].
    """
    group = torch.where(kept > 0, graphs.batch, graphs.batch_size)  # dropped nodes compete among themselves
    place = segment.rank(group, graphs.batch_size + 1, by=scores.detach())
    remaining = segment.reduce_sum(kept, graphs.batch, graphs.batch_size)
    quota = (ratio * remaining).ceil().index_select(0, graphs.batch)
    return kept * (place < quota)


class TopKPooling(nn.Module):
    r"""`"Graph U-Nets" <https://arxiv.org/abs/1905.05178>`_: nodes are scored by a learnable projection.

    .. math:: s = X p / \lVert p \rVert, \quad X' = X \odot \tanh(s) \; \mathrm{for\ the\ best\ nodes}

    PyG's ``TopKPooling`` gives the same nodes; it removes the others, so that shapes depend on the data.
    """

    def __init__(self, in_channels: int, ratio: float):
        super().__init__()
        self.ratio = check_ratio(ratio)
        self.weight = nn.Parameter(torch.empty(1, in_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws a new projection."""
        uniform(self.weight.size(1), self.weight)

    def forward(self, x: Tensor, kept: Tensor, graphs: Graphs) -> tuple[Tensor, Tensor]:
        """Gated node vectors (zero where dropped) and the new ``kept``."""
        scores = (x * nn.functional.normalize(self.weight)).sum(dim=-1)  # 0, not NaN, where it has decayed to nothing
        kept = keep_best(scores, kept, graphs, self.ratio)
        return x * (scores.tanh() * kept).unsqueeze(-1), kept

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weight.size(1)}, ratio={self.ratio})"


class SAGPooling(nn.Module):
    r"""`"Self-Attention Graph Pooling" <https://arxiv.org/abs/1904.08082>`_: nodes are scored by a GCN layer.

    .. math:: s = \mathrm{GCN}(X, A), \quad X' = X \odot \tanh(s) \; \mathrm{for\ the\ best\ nodes}

    PyG's ``SAGPooling(GNN=GCNConv)`` gives the same nodes; it removes the others, so that shapes depend on the data.
    """

    def __init__(self, in_channels: int, ratio: float):
        super().__init__()
        self.ratio = check_ratio(ratio)
        self.gnn = GCNConv(in_channels, 1)

    def reset_parameters(self) -> None:
        """Draws new scoring weights."""
        self.gnn.reset_parameters()

    def forward(self, x: Tensor, kept: Tensor, graphs: Graphs, matrix: Propagation) -> tuple[Tensor, Tensor]:
        """Gated node vectors (zero where dropped) and the new ``kept``; ``matrix`` is that of the nodes so far."""
        scores = self.gnn(x, matrix).squeeze(-1)
        kept = keep_best(scores, kept, graphs, self.ratio)
        return x * (scores.tanh() * kept).unsqueeze(-1), kept

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.gnn.lin.in_features}, ratio={self.ratio})"


def check_ratio(ratio: float) -> float:
    """A share of nodes to keep, or a sentence."""
    if not 0 < ratio <= 1:
        raise InputError(f"A pooling ratio is a share of the nodes, above 0 and at most 1, but {ratio} was given.")
    return ratio
