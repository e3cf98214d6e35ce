"""Graph U-Net: pools to fewer nodes and unpools again, with skip connections between equal levels."""

from collections.abc import Sequence

import torch
from torch import nn

from ssread.errors import InputError
from ssread.models.gcn_conv import GCNConv, propagation
from ssread.models.graphs import Encoder, Encoding, Graphs
from ssread.models.topk import TopKPooling

__all__ = ["GraphUNet"]


class GraphUNet(Encoder):
    """`"Graph U-Nets" <https://arxiv.org/abs/1905.05178>`_ in the form of Table II: (MP + Pool) x 3 + MP x 3.

    On the way up, a dropped node returns as zero, the vector that it had before the pooling is added, and a convolution
    on the edges of that level follows. Nodes never change places, so unpooling is an addition. The original adds the
    edges of the second graph power before each pooling. This is left out: the number of added edges depends on the
    data, but shapes here must not.

    Args:
        in_channels: Number of node features.
        hidden_channels: Width of the node vectors.
        num_layers: Number of levels, each with a convolution and a pooling down and a convolution up.
        ratios: The share of nodes that each pooling keeps, one per layer (further ones are ignored).
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int = 128,
        num_layers: int = 3,
        ratios: Sequence[float] = (0.9, 0.8, 0.7),
    ):
        super().__init__(in_channels, hidden_channels)
        if len(ratios) < num_layers:
            raise InputError(f"gunet of {num_layers} layers needs as many ratios, but {len(ratios)} were given.")
        inputs = [in_channels] + [hidden_channels] * (num_layers - 1)
        self.down = nn.ModuleList(GCNConv(width, hidden_channels) for width in inputs)
        self.pools = nn.ModuleList(TopKPooling(hidden_channels, ratio) for ratio in ratios[:num_layers])
        self.up = nn.ModuleList(GCNConv(hidden_channels, hidden_channels) for _ in inputs)

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the vectors of all nodes of checked graphs."""
        h, kept = graphs.x, torch.ones_like(graphs.x[:, 0])
        levels = []
        for conv, pool in zip(self.down, self.pools, strict=True):
            matrix = propagation(graphs, kept)
            before = conv(h, matrix).relu()
            h, left = pool(before, kept, graphs)
            levels.append((matrix, before, left))
            kept = left
        for layer, (conv, (matrix, before, left)) in enumerate(zip(self.up, reversed(levels), strict=True), start=1):
            h = conv(h * left.unsqueeze(-1) + before, matrix)
            h = h.relu() if layer < len(self.up) else h
        return Encoding(h, graphs.batch, ptr=graphs.ptr)
