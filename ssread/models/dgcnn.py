"""DGCNN: GCN layers with concatenated outputs, which SortPool sorts by the last channel."""

import torch
from torch import nn

from ssread.errors import InputError
from ssread.models.gcn_conv import GCNConv, propagation
from ssread.models.graphs import Encoder, Encoding, Graphs

__all__ = ["DGCNN"]


class DGCNN(Encoder):
    """`"An End-to-End Deep Learning Architecture for Graph Classification"
    <https://ojs.aaai.org/index.php/AAAI/article/view/11782>`_ before its SortPool.

    Graph convolutions with tanh, the last with a single channel. A node vector is the concatenation of their outputs,
    so the sort aggregation orders nodes by that channel. The convolutions are those of Kipf and Welling (Table II); the
    original normalises by the degree of the target alone.

    Args:
        in_channels: Number of node features.
        hidden_channels: Width of every convolution but the last; 32 in the original.
        num_layers: Number of convolutions.
    """

    def __init__(self, in_channels: int, hidden_channels: int = 32, num_layers: int = 4):
        if num_layers < 2:
            raise InputError(f"dgcnn needs 2 layers or more (the last has one channel), but {num_layers} was given.")
        widths = [hidden_channels] * (num_layers - 1) + [1]
        super().__init__(in_channels, sum(widths))
        inputs = [in_channels, *widths[:-1]]
        self.convs = nn.ModuleList(GCNConv(a, b) for a, b in zip(inputs, widths, strict=True))

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the node vectors of checked graphs."""
        matrix = propagation(graphs)
        h, outputs = graphs.x, []
        for conv in self.convs:
            h = conv(h, matrix).tanh()
            outputs.append(h)
        return Encoding(torch.cat(outputs, dim=-1), graphs.batch, ptr=graphs.ptr)
