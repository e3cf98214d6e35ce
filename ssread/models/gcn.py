"""The paper's base classifier: GCN layers with edge features."""

import torch
from torch import Tensor, nn

from ssread.models.conv_stack import Stack
from ssread.models.graphs import Graphs
from ssread.models.layers import EdgeMessages, linear

__all__ = ["GCN", "EdgeAwareGCNConv"]


class EdgeAwareGCNConv(nn.Module):
    r"""Equation 1 (`"Semi-Supervised Classification with GCNs" <https://arxiv.org/abs/1609.02907>`_) with edges.

    .. math::
        x = h W + b, \quad
        h_i' = \sum_j \frac{\mathrm{relu}(x_j + e_{ij})}{\sqrt{d_i d_j}} + \frac{\mathrm{relu}(x_i + r)}{d_i}

    where :math:`d` is the degree plus one, :math:`e` is the vector of an edge and :math:`r` that of a self-loop. This
    is the layer of the Open Graph Benchmark's GCN. PyG has no such layer; without edge vectors and relu it is PyG's
    ``GCNConv``.
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

    def forward(self, h: Tensor, graphs: Graphs, encoder: nn.Linear | None = None) -> Tensor:
        """Maps node vectors [N, d] to node vectors [N, d]; with ``encoder``, node features that it maps to [N, d]."""
        weight: Tensor = self.lin.weight
        bias: Tensor = self.lin.bias
        if encoder is not None:  # two linear maps in a row are one: that saves a product with all nodes
            weight, bias = weight @ encoder.weight, weight @ encoder.bias + bias
        scale = graphs.neighbours.inverse_root_degree.to(h.dtype)
        x = linear(h, weight)  # the bias is added together with the edge and root vectors
        return self.messages(x, graphs, bias=bias, scale=scale, root=self.root)


class GCN(Stack):
    """A stack of :class:`EdgeAwareGCNConv`; see :class:`ssread.models.conv_stack.Stack` for the arguments."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 128,
        edge_channels: int = 0,
        num_layers: int = 3,
        dropout: float = 0.5,
        jumping: bool = False,
        last_dropout: bool = True,
    ):
        sizes = (in_channels, hidden_channels, edge_channels, num_layers)
        super().__init__(EdgeAwareGCNConv, *sizes, dropout, jumping, last_dropout)
