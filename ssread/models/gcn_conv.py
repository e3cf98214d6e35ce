"""Kipf and Welling's GCN layer for graphs in which pooling may have dropped nodes."""

import torch
from torch import Tensor, nn

from ssread import kernels
from ssread.models.graphs import Graphs
from ssread.models.layers import Linear
from ssread.neighbours import Neighbours

__all__ = ["GCNConv", "Propagation", "propagation"]


class Propagation:
    """The matrix of Equation 1, D^-1/2 (A + I) D^-1/2, of the kept nodes.

    Args:
        neighbours: The edges.
        exists: 1 for every edge of A, 0 for the others, [E].
        scale: D^-1/2, 0 for dropped nodes, [N].
    """

    def __init__(self, neighbours: Neighbours, exists: Tensor, scale: Tensor):
        self.neighbours, self.exists, self.scale = neighbours, exists, scale
        self._edge: Tensor | None = None

    def times(self, x: Tensor, bias: Tensor) -> Tensor:
        """Returns the product with node vectors [N, d], plus the bias [d]."""
        if kernels.usable(x):
            from ssread.kernels.messages import own_loop, sum_messages

            to = self.neighbours
            return sum_messages(
                x, to.entering, to.leaving, scale=self.scale, weight=self.exists, own=bias, own_form=own_loop
            )
        if self._edge is None:
            ends = self.neighbours.source, self.neighbours.target
            source, target = (self.scale.index_select(0, end) for end in ends)
            self._edge = self.exists * source * target
        return self.neighbours.sum(x, self._edge) + x * self.scale.square().unsqueeze(-1) + bias


def propagation(graphs: Graphs, kept: Tensor | None = None) -> Propagation:
    """Computes the matrix of Equation 1; ``kept`` [N] is 0 for dropped nodes and 1 for the others.

    Every node has exactly one self-loop: a self-loop in the data is not added to it.
    """
    exists = (graphs.source != graphs.target).to(graphs.x.dtype)
    kept = torch.ones_like(graphs.x[:, 0]) if kept is None else kept
    degree = graphs.neighbours.sum(kept.unsqueeze(-1), exists).squeeze(-1)
    return Propagation(graphs.neighbours, exists, kept * (degree + 1).rsqrt())


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
        return matrix.times(self.lin(x), self.bias)
