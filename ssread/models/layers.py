"""The layers that several architectures share."""

import torch
from torch import Tensor, nn

from ssread import segment
from ssread.models.graphs import Graphs

__all__ = ["BatchNorm", "Dropout", "EdgeMessages", "head"]


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation whose statistics ignore padding; PyG's and torch's take every row for real.

    Without a mask it is torch's own kernel, a tenth of the time on a CPU. A batch of a single node, which torch refuses
    in training, has variance 0.
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Normalises rows [N, d]; ``mask`` [N, 1] is 1 for the rows that count."""
        if mask is None and (x.size(0) > 1 or not self.training):
            return super().forward(x)
        if not self.training:
            return self._normalise(x, self.running_mean, self.running_var)
        mask = torch.ones_like(x[:, :1]) if mask is None else mask
        rows = mask.sum().clamp(min=1)
        mean = (x * mask).sum(dim=0) / rows
        var = ((x - mean).square() * mask).sum(dim=0) / rows
        with torch.no_grad():
            momentum = self.momentum or 0.0
            self.num_batches_tracked.add_(1)
            self.running_mean.mul_(1 - momentum).add_(momentum * mean)
            self.running_var.mul_(1 - momentum).add_(momentum * var * rows / (rows - 1).clamp(min=1))
        return self._normalise(x, mean, var)

    def _normalise(self, x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
        return (x - mean) * ((var + self.eps).rsqrt() * self.weight) + self.bias


class Dropout(nn.Dropout):
    """Dropout that takes eight decisions from one random number where torch takes one: a fifth of the time on a CPU.

    The share dropped is rounded to a 256th there (0.5 is exact).
    """

    def forward(self, x: Tensor) -> Tensor:
        """Drops entries in training and scales the others up."""
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
    r"""Messages that know the edge they take: :math:`\sum_j w_{ij} \, \mathrm{relu}(x_j + e_{ij})`.

    Here :math:`e_{ij}` is a linear map of the edge features; where there are none it is one learnable constant, and the
    relu is taken once per node instead of once per edge.

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
            nn.init.uniform_(self.constant, -1, 1)  # as a linear map of one constant feature would start

    def forward(self, x: Tensor, graphs: Graphs, weight: Tensor | None = None) -> Tensor:
        """The sum of the messages that arrive at every node, [N, channels]; ``weight`` [E] scales each."""
        if not self.edge_channels:
            return graphs.neighbours.sum((x + self.constant).relu(), weight)
        messages = (x.index_select(0, graphs.source) + self.edge(graphs.edge_attr)).relu()
        if weight is not None:
            messages = messages * weight.unsqueeze(-1)
        return segment.sum(messages, graphs.target, x.size(0))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(edge_channels={self.edge_channels})"


def head(in_channels: int, num_classes: int, hidden_channels: int, num_layers: int, dropout: float) -> nn.Module:
    """The classification module of Table II: Linear, or an MLP whose hidden layers halve from the second on.

    A plain Linear after SSRead is the position-specific classifier of Equation 7.
    """
    if num_layers == 1:
        return nn.Linear(in_channels, num_classes)
    layers: list[nn.Module] = []
    width = hidden_channels
    for _ in range(num_layers - 1):
        layers += [nn.Linear(in_channels, width), nn.ReLU(), Dropout(dropout)]
        in_channels, width = width, max(width // 2, 1)
    return nn.Sequential(*layers, nn.Linear(in_channels, num_classes))
