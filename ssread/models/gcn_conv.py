"""Kipf and Welling's GCN layer for graphs in which pooling may have dropped nodes."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ssread import segment
from ssread.models.graphs import Graphs
from ssread.models.layers import Linear
from ssread.neighbours import Neighbours

__all__ = ["GCNConv", "Propagation", "propagation"]


@dataclass(frozen=True, eq=False)
class Propagation:
    """The matrix of Equation 1, D^-1/2 (A + I) D^-1/2, of the kept nodes.

    Attributes:
        neighbours: The edges.
        edge: Weights of the edges, [E]; 0 if an end was dropped.
        loop: Weight of the self-loop of every node, [N, 1].
    """

    neighbours: Neighbours
    edge: Tensor
    loop: Tensor

    def times(self, x: Tensor) -> Tensor:
        """Returns the product with node vectors [N, d]."""
        return self.neighbours.sum(x, self.edge) + x * self.loop


def propagation(graphs: Graphs, kept: Tensor | None = None) -> Propagation:
    """Computes the matrix of Equation 1; ``kept`` [N] is 0 for dropped nodes and 1 for the others.

    Every node has exactly one self-loop: a self-loop in the data is not added to it.
    """
    source, target = graphs.source, graphs.target
    exists = (source != target).to(graphs.x.dtype)
    if kept is not None:
        exists = exists * kept.index_select(0, source) * kept.index_select(0, target)
    scale = (segment.reduce_sum(exists, target, graphs.num_nodes) + 1).rsqrt()
    edge = exists * scale.index_select(0, source) * scale.index_select(0, target)
    return Propagation(graphs.neighbours, edge, scale.square().unsqueeze(-1))


class GCNConv(nn.Module):
    """`"Semi-Supervised Classification with GCNs" <https://arxiv.org/abs/1609.02907>`_ (Equation 1).

    PyG's ``GCNConv`` computes the same and has parameters of the same names and shapes, but every layer computes the
    degrees again and adds self-loops as N further edges. Here both are computed once for all layers on the same nodes.
    """

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.lin = Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new weights, like PyG."""
        nn.init.xavier_uniform_(self.lin.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, matrix: Propagation) -> Tensor:
        """Maps node vectors [N, in] to node vectors [N, out]."""
        return matrix.times(self.lin(x)) + self.bias
