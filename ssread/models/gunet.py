"""Graph U-Net: down to fewer nodes and up again, with bridges between equal heights."""

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

    On the way up, a node dropped by a pooling returns as zero, the vector it had before that pooling is added, and a
    convolution on the edges of that height follows. Nodes are never moved, so going up is an addition. The
    original's second graph power, which adds edges before each pooling, is left out: how many it adds depends on the
    data, and shapes here do not.

    Args:
        in_channels: Number of node features.
        hidden_channels: Width of the node vectors.
        num_layers: Number of heights: convolutions and poolings down, convolutions up.
        ratios: The share of nodes each pooling keeps; one for every layer (further ones are not used).
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
        """Node vectors of checked graphs, of all nodes."""
        h, kept = graphs.x, torch.ones_like(graphs.x[:, 0])
        heights = []
        for conv, pool in zip(self.down, self.pools, strict=True):
            matrix = propagation(graphs, kept)
            before = conv(h, matrix).relu()
            h, left = pool(before, kept, graphs)
            heights.append((matrix, before, left))
            kept = left
        for layer, (conv, (matrix, before, left)) in enumerate(zip(self.up, reversed(heights), strict=True), start=1):
            h = conv(h * left.unsqueeze(-1) + before, matrix)
            h = h.relu() if layer < len(self.up) else h
        return Encoding(h, graphs.batch)
