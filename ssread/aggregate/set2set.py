"""Set2Set: attention repeated, with an LSTM that asks the questions."""

import torch
from torch import Tensor, nn

from ssread import segment
from ssread.aggregate.base import FlatAggregation, zero_where_empty
from ssread.errors import InputError

__all__ = ["Set2Set"]


class Set2Set(FlatAggregation):
    r"""Iterative content-based attention: `"Order Matters" <https://arxiv.org/abs/1511.06391>`_.

    .. math::
        q_t = \mathrm{LSTM}(q^*_{t-1}), \quad
        r_t = \sum_n \mathrm{softmax}_n(h_n \cdot q_t) \, h_n, \quad
        q^*_t = q_t \, \Vert \, r_t

    As in PyG, the output is twice as wide as the input. PyG's layer calls ``nn.LSTM``, whose fused kernels cannot be
    vmapped over models; here the cell is four lines of matrix products on the same parameters.

    Args:
        in_channels: Width d of the node vectors.
        processing_steps: Number of iterations T.
    """

    held_fixed = "the attention weights"
    beside_nodes = "the last query of set2set"

    def __init__(self, in_channels: int, processing_steps: int = 3):
        super().__init__(in_channels, 2 * in_channels)
        if processing_steps < 1:
            raise InputError(f"set2set takes processing_steps of 1 or more, but {processing_steps} was given.")
        self.processing_steps = processing_steps
        self.cell = nn.LSTMCell(2 * in_channels, in_channels)

    def reset_parameters(self) -> None:
        """Resets the LSTM cell."""
        self.cell.reset_parameters()

    def aggregate(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """Node vectors [N, d] to group vectors [num_groups, 2 d]."""
        return self._answer(x, *self._attend(x, index, num_groups), index, num_groups)

    def as_sum(self, x: Tensor, index: Tensor, num_groups: int) -> Tensor:
        """See :meth:`FlatAggregation.as_sum`."""
        query, weights = self._attend(x.detach(), index, num_groups)
        return self._answer(x, query.detach(), weights.detach(), index, num_groups)

    def _attend(self, x: Tensor, index: Tensor, num_groups: int) -> tuple[Tensor, Tensor]:
        """The last query of every group, [num_groups, d], and the attention weight that each node gets, [N, 1]."""
        query = memory = x.new_zeros(num_groups, self.in_channels)
        answer = torch.cat([query, query], dim=-1)
        weights = x[:, :1]
        for step in range(self.processing_steps):
            if step:
                answer = torch.cat([query, segment.reduce_sum(weights * x, index, num_groups)], dim=-1)
            query, memory = self._lstm(answer, query, memory)
            scores = (x * segment.take(query, index)).sum(dim=-1, keepdim=True)
            weights = segment.softmax(scores, index, num_groups)
        return query, weights

    def _answer(self, x: Tensor, query: Tensor, weights: Tensor, index: Tensor, num_groups: int) -> Tensor:
        answer = torch.cat([query, segment.reduce_sum(weights * x, index, num_groups)], dim=-1)
        return zero_where_empty(answer, index)

    def _lstm(self, x: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        gates = nn.functional.linear(x, self.cell.weight_ih, self.cell.bias_ih)
        gates = gates + nn.functional.linear(hidden, self.cell.weight_hh, self.cell.bias_hh)
        enter, forget, candidate, leave = gates.chunk(4, dim=-1)
        memory = forget.sigmoid() * memory + enter.sigmoid() * candidate.tanh()
        return leave.sigmoid() * memory.tanh(), memory
