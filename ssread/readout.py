"""The two readouts: GRead aggregates all nodes of a graph, SSRead does so per structural position."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from torch_geometric.nn.aggr import Aggregation

from ssread import kernels, segment
from ssread.aggregate import Aggr, Max, Mean, Sum, make_aggregation
from ssread.errors import InputError
from ssread.functional import align, closest, cosine_cost, direction, soft_min
from ssread.nodes import Nodes, check_width

__all__ = ["GlobalReadout", "Reading", "SSRead"]


@dataclass(frozen=True, repr=False)
class Reading:
    """All that one pass of a readout finds out about a batch of graphs.

    Attributes:
        vectors: Graph vectors, [B, out_channels], position-major.
        positions: The structural position of every node, [N].
        node_costs: The smoothed least cost of every node, [N]; None for the global readout, which aligns nothing.
        index: The graph of every node, [N].
        ptr: Where each graph's nodes begin, [B + 1], where that is known.
        find_costs: Gives the cost of every node at every position, [N, K].
    """

    vectors: Tensor
    positions: Tensor
    node_costs: Tensor | None
    index: Tensor
    ptr: Tensor | None = None
    find_costs: Callable[[], Tensor | None] = lambda: None

    @cached_property
    def costs(self) -> Tensor | None:
        """The cost of every node at every position, [N, K]; None for the global readout."""
        return self.find_costs()

    def alignment_costs(self) -> Tensor:
        """The smoothed alignment cost of every graph (Equation 4 by Theorem 2), [B]."""
        if self.node_costs is None:
            return self.vectors.new_zeros(self._num_graphs())
        return _sum_per_graph(self.node_costs.unsqueeze(-1), self.index, self.ptr, self._num_graphs()).squeeze(-1)

    def alignment_loss(self) -> Tensor:
        """The alignment loss of the batch (Equation 6): summed over a graph's nodes, averaged over graphs."""
        if self.node_costs is None:
            return self.vectors.new_zeros(())
        return self.node_costs.sum() / (self._num_graphs() or 1)

    def _num_graphs(self) -> int:
        return math.prod(self.vectors.shape[:-1])

    def __repr__(self) -> str:
        costs = "" if self.costs is None else f", costs={list(self.costs.shape)}"
        return f"Reading(vectors={list(self.vectors.shape)}, positions={list(self.positions.shape)}{costs})"


#: The aggregations that a GPU kernel does while it reads the nodes.
_FUSED = {Sum: "sum", Mean: "mean", Max: "max"}


class GlobalReadout(Aggregation):
    """The paper's GRead: one aggregation over all nodes of a graph.

    Args:
        in_channels: Width d of the node vectors.
        aggr: ``sum``, ``max``, ``mean``, ``attention``, ``set2set`` or ``sort``, any PyG ``Aggregation``, or a list of
            these, whose results are concatenated.
        aggr_kwargs: Passed on to the named aggregation.

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
        """Draws new parameters where the aggregation has any."""
        self.aggr.reset_parameters()

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Tensor:
        """Graph vectors from node vectors.

        Args:
            x: Node vectors, [..., N, d]; leading dimensions are batches of their own over the same graphs.
            index: The graph of every node, [N], in any order. With neither ``index`` nor ``ptr``: one graph.
            ptr: Alternatively the first node of every graph, [B + 1], for nodes that stand in order.
            dim_size: The number of graphs B. A graph without nodes gets zeros.
            dim: The dimension of ``x`` that counts the nodes.

        Returns:
            Graph vectors, [..., B, out_channels].
        """
        return self.read(x, index, ptr, dim_size, dim).vectors

    def read(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Reading:
        """As :meth:`forward`, with the interface of :meth:`SSRead.read`: one position, an alignment loss of zero."""
        nodes = Nodes(x, index, ptr, dim_size, dim, self.in_channels)
        vectors = self.aggregate(nodes, None, 1)
        positions = torch.zeros_like(nodes.index)
        return Reading(nodes.shape_graphs(vectors), nodes.shape_nodes(positions), None, nodes.index)

    def aggregate(self, nodes: Nodes, positions: Tensor | None, num_positions: int) -> Tensor:
        """Phi over the nodes of every (graph, position) pair, [graphs * K, out]; without positions K is 1."""
        how = _FUSED.get(type(self.aggr))
        if how is not None and nodes.ptr is not None and kernels.usable(nodes.x):
            from ssread.kernels.read import reduce

            return reduce(nodes.x, nodes.ptr, positions, num_positions, how)
        pair = nodes.index if positions is None else nodes.index * num_positions + positions
        return self.aggr(nodes.x, pair, dim_size=nodes.num_graphs * num_positions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, aggr={self.aggr!r})"


class SSRead(Aggregation):
    r"""Structural semantic readout: `"Learnable Structural Semantic Readout for Graph Classification"
    <https://arxiv.org/abs/2111.11523>`_.

    Every node is aligned with the closest of K learnable structural prototypes, and the nodes of each position are
    aggregated on their own (Equations 2 and 3):

    .. math::
        \bar h_k = \phi(\{h_n \mid k = \mathrm{argmin}_{k'} \, \delta(h_n, p_{k'})\}), \quad
        \mathrm{SSRead}(H; P) = [\bar h_1; \ldots; \bar h_K]

    where :math:`\delta` is the cosine distance. The output is position-major, so that a plain ``Linear`` after it is
    the position-specific classifier of Equation 7. The prototypes learn from the alignment loss alone: no other
    loss sends them a gradient. A position that no node of a graph takes is exactly zero.

    Args:
        in_channels: Width d of the node vectors.
        num_positions: The number of structural positions K. With 1 it equals :class:`GlobalReadout`.
        aggr: The aggregation phi: ``sum``, ``max``, ``mean``, ``attention``, ``set2set`` or ``sort``, any PyG
            ``Aggregation``, or a list of these, whose results are concatenated.
        gamma: The smoothing of the alignment loss; 0 uses the hard minimum.
        aggr_kwargs: Passed on to the named aggregation.

    >>> readout = SSRead(in_channels=16, num_positions=4)
    >>> x, batch = torch.randn(10, 16), torch.tensor([0] * 6 + [1] * 4)
    >>> readout(x, batch).shape
    torch.Size([2, 64])
    >>> reading = readout.read(x, batch)
    >>> reading
    Reading(vectors=[2, 64], positions=[10], costs=[10, 4])
    >>> reading.alignment_loss().backward()  # moves the prototypes only
    """

    def __init__(
        self,
        in_channels: int,
        num_positions: int,
        aggr: Aggr = "sum",
        gamma: float = 0.01,
        **aggr_kwargs: object,
    ):
        super().__init__()
        if num_positions < 1:
            raise InputError(f"num_positions must be 1 or more, but {num_positions} was given.")
        if not gamma >= 0:
            raise InputError(f"gamma smooths the alignment loss and must be 0 or more, but {gamma} was given.")
        self.num_positions = num_positions
        self.gamma = gamma
        self.per_position = GlobalReadout(in_channels, aggr, **aggr_kwargs)
        self.in_channels = in_channels
        self.out_channels = num_positions * self.per_position.out_channels
        self.prototypes = nn.Parameter(torch.empty(num_positions, in_channels))
        nn.init.xavier_uniform_(self.prototypes)

    def reset_parameters(self) -> None:
        """Draws new prototypes, and new parameters where the aggregation has any."""
        nn.init.xavier_uniform_(self.prototypes)
        self.per_position.reset_parameters()

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Tensor:
        """Graph vectors from node vectors.

        Args:
            x: Node vectors, [..., N, d]; leading dimensions are batches of their own over the same graphs.
            index: The graph of every node, [N], in any order. With neither ``index`` nor ``ptr``: one graph.
            ptr: Alternatively the first node of every graph, [B + 1], for nodes that stand in order.
            dim_size: The number of graphs B. A graph without nodes gets zeros.
            dim: The dimension of ``x`` that counts the nodes.

        Returns:
            Graph vectors, [..., B, num_positions * out], the vector of position 0 first.
        """
        nodes = Nodes(x, index, ptr, dim_size, dim, self.in_channels)
        return nodes.shape_graphs(self._aggregate(nodes, align(nodes.x, self.prototypes)))

    def read(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
        *,
        reach_nodes: bool = False,
    ) -> Reading:
        """Graph vectors, positions and alignment loss from one pass, the costs computed once.

        Args:
            x: As in :meth:`forward`, like ``index``, ``ptr``, ``dim_size`` and ``dim``.
            reach_nodes: Whether the alignment loss sends gradient to the node vectors too. Algorithm 1 says no.
        """
        nodes = Nodes(x, index, ptr, dim_size, dim, self.in_channels)

        def find_costs() -> Tensor:
            return cosine_cost(nodes.x if reach_nodes else nodes.x.detach(), self.prototypes)

        if kernels.usable(nodes.x) and not reach_nodes:
            from ssread.kernels import read

            positions, soft = read.align(nodes.x, direction(self.prototypes), self.gamma)
        else:
            costs = find_costs()
            positions, soft = closest(costs), soft_min(costs, self.gamma)
            find_costs = lambda: costs  # noqa: E731
        vectors = nodes.shape_graphs(self._aggregate(nodes, positions))
        return Reading(vectors, nodes.shape_nodes(positions), soft, nodes.index, nodes.ptr, find_costs)

    def align(self, x: Tensor) -> Tensor:
        """The structural position of every node (Equation 2), [..., N]."""
        return align(check_width(x, self.in_channels), self.prototypes)

    def alignment_loss(
        self,
        x: Tensor,
        index: Tensor | None = None,
        dim_size: int | None = None,
        *,
        reach_nodes: bool = False,
    ) -> Tensor:
        """The alignment loss (Equation 6) on its own; :meth:`read` gives it together with the output.

        Args:
            x: Node vectors, [N, d].
            index: The graph of every node, [N].
            dim_size: The number of graphs B, over which the loss is averaged.
            reach_nodes: Whether gradient flows to the node vectors too, not to the prototypes alone.
        """
        nodes = Nodes(x, index, None, dim_size, -2, self.in_channels)
        costs = cosine_cost(nodes.x if reach_nodes else nodes.x.detach(), self.prototypes)
        return soft_min(costs, self.gamma).sum() / (nodes.num_graphs or 1)

    def usage(self, x: Tensor) -> Tensor:
        """The share of nodes aligned with every position, [K]; a dead position shows as 0."""
        positions = self.align(x).flatten()
        return segment.count(positions, self.num_positions) / (positions.numel() or 1)

    @torch.no_grad()
    def init_prototypes(self, x: Tensor) -> None:
        """Starts the prototypes at K node directions far from each other (k-means++ on unit vectors).

        Args:
            x: Node vectors of the untrained network, [N, d]. The choice follows ``torch.manual_seed``.
        """
        from sklearn.cluster import kmeans_plusplus

        x = check_width(x, self.in_channels).reshape(-1, self.in_channels)
        lengths = x.norm(dim=-1, keepdim=True)
        directions = (x / lengths)[lengths.squeeze(-1) > 0].double().cpu().numpy()
        if len(directions) < self.num_positions:
            raise InputError(
                f"{self.num_positions} prototypes need at least as many node vectors that are not zero, "
                f"but there are {len(directions)}."
            )
        seed = int(torch.randint(2**31, ()))
        centres, _ = kmeans_plusplus(directions, self.num_positions, random_state=seed)
        self.prototypes.copy_(torch.as_tensor(centres))

    def _aggregate(self, nodes: Nodes, positions: Tensor) -> Tensor:
        """Equation 3: phi over the nodes of every (graph, position) pair, [graphs, K * out]."""
        vectors = self.per_position.aggregate(nodes, positions, self.num_positions)
        return vectors.view(nodes.num_graphs, self.out_channels)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.in_channels}, num_positions={self.num_positions}, "
            f"aggr={self.per_position.aggr!r}, gamma={self.gamma})"
        )


def _sum_per_graph(values: Tensor, index: Tensor, ptr: Tensor | None, num_graphs: int) -> Tensor:
    """Sums of rows [N, d] per graph, [num_graphs, d]."""
    if ptr is not None and kernels.usable(values):
        from ssread.kernels.read import reduce

        return reduce(values, ptr, None, 1, "sum")
    return segment.reduce_sum(values, index, num_graphs)
