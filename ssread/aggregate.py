"""The aggregation functions phi of Equation 3, usable globally and per structural position.

Each is a PyG ``Aggregation`` that takes an unsorted ``index``, has static shapes, lifts over replicas with
``torch.func.vmap``, and gives exactly zero for an empty group.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch_geometric.nn.aggr import Aggregation
from torch_geometric.nn.inits import reset

from ssread import segment
from ssread.errors import InputError

__all__ = [
    "NAMES",
    "Aggr",
    "Attention",
    "Concat",
    "Foreign",
    "Max",
    "Mean",
    "Set2Set",
    "Sort",
    "Sum",
    "make_aggregation",
]


#: A name, any PyG aggregation, or several of these side by side.
Aggr: TypeAlias = str | Aggregation | Sequence[str | Aggregation]


class Phi(Aggregation):
    """An aggregation that knows how wide its input and its output are."""

    def __init__(self, in_channels: int, out_channels: int | None = None):
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = in_channels if out_channels is None else out_channels

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels})"


class Sum(Phi):
    """The sum of the node vectors."""

    def forward(self, x: Tensor, index: Tensor, ptr: None = None, dim_size: int = 1, dim: int = -2) -> Tensor:
        """Node vectors [N, d] to group vectors [dim_size, d]."""
        return segment.reduce_sum(x, index, dim_size)


class Mean(Phi):
    """The mean of the node vectors."""

    def forward(self, x: Tensor, index: Tensor, ptr: None = None, dim_size: int = 1, dim: int = -2) -> Tensor:
        """Node vectors [N, d] to group vectors [dim_size, d]."""
        return segment.reduce_mean(x, index, dim_size)


class Max(Phi):
    """The largest value of every channel."""

    def forward(self, x: Tensor, index: Tensor, ptr: None = None, dim_size: int = 1, dim: int = -2) -> Tensor:
        """Node vectors [N, d] to group vectors [dim_size, d]."""
        return segment.reduce_max(x, index, dim_size)


class Attention(Phi):
    r"""Soft attention: `"Gated Graph Sequence Neural Networks" <https://arxiv.org/abs/1511.05493>`_.

    .. math:: \phi(H) = \sum_n \mathrm{softmax}_n(h_n \cdot w) \, h_n

    PyG's ``AttentionalAggregation`` with a linear gate gives the same numbers; it is written again on
    :mod:`ssread.segment` so that it lifts over replicas.
    """

    def __init__(self, in_channels: int):
        super().__init__(in_channels)
        self.gate = nn.Linear(in_channels, 1, bias=False)  # a softmax does not notice a bias

    def reset_parameters(self) -> None:
        """Draws new gate weights."""
        self.gate.reset_parameters()

    def forward(self, x: Tensor, index: Tensor, ptr: None = None, dim_size: int = 1, dim: int = -2) -> Tensor:
        """Node vectors [N, d] to group vectors [dim_size, d]."""
        weights = segment.softmax(self.gate(x), index, dim_size)
        return segment.reduce_sum(weights * x, index, dim_size)


class Set2Set(Phi):
    r"""Iterative content-based attention: `"Order Matters" <https://arxiv.org/abs/1511.06391>`_.

    .. math::
        q_t = \mathrm{LSTM}(q^*_{t-1}), \quad
        r_t = \sum_n \mathrm{softmax}_n(h_n \cdot q_t) \, h_n, \quad
        q^*_t = q_t \, \Vert \, r_t

    As in PyG the output is twice as wide as the input. PyG's layer calls ``nn.LSTM``, whose fused kernels do not lift
    over replicas; here the cell is four lines of matrix products on the same parameters.

    Args:
        in_channels: Width d of the node vectors.
        processing_steps: Number of iterations T.
    """

    def __init__(self, in_channels: int, processing_steps: int = 3):
        super().__init__(in_channels, 2 * in_channels)
        if processing_steps < 1:
            raise InputError(f"set2set takes processing_steps of 1 or more, but {processing_steps} was given.")
        self.processing_steps = processing_steps
        self.cell = nn.LSTMCell(2 * in_channels, in_channels)

    def reset_parameters(self) -> None:
        """Draws new LSTM weights."""
        self.cell.reset_parameters()

    def forward(self, x: Tensor, index: Tensor, ptr: None = None, dim_size: int = 1, dim: int = -2) -> Tensor:
        """Node vectors [N, d] to group vectors [dim_size, 2 d]."""
        query = memory = x.new_zeros(dim_size, self.in_channels)
        answer = torch.cat([query, query], dim=-1)
        for _ in range(self.processing_steps):
            query, memory = self._lstm(answer, query, memory)
            scores = (x * segment.take(query, index)).sum(dim=-1, keepdim=True)
            weights = segment.softmax(scores, index, dim_size)
            answer = torch.cat([query, segment.reduce_sum(weights * x, index, dim_size)], dim=-1)
        return _zero_where_empty(answer, index)

    def _lstm(self, x: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        gates = nn.functional.linear(x, self.cell.weight_ih, self.cell.bias_ih)
        gates = gates + nn.functional.linear(hidden, self.cell.weight_hh, self.cell.bias_hh)
        enter, forget, candidate, leave = gates.chunk(4, dim=-1)
        memory = forget.sigmoid() * memory + enter.sigmoid() * candidate.tanh()
        return leave.sigmoid() * memory.tanh(), memory


class Sort(Phi):
    r"""Sort, convolve, flatten: SortPool of `"An End-to-End Deep Learning Architecture for Graph Classification"
    <https://ojs.aaai.org/index.php/AAAI/article/view/11782>`_ as the paper's section V-A adapts it.

    The first ``k`` nodes in descending order of their last channel stand in a row (zeros behind the last node); one
    convolution as long as the row turns them into one vector of the input's width. Nodes with equal last channels are
    ordered by the channels before it, from back to front; past the fourth by one number made from all of them, so that
    the order depends on the vectors alone and Theorem 1 holds exactly.

    Args:
        in_channels: Width d of the node vectors.
        k: How many nodes are kept, N' in the paper.
    """

    #: A tie over this many channels is rare enough to be settled by a single number.
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
        """Draws new convolution weights."""
        self.convolution.reset_parameters()

    def forward(self, x: Tensor, index: Tensor, ptr: None = None, dim_size: int = 1, dim: int = -2) -> Tensor:
        """Node vectors [N, d] to group vectors [dim_size, d]."""
        rows = self.sort(x, index, dim_size)
        weight = self.convolution.weight.transpose(1, 2).flatten(1)  # the kernel spans the row: a matrix product
        out = nn.functional.linear(rows.flatten(1), weight, self.convolution.bias)
        return _zero_where_empty(out, index)

    def sort(self, x: Tensor, index: Tensor, dim_size: int) -> Tensor:
        """The first ``k`` nodes of every group in order, [dim_size, k, d], zeros behind the last."""
        order = self._order(x.detach(), index)
        members = segment.count(index, dim_size)
        first = members.cumsum(0) - members
        rank = torch.arange(self.k, device=x.device)
        slot = (first.unsqueeze(1) + rank).clamp(max=x.size(0))
        slot = torch.where(rank < members.unsqueeze(1), slot, x.size(0))  # the row of zeros appended below
        padded = torch.cat([segment.take(x, order), x.new_zeros(1, x.size(1))])
        return segment.take(padded, slot.flatten()).view(dim_size, self.k, x.size(1))

    def _order(self, x: Tensor, index: Tensor) -> Tensor:
        """Nodes by group, and within it by channels from the last to the first, larger first."""
        channels = [x[:, -1 - c] for c in range(min(self.CHANNELS_COMPARED, x.size(1)))]
        if x.size(1) > len(channels):
            channels.append((x.double() * self.tie_break).sum(dim=-1))
        order = torch.arange(x.size(0), device=x.device)
        for key in reversed(channels):  # stable sorts, the least important key first
            order = order.index_select(0, _stable_argsort(key.index_select(0, order), descending=True))
        return order.index_select(0, _stable_argsort(index.index_select(0, order)))


class Concat(Phi):
    """Several aggregations side by side."""

    def __init__(self, parts: Sequence[Phi]):
        super().__init__(parts[0].in_channels, sum(part.out_channels for part in parts))
        self.parts = nn.ModuleList(parts)

    def reset_parameters(self) -> None:
        """Draws new weights in every part."""
        reset(self.parts)

    def forward(self, x: Tensor, index: Tensor, ptr: None = None, dim_size: int = 1, dim: int = -2) -> Tensor:
        """Node vectors [N, d] to group vectors [dim_size, sum of the parts' widths]."""
        return torch.cat([part(x, index, dim_size=dim_size) for part in self.parts], dim=-1)

    def __repr__(self) -> str:
        return " + ".join(repr(part) for part in self.parts)


class Foreign(Phi):
    """Any PyG ``Aggregation``, shown only what all of them can take: sorted nodes and no empty group.

    The number of groups that have nodes depends on the data, so that this one neither compiles nor lifts over replicas.
    """

    def __init__(self, aggregation: Aggregation, in_channels: int):
        super().__init__(in_channels, _width(aggregation, in_channels))
        self.aggregation = aggregation

    def reset_parameters(self) -> None:
        """Draws new weights where the aggregation has any."""
        self.aggregation.reset_parameters()

    def forward(self, x: Tensor, index: Tensor, ptr: None = None, dim_size: int = 1, dim: int = -2) -> Tensor:
        """Node vectors [N, d] to group vectors [dim_size, out_channels]."""
        out = x.new_zeros(dim_size, self.out_channels)
        if x.size(0) == 0:
            return out
        index, order = index.sort(stable=True)
        groups, group = torch.unique_consecutive(index, return_inverse=True)
        return out.index_add(0, groups, self.aggregation(x.index_select(0, order), group, dim_size=groups.numel()))

    def __repr__(self) -> str:
        return repr(self.aggregation)


NAMES: dict[str, Callable[..., Phi]] = {
    "sum": Sum,
    "max": Max,
    "mean": Mean,
    "attention": Attention,
    "set2set": Set2Set,
    "sort": Sort,
}


def make_aggregation(aggr: Aggr, in_channels: int, **kwargs: object) -> Phi:
    """An aggregation from its name, from several names (side by side), or from any PyG ``Aggregation``.

    Args:
        aggr: One of ``sum max mean attention set2set sort``, an ``Aggregation``, or a list of these.
        in_channels: Width of the node vectors.
        kwargs: Passed to the named aggregation: ``k`` of sort, ``processing_steps`` of set2set.
    """
    if isinstance(aggr, str):
        return _by_name(aggr, in_channels, kwargs)
    if isinstance(aggr, Sequence):
        if not aggr or kwargs:
            raise InputError("A list of aggregations needs at least one entry and takes no further arguments.")
        return Concat([make_aggregation(part, in_channels) for part in aggr])
    if kwargs:
        raise InputError(f"{', '.join(kwargs)}: an aggregation that is already built takes no further arguments.")
    if isinstance(aggr, Phi):
        if aggr.in_channels != in_channels:
            raise InputError(f"{aggr!r} was built for {aggr.in_channels} channels, but {in_channels} are asked for.")
        return aggr
    if isinstance(aggr, Aggregation):
        return Foreign(aggr, in_channels)
    raise InputError(f"aggr must be a name, a PyG Aggregation or a list of these, not {aggr!r}.")


def _by_name(name: str, in_channels: int, kwargs: dict[str, object]) -> Phi:
    if name not in NAMES:
        raise InputError(
            f"There is no aggregation {name!r}. Choose one of {', '.join(NAMES)}, or pass a PyG Aggregation."
        )
    takes = [p for p in inspect.signature(NAMES[name]).parameters if p not in ("in_channels", "out_channels")]
    for unknown in kwargs.keys() - set(takes):
        raise InputError(f"{name} has no argument {unknown!r}; it takes {', '.join(takes) or 'none'}.")
    return NAMES[name](in_channels, **kwargs)


def _stable_argsort(keys: Tensor, descending: bool = False) -> Tensor:
    """Equal keys keep their order: in ONNX without asking, since its TopK breaks ties by the lower index."""
    if torch.onnx.is_in_onnx_export():
        return keys.sort(descending=descending).indices
    return keys.argsort(stable=True, descending=descending)


def _zero_where_empty(out: Tensor, index: Tensor) -> Tensor:
    members = segment.count(index, out.size(0))
    return torch.where((members > 0).unsqueeze(-1), out, torch.zeros_like(out))


def _width(aggregation: Aggregation, in_channels: int) -> int:
    """How many channels an unknown aggregation gives, by asking it once."""
    training = aggregation.training
    reference = next(aggregation.parameters(), torch.empty(0))
    with torch.no_grad():
        x = reference.new_zeros(1, in_channels)
        index = torch.zeros(1, dtype=torch.long, device=x.device)
        width = aggregation.eval()(x, index, dim_size=1).size(-1)
    aggregation.train(training)
    return width
