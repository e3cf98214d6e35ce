from typing import Any, Dict, List, Optional, Tuple, Union

import torch
from torch import Tensor
from torch_geometric.nn.aggr import Aggregation
from torch_geometric.nn.inits import glorot
from torch_geometric.nn.resolver import aggregation_resolver


class SSReadAggregation(Aggregation):
    r"""The structural semantic readout from the `"Learnable Structural
    Semantic Readout for Graph Classification"
    <https://arxiv.org/abs/2111.11523>`_ paper.

    Each element is aligned with the closest of :math:`K` learnable structural
    prototypes :math:`\mathbf{p}_1, \ldots, \mathbf{p}_K`, and the elements of
    each position are aggregated separately

    .. math::
        \mathrm{SSRead}(\mathcal{X}) = \Vert_{k=1}^K \bigoplus
        \{ \mathbf{x}_n : k = \mathrm{argmin}_{k^{\prime}} \,
        \delta(\mathbf{x}_n, \mathbf{p}_{k^{\prime}}) \},

    where :math:`\delta` denotes the cosine distance and :math:`\bigoplus`
    denotes the aggregation given by :obj:`aggr`. A linear layer on top of the
    output has separate weights for each position.

    The alignment is hard, and passes no gradient to the prototypes. They are
    learned by adding the alignment loss to the objective:

    .. code-block:: python

        out, alignment_loss = aggr(x, batch, return_alignment_loss=True)
        loss = criterion(out, y) + alignment_loss

    Args:
        in_channels (int): Size of each input sample.
        num_positions (int): The number of structural positions :math:`K`.
        aggr (str or list or Aggregation, optional): The aggregation to apply
            per position. (default: :obj:`"sum"`)
        aggr_kwargs (dict, optional): Arguments passed to the aggregation.
            (default: :obj:`None`)
        gamma (float, optional): The smoothing of the minimum in the alignment
            loss. (default: :obj:`0.01`)

    Shapes:
        - **input:** node features :math:`(|\mathcal{V}|, F_{in})`
        - **output:** graph features
          :math:`(|\mathcal{G}|, K \cdot F_{out})`, where :math:`F_{out}` is
          the output size of :obj:`aggr`
    """
    def __init__(
        self,
        in_channels: int,
        num_positions: int,
        aggr: Union[str, List[str], Aggregation] = 'sum',
        aggr_kwargs: Optional[Dict[str, Any]] = None,
        gamma: float = 0.01,
    ):
        super().__init__()

        self.in_channels = in_channels
        self.num_positions = num_positions
        self.gamma = gamma
        self.aggr = aggregation_resolver(aggr, **(aggr_kwargs or {}))
        self.prototypes = torch.nn.Parameter(
            torch.empty(num_positions, in_channels))

        self.reset_parameters()

    def reset_parameters(self):
        glorot(self.prototypes)
        self.aggr.reset_parameters()

    def forward(
        self,
        x: Tensor,
        index: Optional[Tensor] = None,
        ptr: Optional[Tensor] = None,
        dim_size: Optional[int] = None,
        dim: int = -2,
        return_alignment_loss: bool = False,
    ) -> Union[Tensor, Tuple[Tensor, Tensor]]:
        r"""Forward pass.

        Args:
            x (torch.Tensor): The source tensor.
            index (torch.Tensor, optional): The indices of elements for
                applying the aggregation. (default: :obj:`None`)
            ptr (torch.Tensor, optional): If given, computes the aggregation
                based on sorted inputs in CSR representation.
                (default: :obj:`None`)
            dim_size (int, optional): The size of the output tensor at
                dimension :obj:`dim` after aggregation. (default: :obj:`None`)
            dim (int, optional): The dimension in which to aggregate.
                (default: :obj:`-2`)
            return_alignment_loss (bool, optional): If set to :obj:`True`, will
                additionally return the alignment loss, summed over the
                elements of a set and averaged over sets.
                (default: :obj:`False`)
        """
        self.assert_two_dimensional_input(x, dim)
        if index is None:
            sizes = ptr.diff()
            index = torch.arange(dim_size, device=x.device)
            index = index.repeat_interleave(sizes, output_size=x.size(0))

        cost = self.cost(x)
        position = cost.detach().argmin(dim=-1)

        # Some aggregations expect the elements of a set next to each other:
        group, perm = torch.sort(index * self.num_positions + position,
                                 stable=True)
        out = self.aggr(x[perm], group, dim_size=dim_size * self.num_positions)
        out = out.view(dim_size, -1)

        if not return_alignment_loss:
            return out

        return out, self.soft_min(cost).sum() / max(dim_size, 1)

    def align(self, x: Tensor) -> Tensor:
        r"""Returns the structural position of each element."""
        return self.cost(x).argmin(dim=-1)

    def cost(self, x: Tensor) -> Tensor:
        r"""Returns the cosine distance of each (detached) element to each
        prototype.
        """
        x = torch.nn.functional.normalize(x.detach(), dim=-1)
        prototypes = torch.nn.functional.normalize(self.prototypes, dim=-1)
        return 1.0 - x @ prototypes.t()

    def soft_min(self, cost: Tensor) -> Tensor:
        r"""Returns the smoothed minimum of the costs of each element."""
        return -self.gamma * torch.logsumexp(-cost / self.gamma, dim=-1)

    def __repr__(self) -> str:
        return (f'{self.__class__.__name__}({self.in_channels}, '
                f'num_positions={self.num_positions}, aggr={self.aggr})')
