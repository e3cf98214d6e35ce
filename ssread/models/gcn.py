"""The paper's base classifier: GCN layers that know their edges."""

import torch
from torch import Tensor, nn

from ssread import segment
from ssread.models.graphs import Graphs
from ssread.models.layers import EdgeMessages
from ssread.models.stack import Stack

__all__ = ["GCN", "EdgeAwareGCNConv"]


class EdgeAwareGCNConv(nn.Module):
    r"""Equation 1 (`"Semi-Supervised Classification with GCNs" <https://arxiv.org/abs/1609.02907>`_) with edges.

    .. math::
        x = h W + b, \quad
        h_i' = \sum_j \frac{\mathrm{relu}(x_j + e_{ij})}{\sqrt{d_i d_j}} + \frac{\mathrm{relu}(x_i + r)}{d_i}

    where :math:`d` is the degree plus one, :math:`e` belongs to the edge and :math:`r` to the node itself. This is the
    layer of the Open Graph Benchmark's GCN. PyG has none with edge vectors; without them and without the relu it
    is PyG's ``GCNConv``.
    """

    def __init__(self, channels: int, edge_channels: int = 0):
        super().__init__()
        self.lin = nn.Linear(channels, channels)
        self.messages = EdgeMessages(channels, edge_channels)
        self.root = nn.Parameter(torch.empty(channels))
        nn.init.normal_(self.root)

    def reset_parameters(self) -> None:
        """Draws new weights."""
        self.lin.reset_parameters()
        self.messages.reset_parameters()
        nn.init.normal_(self.root)

    def forward(self, h: Tensor, graphs: Graphs) -> Tensor:
        """Node vectors [N, d] to node vectors."""
        x = self.lin(h)
        degree = (segment.count(graphs.target, graphs.num_nodes) + 1).to(h.dtype).unsqueeze(-1)
        scale = degree.rsqrt()
        weight = scale.squeeze(-1).index_select(0, graphs.source)  # the other root is the same for all of a node's
        return self.messages(x, graphs, weight) * scale + (x + self.root).relu() / degree


class GCN(Stack):
    """A stack of :class:`EdgeAwareGCNConv`; see :class:`ssread.models.stack.Stack` for the arguments."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 128,
        edge_channels: int = 0,
        num_layers: int = 3,
        dropout: float = 0.5,
        jumping: bool = False,
    ):
        super().__init__(EdgeAwareGCNConv, in_channels, hidden_channels, edge_channels, num_layers, dropout, jumping)
