"""GIN: sums over neighbours, with which an MLP can distinguish any two neighbourhoods."""

import torch
from torch import Tensor, nn

from ssread.models.conv_stack import Stack
from ssread.models.graphs import Graphs
from ssread.models.layers import BatchNorm, EdgeMessages, Linear

__all__ = ["GIN", "GINConv"]


class GINConv(nn.Module):
    r"""`"How Powerful are Graph Neural Networks?" <https://arxiv.org/abs/1810.00826>`_ with edge features.

    .. math:: h_i' = \mathrm{MLP}\big((1 + \epsilon) \, h_i + \sum_j \mathrm{relu}(h_j + e_{ij})\big)

    PyG's ``GINEConv`` computes the same, but it needs edge features, and its MLP takes no mask for padding.
    """

    def __init__(self, channels: int, edge_channels: int = 0):
        super().__init__()
        self.messages = EdgeMessages(channels, edge_channels)
        self.epsilon = nn.Parameter(torch.zeros(()))
        self.enter = Linear(channels, channels)
        self.norm = BatchNorm(channels)
        self.leave = Linear(channels, channels)

    def reset_parameters(self) -> None:
        """Draws new weights."""
        for part in (self.messages, self.enter, self.norm, self.leave):
            part.reset_parameters()
        nn.init.zeros_(self.epsilon)

    def forward(self, h: Tensor, graphs: Graphs, encoder: nn.Linear | None = None) -> Tensor:
        """Maps node vectors [N, d] to node vectors [N, d]; with ``encoder``, node features that it maps to [N, d]."""
        h = self.messages(h if encoder is None else encoder(h), graphs, factor=1 + self.epsilon)
        return self.leave(self.norm(self.enter(h), graphs.mask, relu=True))


class GIN(Stack):
    """A stack of :class:`GINConv`; see :class:`ssread.models.conv_stack.Stack` for the arguments."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 128,
        edge_channels: int = 0,
        num_layers: int = 5,
        dropout: float = 0.5,
        jumping: bool = False,
        last_dropout: bool = True,
    ):
        sizes = (in_channels, hidden_channels, edge_channels, num_layers)
        super().__init__(GINConv, *sizes, dropout, jumping, last_dropout)
