"""The part that GCN and GIN share: everything around their convolutions."""

from collections.abc import Callable

import torch
from torch import nn

from ssread.errors import InputError
from ssread.models.graphs import Encoder, Encoding, Graphs
from ssread.models.layers import BatchNorm, Dropout, Linear

__all__ = ["Stack"]


class Stack(Encoder):
    """Linear node encoder, then per layer: convolution, batch norm, relu (not after the last), dropout.

    Args:
        conv: Builds a convolution, given the width of the node vectors and the number of edge features.
        in_channels: Number of node features.
        hidden_channels: Width of the node vectors.
        edge_channels: Number of edge features, 0 for none.
        num_layers: Number of convolutions.
        dropout: Share of entries dropped after each layer.
        jumping: Whether a node vector is the concatenated output of all layers instead of the last one.
        last_dropout: Whether dropout follows the last layer, too. Without it, positions are read from whole vectors.
    """

    def __init__(
        self,
        conv: Callable[[int, int], nn.Module],
        in_channels: int,
        hidden_channels: int,
        edge_channels: int,
        num_layers: int,
        dropout: float,
        jumping: bool,
        last_dropout: bool,
    ):
        if num_layers < 1:
            raise InputError(f"num_layers must be 1 or more, but {num_layers} was given.")
        super().__init__(in_channels, hidden_channels * (num_layers if jumping else 1), edge_channels)
        self.node_encoder = Linear(in_channels, hidden_channels)
        self.convs = nn.ModuleList(conv(hidden_channels, edge_channels) for _ in range(num_layers))
        self.norms = nn.ModuleList(BatchNorm(hidden_channels) for _ in range(num_layers))
        self.dropout = Dropout(dropout)
        self.jumping, self.last_dropout = jumping, last_dropout

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the node vectors of checked graphs."""
        h, outputs = graphs.x, []
        for layer, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True), start=1):
            last = layer == len(self.convs)
            dropout = None if last and not self.last_dropout else self.dropout
            h = conv(h, graphs, self.node_encoder if layer == 1 else None)
            h = norm(h, graphs.mask, relu=not last, dropout=dropout)
            outputs.append(h)
        return Encoding(torch.cat(outputs, dim=-1) if self.jumping else h, graphs.batch, ptr=graphs.ptr)
