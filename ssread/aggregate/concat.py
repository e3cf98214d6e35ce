"""Several aggregations side by side."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import reset

from ssread.aggregate.base import FlatAggregation
from ssread.nodes import Nodes

__all__ = ["Concat"]


class Concat(FlatAggregation):
    """Several aggregations of the same node vectors, concatenated.

    Args:
        parts: The aggregations, all of the same ``in_channels``.
    """

    def __init__(self, parts: Sequence[FlatAggregation]):
        super().__init__(parts[0].in_channels, sum(part.out_channels for part in parts))
        self.parts = nn.ModuleList(parts)
        self.held_fixed = " and ".join(dict.fromkeys(part.held_fixed for part in parts if part.held_fixed))
        self.beside_nodes = " and ".join(dict.fromkeys(part.beside_nodes for part in parts if part.beside_nodes))

    def reset_parameters(self) -> None:
        """Resets every part."""
        reset(self.parts)

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, d] to group vectors [num_groups, out_channels], the first part's channels first."""
        parts = cast(Sequence[FlatAggregation], self.parts)
        return torch.cat([part.aggregate(x, index, num_groups) for part in parts], dim=-1)

    def aggregate_nodes(self, nodes: Nodes, positions: Tensor | None = None, num_positions: int = 1) -> Tensor:
        """See :meth:`FlatAggregation.aggregate_nodes`."""
        parts = cast(Sequence[FlatAggregation], self.parts)
        return torch.cat([part.aggregate_nodes(nodes, positions, num_positions) for part in parts], dim=-1)

    def as_sum(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """See :meth:`FlatAggregation.as_sum`."""
        parts = cast(Sequence[FlatAggregation], self.parts)
        return torch.cat([part.as_sum(x, index, num_groups) for part in parts], dim=-1)

    def __repr__(self) -> str:
        return " + ".join(repr(part) for part in self.parts)
