"""Soft attention over the nodes of a group."""

from torch import Tensor, nn

from ssread import segment
from ssread.aggregate.base import FlatAggregation

__all__ = ["Attention"]


class Attention(FlatAggregation):
    r"""Soft attention: `"Gated Graph Sequence Neural Networks" <https://arxiv.org/abs/1511.05493>`_.

    .. math:: \phi(H) = \sum_n \mathrm{softmax}_n(h_n \cdot w) \, h_n

    PyG's ``AttentionalAggregation`` with a linear gate computes the same; this one can be vmapped over models.

    Args:
        in_channels: Width d of the node vectors.
    """

    held_fixed = "the attention weights"

    def __init__(self, in_channels: int):
        super().__init__(in_channels)
        self.gate = nn.Linear(in_channels, 1, bias=False)  # a bias would cancel in the softmax

    def reset_parameters(self) -> None:
        """Resets the gate."""
        self.gate.reset_parameters()

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, d] to group vectors [num_groups, d]."""
        return segment.reduce_sum(self._weights(x, index, num_groups) * x, index, num_groups)

    def as_sum(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """See :meth:`FlatAggregation.as_sum`."""
        return segment.reduce_sum(self._weights(x.detach(), index, num_groups).detach() * x, index, num_groups)

    def _weights(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        return segment.softmax(self.gate(x), index, num_groups)
