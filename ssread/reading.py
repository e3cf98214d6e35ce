"""The result of a readout: graph vectors, the position of every node, and the alignment loss."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from torch import Tensor

__all__ = ["Reading"]


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """The result of one pass of a readout over a batch of graphs.

    All shapes follow the input. For node vectors [N, d] there is one row per node or per graph; leading dimensions of
    the input lead here too, and B stands in the dimension in which the input had N.

    Attributes:
        vectors: Graph vectors, [..., B, out_channels], the vector of position 0 first.
        positions: The structural position of every node, [..., N].
        num_positions: The number of positions K; 1 for the global readout.
        node_costs: The smoothed least cost of every node, [..., N]; None for the global readout, which aligns nothing.
        sum_per_graph: Adds up one value per node [..., N] over every graph, [..., B].
        compute_costs: Computes :attr:`costs`; None for the global readout.
        partial: Whether some nodes belong to none of the graphs: padding, or nodes dropped by pooling.
    """

    vectors: Tensor
    positions: Tensor
    num_positions: int
    node_costs: Tensor | None
    sum_per_graph: Callable[[Tensor], Tensor]
    compute_costs: Callable[[], Tensor] | None = None
    partial: bool = False

    @cached_property
    def costs(self) -> Tensor | None:
        """The cost of every node at every position, [..., N, K]; None for the global readout.

        A fused GPU kernel does not keep them: then they are computed at the first access.
        """
        return None if self.compute_costs is None else self.compute_costs()

    def alignment_costs(self) -> Tensor:
        """The smoothed alignment cost of every graph (Equation 4 by Theorem 2), [..., B]."""
        if self.node_costs is None:
            return self.vectors.new_zeros(self.vectors.shape[:-1])
        return self.sum_per_graph(self.node_costs)

    def alignment_loss(self) -> Tensor:
        """The alignment loss (Equation 6): costs summed over the nodes of a graph, averaged over the graphs.

        Nodes that belong to none of the graphs do not count.
        """
        if self.node_costs is None:
            return self.vectors.new_zeros(())
        costs = self.alignment_costs() if self.partial else self.node_costs  # two ways to the same sum
        return costs.sum() / (math.prod(self.vectors.shape[:-1]) or 1)

    def map_graphs(self, function: Callable[[Tensor], Tensor]) -> "Reading":
        """Applies a function to everything that is given per graph: the vectors and the alignment costs.

        Args:
            function: Takes values of graphs [B, ...] and returns values of other graphs [B', ...]. It may drop graphs
                or add several up. The nodes of a graph that it drops no longer count in the alignment loss.
        """
        return replace(
            self,
            vectors=function(self.vectors),
            sum_per_graph=lambda values: function(self.sum_per_graph(values)),
            partial=True,
        )

    def __repr__(self) -> str:
        costs = "" if self.compute_costs is None else f", costs={[*self.positions.shape, self.num_positions]}"
        return f"Reading(vectors={[*self.vectors.shape]}, positions={[*self.positions.shape]}{costs})"
