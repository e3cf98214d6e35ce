"""What all aggregations here have in common: the arguments of a PyG ``Aggregation``, checked once."""

import torch
from torch import Tensor
from torch_geometric.nn.aggr import Aggregation

from ssread import segment
from ssread.nodes import Nodes

__all__ = ["FlatAggregation", "zero_where_empty"]


class FlatAggregation(Aggregation):
    """A PyG ``Aggregation`` whose mathematics is written on flat rows.

    This class checks the arguments and handles their shapes. A subclass writes :meth:`aggregate`. It keeps shapes
    static, so that it compiles, exports and can be vmapped over models, and returns exactly zero for an empty group.

    Attributes:
        held_fixed: What :meth:`as_sum` holds fixed, in words; empty where it is nothing.
        beside_nodes: What is left over when a group vector is divided among its nodes, in words; empty for nothing.

    Args:
        in_channels: Width of the node vectors.
        out_channels: Width of the group vectors; ``in_channels`` by default.
    """

    held_fixed: str = ""
    beside_nodes: str = ""

    def __init__(self, in_channels: int, out_channels: int | None = None):
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = in_channels if out_channels is None else out_channels

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Tensor:
        """Computes one vector per group of node vectors.

        Args:
            x: Node vectors, [..., N, in_channels]; leading dimensions are aggregated independently.
            index: The group of every node, [N], in any order. Without ``index`` and ``ptr`` all form one group.
            ptr: Instead of ``index``, for nodes sorted by group: where each group begins and the last ends, [B + 1].
            dim_size: The number of groups B.
            dim: The dimension of ``x`` that counts the nodes.

        Returns:
            Group vectors, [..., B, out_channels].
        """
        nodes = Nodes(x, index, ptr, dim_size, dim, self.in_channels)
        return nodes.shape_graphs(self.aggregate_nodes(nodes))

    def aggregate_nodes(self, nodes: Nodes, positions: Tensor | None = None, num_positions: int = 1) -> Tensor:
        """Aggregates the nodes of every graph, or of every position in every graph.

        Args:
            nodes: The nodes of all graphs.
            positions: The position of every row, [M].
            num_positions: The number of positions K.

        Returns:
            Vectors of all graphs, [num_graphs * K, out_channels]; the positions of one graph are adjacent.
        """
        group = nodes.index if positions is None else nodes.index * num_positions + positions
        return self.aggregate(nodes.x, group, nodes.num_graphs * num_positions)

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, in_channels] and the group of each [N] to group vectors [num_groups, out_channels]."""
        raise NotImplementedError

    def as_sum(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """The vectors of :meth:`aggregate`, with a gradient that leaves everything but the sum over nodes as it is.

        Attention weights, the order of nodes and the like are held fixed, so that gradient times input gives the share
        of every node exactly. A subclass whose weights depend on the nodes overrides it.
        """
        return self.aggregate(x, index, num_groups)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels})"


def zero_where_empty(vectors: Tensor, index: Tensor) -> Tensor:
    """Group vectors [B, d], zero for groups that occur nowhere in ``index`` [N]."""
    members = segment.count(index, vectors.size(0))
    return torch.where((members > 0).unsqueeze(-1), vectors, torch.zeros_like(vectors))
