"""Layers that several architectures share."""

import torch
from torch import Tensor, nn

from ssread import kernels, segment
from ssread.kernels import cpu_products
from ssread.models.graphs import Graphs

__all__ = ["BatchNorm", "Dropout", "EdgeMessages", "GraphNorm", "Linear", "WarmBatchNorm", "head", "linear"]


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that ignores padding in its statistics, unlike torch's and PyG's.

    Without a mask it calls torch's own kernel, which is ten times as fast on a CPU. A batch of a single node, which
    torch refuses in training, has variance 0.

    A channel whose running variance is rounding is normalised to zero in evaluation, as it is in training. torch's
    would divide by almost nothing how far its running mean is behind. Where nodes have no features, every channel may
    be the same for all of them: :class:`WarmBatchNorm` then does so from the first batch on.
    """

    #: A variance below these shares of the squared mean and of ``eps`` is rounding.
    ROUNDING, NEGLIGIBLE = 1e-8, 1e-3

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def forward(
        self, x: Tensor, mask: Tensor | None = None, relu: bool = False, dropout: "Dropout | None" = None
    ) -> Tensor:
        """Normalises rows [N, d], then applies relu and dropout if asked for; on a GPU in one kernel.

        Args:
            x: The rows.
            mask: 1 for real rows and 0 for padding, [N, 1]; None if all are real.
            relu: Whether a relu follows.
            dropout: The dropout layer that follows, if any.
        """
        if self.training and self.affine and kernels.usable(x) and (dropout is None or dropout.p < 1):
            from ssread.kernels.norm import norm_relu_dropout

            rows = None if mask is None else mask.squeeze(-1)
            share = 0.0 if dropout is None else dropout.p
            y, mean, unbiased = norm_relu_dropout(x, rows, self.weight, self.bias, self.eps, relu, share)
            self._keep(mean, unbiased)
            return y
        y = self._plain(x, mask)
        y = y.relu_() if relu else y
        return y if dropout is None else dropout(y)

    def _plain(self, x: Tensor, mask: Tensor | None) -> Tensor:
        if not self.training:
            var = self.variance()
            if mask is not None:
                return self._normalise(x, self.running_mean, var)
            return nn.functional.batch_norm(x, self.running_mean, var, self.weight, self.bias, eps=self.eps)
        if mask is None and x.size(0) > 1:
            return super().forward(x)
        mask = torch.ones_like(x[:, :1]) if mask is None else mask
        rows = mask.sum().clamp(min=1)
        mean = (x * mask).sum(dim=0) / rows
        squares = ((x - mean).square() * mask).sum(dim=0)
        self._keep(mean, squares / (rows - 1).clamp(min=1))
        return self._normalise(x, mean, squares / rows)

    def variance(self) -> Tensor:
        """The variance that evaluation divides by: infinite for a channel that is the same for all nodes."""
        rounding = (self.ROUNDING * self.running_mean.square()).clamp(max=self.NEGLIGIBLE * self.eps)
        return torch.where(self.running_var <= rounding, torch.inf, self.running_var)

    @torch.no_grad()
    def _keep(self, mean: Tensor, unbiased: Tensor) -> None:
        """Updates the running statistics with the mean and variance of a batch."""
        momentum = self.momentum or 0.0
        self.num_batches_tracked.add_(1)
        self.running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
        self.running_var.mul_(1 - momentum).add_(unbiased, alpha=momentum)

    def _normalise(self, x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
        factor = (var + self.eps).rsqrt()
        return (x - mean) * (factor * self.weight) + self.bias if self.affine else (x - mean) * factor


class WarmBatchNorm(BatchNorm):
    """Batch normalisation whose running statistics start at those of the first batch.

    torch's start at mean 0 and variance 1 and take fifty steps to reach a variance of a hundred. A small set has that
    many steps in twenty epochs, and until then every evaluation would be wrong. Of a channel that is the same for all
    nodes, what is left of the 1 would be divided by: for hundreds of steps it is little, but more than rounding.
    """

    def _plain(self, x: Tensor, mask: Tensor | None) -> Tensor:
        if not self.training or mask is not None or x.size(0) < 2:
            return super()._plain(x, mask)
        if not segment.is_concrete(x, self.num_batches_tracked):
            return super()._plain(x, torch.ones_like(x[:, :1]))
        self.num_batches_tracked.add_(1)
        weight = max(1 / int(self.num_batches_tracked), self.momentum or 0.0)
        running = self.running_mean, self.running_var
        return nn.functional.batch_norm(x, *running, self.weight, self.bias, True, weight, self.eps)

    @torch.no_grad()
    def _keep(self, mean: Tensor, unbiased: Tensor) -> None:
        self.num_batches_tracked.add_(1)
        weight = (1 / self.num_batches_tracked.to(mean.dtype)).clamp(min=self.momentum or 0.0)
        self.running_mean.mul_(1 - weight).add_(mean * weight)
        self.running_var.mul_(1 - weight).add_(unbiased * weight)


class GraphNorm(nn.Module):
    """Normalises graph vectors over the graphs of a batch, and drops entries out.

    A sum over thirty nodes is large, and Adam moves every weight of the head by its learning rate: unnormalised, the
    class scores of large graphs with many positions jump. There is no scale or shift to learn, since a linear head
    follows. In evaluation it is a fixed affine map, so that a class score stays a sum over positions.

    Args:
        channels: Width of the graph vectors.
        dropout: Share of the normalised entries dropped in training.
    """

    def __init__(self, channels: int, dropout: float = 0.0):
        super().__init__()
        self.norm = WarmBatchNorm(channels, affine=False)
        self.dropout = Dropout(dropout)

    def forward(self, vectors: Tensor, real: Tensor | None = None) -> Tensor:
        """Graph vectors [B, d] to graph vectors; ``real`` [B] is 1 for the graphs that count in the statistics."""
        real = torch.ones_like(vectors[:, 0]) if real is None else real.to(vectors.dtype)
        return self.dropout(self.norm(vectors, real.unsqueeze(-1)))


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Returns node vectors [N, i] times the transposed weight [o, i] plus the bias [o].

    On a GPU it calls our own kernel, which needs a multiple of 16 channels, so inputs are padded. With TF32 allowed,
    cuBLAS is faster and is used. On a CPU it calls oneDNN where that is faster.
    """
    fitting = weight.size(0) % 16 == 0 and x.dim() == 2 and kernels.usable(x)
    if fitting and torch.get_float32_matmul_precision() == "highest":
        from ssread.kernels import products

        filling = (0, -x.size(1) % 16)
        if filling[1]:
            x, weight = nn.functional.pad(x, filling), nn.functional.pad(weight, filling)
        return products.linear(x, weight, bias)
    if segment.is_concrete(x, weight, bias) and cpu_products.usable(x):
        total = segment.apply(cpu_products.Linear, x, weight, bias)
        if total is not None:
            return total
    return nn.functional.linear(x, weight, bias)


class Linear(nn.Linear):
    """A linear map of node vectors by :func:`linear`."""

    def forward(self, x: Tensor) -> Tensor:
        """Maps node vectors [N, in] to node vectors [N, out]."""
        return linear(x, self.weight, self.bias)


class Dropout(nn.Dropout):
    """Dropout that takes eight decisions from each random number, which is five times as fast as torch's on a CPU.

    The dropped share is rounded to a multiple of 1/256 there (0.5 is exact).
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drops entries in training and scales the others so that the mean stays the same."""
        if not self.training or not segment.is_concrete(x):
            return super().forward(x)
        dropped = round(256 * self.p)
        if dropped == 0:
            return x
        if dropped == 256:
            return x * 0
        decisions = torch.randint(-(2**63), 2**63 - 1, ((x.numel() + 7) // 8,)).view(torch.uint8)
        kept = (decisions[: x.numel()] >= dropped).to(x.dtype).mul_(256 / (256 - dropped))
        return x * kept.view(x.shape)


class EdgeMessages(nn.Module):
    r"""Sums of messages with edge features, :math:`\sum_j w_{ij} \, \mathrm{relu}(x_j + e_{ij})`.

    Here :math:`e_{ij}` is a linear map of the edge features. Without edge features it is one learnable constant, and
    the relu is computed once per node instead of once per edge.

    Args:
        channels: Width of the node vectors.
        edge_channels: Number of edge features, 0 for none.
    """

    def __init__(self, channels: int, edge_channels: int = 0):
        super().__init__()
        self.edge_channels = edge_channels
        if edge_channels:
            self.edge = nn.Linear(edge_channels, channels)
        else:
            self.constant = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new weights."""
        if self.edge_channels:
            self.edge.reset_parameters()
        else:
            nn.init.uniform_(self.constant, -1, 1)  # like the weight of a linear map of one constant feature

    def forward(
        self,
        x: Tensor,
        graphs: Graphs,
        bias: Tensor | None = None,
        scale: Tensor | None = None,
        root: Tensor | None = None,
        factor: Tensor | None = None,
    ) -> Tensor:
        r"""Returns the sum of the messages to every node plus the node's own term, [N, channels].

        Args:
            x: Node vectors.
            graphs: The graphs.
            bias: Added to every node vector first, [channels].
            scale: s, [N]; the weight of an edge is :math:`s_i s_j`, or 1 without ``scale``.
            root: If given, the node's own term is :math:`s_i^2 \mathrm{relu}(x_i + root)`, [channels].
            factor: If given, the node's own term is this multiple of :math:`x_i`; excludes ``root``.
        """
        shift: Tensor = self.edge.bias if self.edge_channels else self.constant
        if bias is not None:
            shift = shift + bias
            root = None if root is None else root + bias
        if kernels.usable(x):
            return self._fused(x, graphs, shift, scale, root, factor)
        if not self.edge_channels:
            return graphs.neighbours.messages(x, shift, scale, root, factor)
        given = (x, shift, scale, root, factor, graphs.edge_attr, self.edge.weight.T)
        return graphs.neighbours.messages(*given, mask=graphs.mask)

    def _fused(
        self,
        x: Tensor,
        graphs: Graphs,
        shift: Tensor,
        scale: Tensor | None,
        root: Tensor | None,
        factor: Tensor | None,
    ) -> Tensor:
        from ssread.kernels.messages import own_none, own_relu, own_scaled, sum_messages

        own, form = (root, own_relu) if root is not None else (None, own_none)
        if factor is not None:
            own, form = factor.expand(x.size(1)), own_scaled
        features = graphs.edge_attr if self.edge_channels else None
        table = self.edge.weight.T if self.edge_channels else None
        edges = graphs.neighbours.entering, graphs.neighbours.leaving
        return sum_messages(x, *edges, shift=shift, features=features, table=table, scale=scale, own=own, own_form=form)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(edge_channels={self.edge_channels})"


class Unscale(nn.Module):
    """Turns standardised numbers into numbers of the targets' unit; the last layer of a head that predicts numbers.

    Args:
        channels: How many numbers.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, channels: int):
        super().__init__()
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("scale", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        """Returns the numbers, [..., channels]."""
        return x * self.scale + self.mean


def head(in_channels: int, num_classes: int, hidden_channels: int, num_layers: int, dropout: float) -> nn.Module:
    """Builds the classifier of Table II: a linear layer, or an MLP in which each further hidden layer is half as wide.

    A linear layer after SSRead is the position-specific classifier of Equation 7.
    """
    if num_layers == 1:
        return nn.Linear(in_channels, num_classes)
    layers: list[nn.Module] = []
    width = hidden_channels
    for _ in range(num_layers - 1):
        layers += [nn.Linear(in_channels, width), nn.ReLU(), Dropout(dropout)]
        in_channels, width = width, max(width // 2, 1)
    return nn.Sequential(*layers, nn.Linear(in_channels, num_classes))
