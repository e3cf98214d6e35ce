"""Kipf and Welling's GCN layer on graphs some of whose nodes may have been dropped."""

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
    """The matrix of Equation 1: D^-1/2 (A + I) D^-1/2, of the kept nodes alone.

    Attributes:
        neighbours: The edges.
        edge: Weights of the edges, [E]; 0 where an end was dropped.
        loop: Weight of every node's self-loop, [N, 1].
    """

    neighbours: Neighbours
    edge: Tensor
    loop: Tensor

    def times(self, x: Tensor) -> Tensor:
        """The product with node vectors [N, d]."""
        return self.neighbours.sum(x, self.edge) + x * self.loop


def propagation(graphs: Graphs, kept: Tensor | None = None) -> Propagation:
    """The matrix of Equation 1; ``kept`` [N] is 1 for the nodes that are still there.

    Every node has exactly one self-loop: one that is in the data does not count twice.
    """
    source, target = graphs.source, graphs.target
    there = (source != target).to(graphs.x.dtype)
    if kept is not None:
        there = there * kept.index_select(0, source) * kept.index_select(0, target)
    scale = (segment.reduce_sum(there, target, graphs.num_nodes) + 1).rsqrt()
    edge = there * scale.index_select(0, source) * scale.index_select(0, target)
    return Propagation(graphs.neighbours, edge, scale.square().unsqueeze(-1))


class GCNConv(nn.Module):
    """`"Semi-Supervised Classification with GCNs" <https://arxiv.org/abs/1609.02907>`_ (Equation 1).

    PyG's ``GCNConv`` gives the same numbers and has parameters of the same names and shapes. It works out the degrees
    itself in every layer and takes self-loops as N further edges; here both are known once per height of the graph.
    """

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.lin = Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new weights as PyG does."""
        nn.init.xavier_uniform_(self.lin.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, matrix: Propagation) -> Tensor:
        """Node vectors [N, in] to node vectors [N, out]."""
        return matrix.times(self.lin(x)) + self.bias
