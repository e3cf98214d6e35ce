"""The paper's GRead: one aggregation over all nodes of a graph."""

import torch
from torch import Tensor
from torch_geometric.nn.aggr import Aggregation

from ssread.aggregate import Aggr, make_aggregation
from ssread.errors import InputError
from ssread.nodes import Nodes
from ssread.reading import Reading

__all__ = ["GlobalReadout"]


class GlobalReadout(Aggregation):
    """The paper's GRead: one aggregation over all nodes of a graph.

    Args:
        in_channels: Width d of the node vectors.
        aggr: ``sum``, ``max``, ``mean``, ``attention``, ``set2set`` or ``sort``, any PyG ``Aggregation``, or a list of
            these, whose results are concatenated.
        aggr_kwargs: Passed to the named aggregation.

    >>> readout = GlobalReadout(2, aggr=["max", "mean"])
    >>> readout(torch.tensor([[1.0, 2.0], [3.0, 0.0], [5.0, 5.0]]), index=torch.tensor([0, 0, 2]), dim_size=3)
    tensor([[3., 2., 2., 1.],
            [0., 0., 0., 0.],
            [5., 5., 5., 5.]])
    """

    def __init__(self, in_channels: int, aggr: Aggr = "sum", **aggr_kwargs: object):
        super().__init__()
        if in_channels < 1:
            raise InputError(f"in_channels must be 1 or more, but {in_channels} was given.")
        self.in_channels = in_channels
        self.aggr = make_aggregation(aggr, in_channels, **aggr_kwargs)
        self.out_channels = self.aggr.out_channels

    def reset_parameters(self) -> None:
        """Resets the aggregation."""
        self.aggr.reset_parameters()

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Tensor:
        """Computes graph vectors, [..., B, out_channels]; for the arguments see :meth:`SSRead.forward`."""
        return self.read(x, index, ptr, dim_size, dim).vectors

    def read(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Reading:
        """Computes what :meth:`SSRead.read` computes: here with one position and an alignment loss of zero."""
        nodes = Nodes(x, index, ptr, dim_size, dim, self.in_channels)
        vectors = nodes.shape_graphs(self.aggr.aggregate_nodes(nodes))
        positions = nodes.shape_nodes(torch.zeros_like(nodes.index))
        return Reading(vectors, positions, 1, node_costs=None, sum_per_graph=nodes.sum_per_graph)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, aggr={self.aggr!r})"
