"""Any PyG aggregation, made to accept what ours accept."""

import torch
from torch import Tensor
from torch_geometric.nn.aggr import Aggregation

from ssread.aggregate.base import FlatAggregation

__all__ = ["Foreign"]


class Foreign(FlatAggregation):
    """Any PyG ``Aggregation``, with an unsorted ``index``, ``ptr``, empty groups and leading dimensions.

    PyG's aggregations differ in what they accept. All of them accept sorted nodes and no empty group, so that is what
    this class passes on. The number of groups that have nodes depends on the data. Therefore this aggregation neither
    compiles nor exports, and it cannot be vmapped over models.

    Args:
        aggregation: The PyG aggregation.
        in_channels: Width of the node vectors.
    """

    held_fixed = "the slope of a foreign aggregation"
    beside_nodes = "what a foreign aggregation does not share among nodes at its slope"

    def __init__(self, aggregation: Aggregation, in_channels: int):
        super().__init__(in_channels, _out_channels(aggregation, in_channels))
        self.aggregation = aggregation

    def reset_parameters(self) -> None:
        """Resets the PyG aggregation."""
        self.aggregation.reset_parameters()

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, d] to group vectors [num_groups, out_channels]."""
        out = x.new_zeros(num_groups, self.out_channels)
        if x.size(0) == 0:
            return out
        index, order = index.sort(stable=True)
        groups, group = torch.unique_consecutive(index, return_inverse=True)
        return out.index_add(0, groups, self.aggregation(x.index_select(0, order), group, dim_size=groups.numel()))

    def __repr__(self) -> str:
        return repr(self.aggregation)


def _out_channels(aggregation: Aggregation, in_channels: int) -> int:
    """The width of an unknown aggregation's output, found by calling it once."""
    training = aggregation.training
    reference = next(aggregation.parameters(), torch.empty(0))
    with torch.no_grad():
        x = reference.new_zeros(1, in_channels)
        index = torch.zeros(1, dtype=torch.long, device=x.device)
        width = aggregation.eval()(x, index, dim_size=1).size(-1)
    aggregation.train(training)
    return width
