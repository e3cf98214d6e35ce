"""SAGPool: three times a convolution and a pooling that keeps the half of the nodes with the highest scores."""

import torch
from torch import nn

from ssread.models.gcn_conv import GCNConv, propagation
from ssread.models.graphs import Encoder, Encoding, Graphs
from ssread.models.topk import SAGPooling

__all__ = ["SAGPool"]


class SAGPool(Encoder):
    """`"Self-Attention Graph Pooling" <https://arxiv.org/abs/1904.08082>`_, its hierarchical form without the readout.

    The nodes that are left after each pooling are read out, and the results are summed. With a single readout after
    the last pooling the model does not learn, because three gates in a row make the vectors too small.

    Args:
        in_channels: Number of node features.
        hidden_channels: Width of the node vectors.
        num_layers: Number of convolutions, each followed by a pooling.
        ratio: The share of nodes that each pooling keeps.
    """

    def __init__(self, in_channels: int, hidden_channels: int = 128, num_layers: int = 3, ratio: float = 0.5):
        super().__init__(in_channels, hidden_channels)
        inputs = [in_channels] + [hidden_channels] * (num_layers - 1)
        self.convs = nn.ModuleList(GCNConv(width, hidden_channels) for width in inputs)
        self.pools = nn.ModuleList(SAGPooling(hidden_channels, ratio) for _ in inputs)

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the node vectors of checked graphs after each pooling; nodes that are not kept are dropped."""
        h, kept = graphs.x, torch.ones_like(graphs.x[:, 0])
        vectors, batch = [], []
        for conv, pool in zip(self.convs, self.pools, strict=True):
            matrix = propagation(graphs, kept)
            h, kept = pool(conv(h, matrix).relu(), kept, graphs, matrix)
            vectors.append(h)
            batch.append(torch.where(kept > 0, graphs.batch, graphs.batch_size))
        return Encoding(torch.cat(vectors), torch.cat(batch), dropped=True, ptr=graphs.ptr, heights=len(self.convs))
