"""Sum, mean and maximum."""

from torch import Tensor

from ssread import kernels, segment
from ssread.aggregate.base import FlatAggregation
from ssread.nodes import Nodes

__all__ = ["Max", "Mean", "Sum"]


class _Reduction(FlatAggregation):
    """An aggregation that a fused GPU kernel computes where nodes are known to be sorted by graph."""

    kernel: str

    def aggregate_nodes(self, nodes: Nodes, positions: Tensor | None = None, num_positions: int = 1) -> Tensor:
        """See :meth:`FlatAggregation.aggregate_nodes`."""
        if nodes.ptr is not None and kernels.usable(nodes.x):
            from ssread.kernels.read import reduce

            return reduce(nodes.x, nodes.ptr, nodes.index, positions, num_positions, self.kernel)
        return super().aggregate_nodes(nodes, positions, num_positions)


class Sum(_Reduction):
    r"""The sum of the node vectors, :math:`\phi(H) = \sum_n h_n`."""

    kernel = "sum"

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, d] to group vectors [num_groups, d]."""
        return segment.reduce_sum(x, index, num_groups)


class Mean(_Reduction):
    r"""The mean of the node vectors, :math:`\phi(H) = \frac{1}{N} \sum_n h_n`."""

    kernel = "mean"

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, d] to group vectors [num_groups, d]."""
        return segment.reduce_mean(x, index, num_groups)


class Max(_Reduction):
    r"""The largest value of every channel, :math:`\phi(H) = \max_n h_n`."""

    kernel = "max"
    held_fixed = "the node with the largest value of every channel"

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, d] to group vectors [num_groups, d]."""
        return segment.reduce_max(x, index, num_groups)
