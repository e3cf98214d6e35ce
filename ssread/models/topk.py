"""Pooling that keeps the nodes of a graph with the highest scores, by masks: shapes and places never change."""

import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import uniform

from ssread import kernels, segment
from ssread.errors import InputError
from ssread.models.gcn_conv import GCNConv, Propagation
from ssread.models.graphs import Graphs

__all__ = ["SAGPooling", "TopKPooling", "check_ratio", "keep_best"]


def keep_best(scores: Tensor, kept: Tensor, graphs: Graphs, ratio: float) -> Tensor:
    """Keeps the ceil(ratio * n) nodes with the highest scores of the n nodes kept so far in every graph.

    Nodes of equal score are kept in their order, as in PyG. Only then does the choice depend on the order of the nodes.

    Args:
        scores: One score per node, [N].
        kept: 0 for nodes dropped before and 1 for the others, [N].
        graphs: The graphs.
        ratio: The share to keep, above 0 and at most 1.

    Returns:
        The new ``kept``, [N].
    """
    if graphs.ptr is not None and kernels.usable(scores.unsqueeze(-1)):
        from ssread.kernels import best_nodes

        return best_nodes.keep_best(scores, kept, graphs.ptr, ratio)
    group = torch.where(kept > 0, graphs.batch, graphs.batch_size)  # dropped nodes are ranked apart from the others
    rank = segment.rank(group, graphs.batch_size + 1, by=scores.detach())
    remaining = segment.reduce_sum(kept, graphs.batch, graphs.batch_size)
    quota = (ratio * remaining).ceil().index_select(0, graphs.batch)
    return kept * (rank < quota)


class TopKPooling(nn.Module):
    r"""`"Graph U-Nets" <https://arxiv.org/abs/1905.05178>`_: nodes are scored by a learnable projection.

    .. math:: s = X p / \lVert p \rVert, \quad X' = X \odot \tanh(s) \; \mathrm{for\ the\ best\ nodes}

    PyG's ``TopKPooling`` keeps the same nodes but removes the others, so that shapes depend on the data.
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
        """Returns gated node vectors (zero for dropped nodes) and the new ``kept``."""
        scores = nn.functional.linear(x, nn.functional.normalize(self.weight)).squeeze(-1)  # 0 for a weight of 0
        kept = keep_best(scores, kept, graphs, self.ratio)
        return x * (scores.tanh() * kept).unsqueeze(-1), kept

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weight.size(1)}, ratio={self.ratio})"


class SAGPooling(nn.Module):
    r"""`"Self-Attention Graph Pooling" <https://arxiv.org/abs/1904.08082>`_: nodes are scored by a GCN layer.

    .. math:: s = \mathrm{GCN}(X, A), \quad X' = X \odot \tanh(s) \; \mathrm{for\ the\ best\ nodes}

    PyG's ``SAGPooling(GNN=GCNConv)`` keeps the same nodes but removes the others, so that shapes depend on the data.
    """

    def __init__(self, in_channels: int, ratio: float):
        super().__init__()
        self.ratio = check_ratio(ratio)
        self.gnn = GCNConv(in_channels, 1)

    def reset_parameters(self) -> None:
        """Draws new scoring weights."""
        self.gnn.reset_parameters()

    def forward(self, x: Tensor, kept: Tensor, graphs: Graphs, matrix: Propagation) -> tuple[Tensor, Tensor]:
        """Returns gated node vectors (zero for dropped nodes) and the new ``kept``; ``matrix`` is that of ``kept``."""
        scores = self.gnn(x, matrix).squeeze(-1)
        kept = keep_best(scores, kept, graphs, self.ratio)
        return x * (scores.tanh() * kept).unsqueeze(-1), kept

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.gnn.lin.in_features}, ratio={self.ratio})"


def check_ratio(ratio: float) -> float:
    """Returns the ratio if it is above 0 and at most 1; raises an ``InputError`` otherwise."""
    if not 0 < ratio <= 1:
        raise InputError(f"A pooling ratio must be above 0 and at most 1, but {ratio} was given.")
    return ratio
