"""Mutual information: the vector of a graph should tell its own nodes from those of other graphs."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ssread.errors import InputError
from ssread.models.classifier import GraphClassifier
from ssread.models.graphs import Graphs
from ssread.train.objective import Unlabelled, mean

__all__ = ["InfoGraph", "jensen_shannon_loss"]


def jensen_shannon_loss(nodes: Tensor, graphs: Tensor, index: Tensor, real: Tensor | None = None) -> Tensor:
    r"""Computes the negative Jensen-Shannon estimate of the mutual information of nodes and their graphs, a scalar.

    .. math::
        \mathrm{mean}_{i \notin G} \, \mathrm{softplus}(n_i \cdot g) +
        \mathrm{mean}_{i \in G} \, \mathrm{softplus}(-n_i \cdot g) - 2 \log 2

    It is 0 if no pair can be told from any other, and never below :math:`-2 \log 2`.

    Args:
        nodes: Node vectors, [N, d].
        graphs: Graph vectors, [B, d].
        index: The graph of every node, [N]; nodes of graph B and above are ignored.
        real: 1 for real graphs, 0 for padding, [B]; padding is never a negative.
    """
    count = graphs.size(0)
    if count < 2:
        raise InputError("A batch of one graph has no negatives: infograph needs at least two graphs.")
    scores = nodes @ graphs.T
    own = index.unsqueeze(1) == torch.arange(count, device=index.device)
    positive = own.to(scores.dtype)
    negative = ((index < count).unsqueeze(1) & ~own).to(scores.dtype)
    if real is not None:
        negative = negative * (real > 0)
    apart = (F.softplus(scores) * negative).sum() / negative.sum().clamp(min=1)
    together = (F.softplus(-scores) * positive).sum() / positive.sum().clamp(min=1)
    return apart + together - 2 * math.log(2)


class Discriminator(nn.Module):
    """Three layers with a linear shortcut, which the original applies to nodes and graphs before it scores them."""

    def __init__(self, in_channels: int, out_channels: int):
        super().__init__()
        self.block = nn.Sequential(
            *(nn.Linear(in_channels, out_channels), nn.ReLU()),
            *(nn.Linear(out_channels, out_channels), nn.ReLU()),
            *(nn.Linear(out_channels, out_channels), nn.ReLU()),
        )
        self.shortcut = nn.Linear(in_channels, out_channels)

    def forward(self, x: Tensor) -> Tensor:
        """Maps vectors [N, in] to vectors [N, out]."""
        return self.block(x) + self.shortcut(x)


class InfoGraph(Unlabelled):
    """`"InfoGraph: Unsupervised and Semi-supervised Graph-Level Representation Learning via Mutual Information
    Maximization" <https://arxiv.org/abs/1908.01000>`_, with the Jensen-Shannon estimator.

    Node vectors are the encoder's output: with ``jumping``, the outputs of all layers, as in the original.

    Args:
        model: The encoder and its readout; there is no head.
    """

    def __init__(self, model: GraphClassifier):
        super().__init__(model)
        width = model.encoder.out_channels
        self.local = Discriminator(width, width)
        self.whole = Discriminator(model.readout.out_channels, width)

    def forward(self, y: Tensor | None, real: Tensor | None, *graphs: Any) -> Tensor:
        """See :class:`~ssread.train.objective.Objective`; ``y`` is not used."""
        batch = Graphs.of(*graphs)
        output = self.model.run(batch).first(batch.batch_size if real is None else real.size(0))
        nodes, wholes = self.local(output.encoding.x), self.whole(output.vectors)
        information = jensen_shannon_loss(nodes, wholes, output.encoding.batch, real)
        return torch.stack([information + mean(output.auxiliary_costs(), real), mean(output.alignment_costs(), real)])
