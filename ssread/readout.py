"""Structural semantic readout: the nodes of every structural position are aggregated on their own."""

import torch
from torch import Tensor, nn
from torch_geometric.nn.aggr import Aggregation

from ssread import kernels, segment
from ssread.aggregate import Aggr
from ssread.errors import InputError
from ssread.functional import align, closest, cosine_cost, direction, distant_directions, soft_min
from ssread.global_readout import GlobalReadout
from ssread.nodes import Nodes, check_width
from ssread.reading import Reading

__all__ = ["GlobalReadout", "Reading", "SSRead"]


class SSRead(Aggregation):
    r"""Structural semantic readout: `"Learnable Structural Semantic Readout for Graph Classification"
    <https://arxiv.org/abs/2111.11523>`_.

    Every node is aligned with the closest of K learnable structural prototypes, and the nodes of each position are
    aggregated on their own (Equations 2 and 3):

    .. math::
        \bar h_k = \phi(\{h_n \mid k = \mathrm{argmin}_{k'} \, \delta(h_n, p_{k'})\}), \quad
        \mathrm{SSRead}(H; P) = [\bar h_1; \ldots; \bar h_K]

    where :math:`\delta` is the cosine distance. The vector of position 0 comes first, so that a plain ``Linear`` after
    it is the position-specific classifier of Equation 7. A position without nodes is exactly zero.

    The prototypes learn from the alignment loss alone: no other loss sends them a gradient. Calling the layer returns
    the graph vectors only. For training call :meth:`read` and add ``reading.alignment_loss()`` to the loss.

    Args:
        in_channels: Width d of the node vectors.
        num_positions: The number of structural positions K. With 1 it equals :class:`GlobalReadout`.
        aggr: The aggregation phi: ``sum``, ``max``, ``mean``, ``attention``, ``set2set`` or ``sort``, any PyG
            ``Aggregation``, or a list of these, whose results are concatenated.
        gamma: The smoothing of the alignment loss; 0 uses the hard minimum.
        epsilon: Added inside the logarithm of the soft minimum, as the authors' public code does: see
            :func:`ssread.functional.soft_min`. Prototypes far from all nodes then never move.
        place_channels: If given, the last so many channels of a node vector say where the node is: they alone are
            compared with the prototypes, and the others alone are aggregated. The prototypes are then constants, to be
            set by :meth:`init_prototypes` or otherwise; see :mod:`ssread.models.places`.
        aggr_kwargs: Passed to the named aggregation.

    >>> readout = SSRead(in_channels=16, num_positions=4)
    >>> x, batch = torch.randn(10, 16), torch.tensor([0] * 6 + [1] * 4)
    >>> readout(x, batch).shape
    torch.Size([2, 64])
    >>> reading = readout.read(x, batch)
    >>> reading
    Reading(vectors=[2, 64], positions=[10], costs=[10, 4])
    >>> reading.alignment_loss().backward()  # reaches the prototypes only
    """

    prototypes: Tensor

    def __init__(
        self,
        in_channels: int,
        num_positions: int,
        aggr: Aggr = "sum",
        gamma: float = 0.01,
        epsilon: float = 0.0,
        *,
        place_channels: int = 0,
        **aggr_kwargs: object,
    ):
        super().__init__()
        if place_channels and not 0 < place_channels < in_channels:
            raise InputError(f"place_channels must be from 0 to below {in_channels}, but {place_channels} was given.")
        if num_positions < 1:
            raise InputError(f"num_positions must be 1 or more, but {num_positions} was given.")
        if not gamma >= 0:
            raise InputError(f"gamma smooths the alignment loss and must be 0 or more, but {gamma} was given.")
        self.num_positions = num_positions
        self.gamma, self.epsilon = gamma, epsilon
        self.per_position = GlobalReadout(in_channels - place_channels, aggr, **aggr_kwargs)
        self.in_channels, self.place_channels = in_channels, place_channels
        self.out_channels = num_positions * self.per_position.out_channels
        if place_channels:
            self.register_buffer("prototypes", torch.zeros(num_positions, place_channels))
        else:
            self.prototypes = nn.Parameter(torch.empty(num_positions, in_channels))
            nn.init.xavier_uniform_(self.prototypes)

    def reset_parameters(self) -> None:
        """Resets the prototypes, unless they are constants, and the aggregation."""
        if not self.place_channels:
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
        """Computes graph vectors from node vectors; :meth:`read` computes the alignment loss too.

        Args:
            x: Node vectors, [..., N, d]; leading dimensions are aligned and aggregated independently.
            index: The graph of every node, [N], in any order. Without ``index`` and ``ptr`` all form one graph.
            ptr: Instead of ``index``, for nodes sorted by graph: where each graph begins and the last ends, [B + 1].
            dim_size: The number of graphs B. The vector of a graph without nodes is zero.
            dim: The dimension of ``x`` that counts the nodes.

        Returns:
            Graph vectors, [..., B, num_positions * out], the vector of position 0 first.
        """
        nodes = Nodes(x, index, ptr, dim_size, dim, self.in_channels)
        return nodes.shape_graphs(self._aggregate(nodes, align(self.aligned(nodes.x), self.prototypes)))

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
        """Computes graph vectors, positions and alignment loss in one pass.

        Args:
            x: As in :meth:`forward`, like ``index``, ``ptr``, ``dim_size`` and ``dim``.
            reach_nodes: Whether the alignment loss sends gradients to the node vectors too. Algorithm 1 does not.
        """
        nodes = Nodes(x, index, ptr, dim_size, dim, self.in_channels)
        H, P, costs = self.aligned(nodes.x if reach_nodes else nodes.x.detach()), self.prototypes, None
        if kernels.usable(H) and not (reach_nodes or self.epsilon or self.place_channels):
            from ssread.kernels import read

            positions, node_costs = read.align(H, direction(P), self.gamma)
        else:
            costs = cosine_cost(H, P)
            positions, node_costs = closest(costs), soft_min(costs, self.gamma, epsilon=self.epsilon)
        return Reading(
            vectors=nodes.shape_graphs(self._aggregate(nodes, positions)),
            positions=nodes.shape_nodes(positions),
            num_positions=self.num_positions,
            node_costs=nodes.shape_nodes(node_costs),
            sum_per_graph=nodes.sum_per_graph,
            compute_costs=lambda: nodes.shape_nodes(cosine_cost(H, P) if costs is None else costs),
        )

    def align(self, x: Tensor) -> Tensor:
        """The structural position of every node (Equation 2), [..., N]."""
        return align(self.aligned(check_width(x, self.in_channels)), self.prototypes)

    def aligned(self, x: Tensor) -> Tensor:
        """The part of node vectors [..., d] that is compared with the prototypes: all of it without places."""
        return x[..., -self.place_channels :] if self.place_channels else x

    def aggregated(self, x: Tensor) -> Tensor:
        """The part of node vectors [..., d] that is aggregated: all of it without places."""
        return x[..., : -self.place_channels] if self.place_channels else x

    def alignment_loss(
        self, x: Tensor, index: Tensor | None = None, dim_size: int | None = None, *, reach_nodes: bool = False
    ) -> Tensor:
        """Computes the alignment loss (Equation 6) alone; :meth:`read` computes it together with the output.

        Args:
            x: Node vectors, [N, d].
            index: The graph of every node, [N].
            dim_size: The number of graphs B, over which the loss is averaged.
            reach_nodes: Whether the loss sends gradients to the node vectors too.
        """
        nodes = Nodes(x, index, None, dim_size, -2, self.in_channels)
        costs = cosine_cost(self.aligned(nodes.x if reach_nodes else nodes.x.detach()), self.prototypes)
        return soft_min(costs, self.gamma, epsilon=self.epsilon).sum() / (nodes.num_graphs or 1)

    def usage(self, x: Tensor) -> Tensor:
        """The share of nodes aligned with every position, [K]; it is 0 for a position that no node takes."""
        positions = self.align(x).flatten()
        return segment.count(positions, self.num_positions) / (positions.numel() or 1)

    @torch.no_grad()
    def init_prototypes(self, x: Tensor) -> None:
        """Sets the prototypes to K directions of node vectors ``x`` [N, d] that are far from each other."""
        x = self.aligned(check_width(x, self.in_channels).reshape(-1, self.in_channels))
        self.prototypes.copy_(distant_directions(x, self.num_positions))

    def _aggregate(self, nodes: Nodes, positions: Tensor) -> Tensor:
        """Equation 3: phi over the nodes of every position in every graph, [num_graphs, K * out]."""
        if self.place_channels:
            nodes = nodes.with_vectors(self.aggregated(nodes.x).contiguous())
        vectors = self.per_position.aggr.aggregate_nodes(nodes, positions, self.num_positions)
        return vectors.view(nodes.num_graphs, self.out_channels)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.in_channels}, num_positions={self.num_positions}, "
            f"aggr={self.per_position.aggr!r}, gamma={self.gamma})"
        )
