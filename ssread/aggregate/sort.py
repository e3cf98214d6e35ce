"""SortPool: the first nodes of a group in a fixed order, then a convolution."""

import torch
from torch import Tensor, nn

from ssread import segment
from ssread.aggregate.base import FlatAggregation, zero_where_empty
from ssread.errors import InputError

__all__ = ["Sort"]


class Sort(FlatAggregation):
    r"""Sort, convolve, flatten: SortPool of `"An End-to-End Deep Learning Architecture for Graph Classification"
    <https://ojs.aaai.org/index.php/AAAI/article/view/11782>`_ as the paper's section V-A adapts it.

    The first ``k`` nodes in descending order of their last channel form a row, with zeros after the last node. One
    convolution as long as the row maps them to one vector of the input's width. Nodes with equal last channels are
    ordered by the channels before it, from back to front; past the fourth channel by one number computed from all of
    them. Thus the order depends on the vectors alone, and Theorem 1 holds exactly.

    Args:
        in_channels: Width d of the node vectors.
        k: The number of nodes to keep, N' in the paper.
    """

    held_fixed = "the order of the nodes"
    beside_nodes = "the bias of the convolution of sort"

    #: A tie over this many channels is so rare that a single number decides it.
    CHANNELS_COMPARED = 4

    def __init__(self, in_channels: int, k: int = 16):
        super().__init__(in_channels)
        if k < 1:
            raise InputError(f"sort keeps the first k nodes, so k must be 1 or more, but {k} was given.")
        self.k = k
        self.convolution = nn.Conv1d(in_channels, in_channels, kernel_size=k)
        weights = torch.rand(in_channels, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        self.register_buffer("tie_break", weights, persistent=False)
        self.tie_break: Tensor

    def reset_parameters(self) -> None:
        """Resets the convolution."""
        self.convolution.reset_parameters()

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, d] to group vectors [num_groups, d]."""
        rows = self.sort(x, index, num_groups)
        weight = self.convolution.weight.transpose(1, 2).flatten(1)  # the kernel spans the row: a matrix product
        out = nn.functional.linear(rows.flatten(1), weight, self.convolution.bias)
        return zero_where_empty(out, index)

    def sort(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """The first ``k`` nodes of every group in order, [num_groups, k, d], with zeros after the last."""
        nodes, slots = x.size(0), num_groups * self.k
        order = self._order(x.detach(), index)
        members = segment.count(index, num_groups)
        first = members.cumsum(0) - members
        rank = torch.arange(self.k, device=x.device)
        place = torch.where(rank < members.unsqueeze(1), first.unsqueeze(1) + rank, nodes).flatten()
        node = torch.cat([order, order.new_full((1,), nodes)]).index_select(0, place)
        row = torch.empty_like(order).scatter(0, order, torch.arange(nodes, device=x.device))
        row = row - first.index_select(0, index)
        slot = torch.where(row < self.k, index * self.k + row, slots)
        return segment.select(x, node, slot).view(num_groups, self.k, x.size(1))

    def _order(self, x: Tensor, index: Tensor) -> Tensor:
        """Nodes sorted by group, and within it by channels from the last to the first, larger first."""
        channels = [x[:, -1 - c] for c in range(min(self.CHANNELS_COMPARED, x.size(1)))]
        if x.size(1) > len(channels):
            channels.append((x.double() * self.tie_break).sum(dim=-1))
        order = torch.arange(x.size(0), device=x.device)
        for key in reversed(channels):  # stable sorts, the least important key first
            order = order.index_select(0, _stable_argsort(key.index_select(0, order), descending=True))
        return order.index_select(0, _stable_argsort(index.index_select(0, order)))


def _stable_argsort(keys: Tensor, descending: bool = False) -> Tensor:
    """Argsort in which equal keys keep their order.

    ONNX has no stable sort, but its TopK returns the lower index first among equal keys.
    """
    if torch.onnx.is_in_onnx_export():
        return keys.sort(descending=descending).indices
    return keys.argsort(stable=True, descending=descending)
