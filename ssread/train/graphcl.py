"""Contrastive learning: two random views of a graph are closer to each other than to any other graph."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ssread import segment
from ssread.errors import InputError
from ssread.models.classifier import GraphClassifier
from ssread.models.graphs import Graphs
from ssread.train.objective import Unlabelled, mean
from ssread.train.views import AUGMENTATIONS, check_augmentations, masked_last, views, without_masked

__all__ = ["GraphCL", "contrastive_loss"]


def contrastive_loss(one: Tensor, other: Tensor, temperature: float = 0.2, real: Tensor | None = None) -> Tensor:
    r"""The contrastive loss of every graph (Equation 8), with the other graphs of the batch as negatives, [B].

    .. math::
        -\log \frac{\exp(\mathrm{sim}(z_i, z_i') / \tau)}{\sum_{j \ne i} \exp(\mathrm{sim}(z_i, z_j') / \tau)}

    where sim is the cosine, and the mean of both directions is taken. It lies within :math:`\log(B - 1) \pm 2 / \tau`.

    Args:
        one: Projected vectors of one view of every graph, [B, d].
        other: Those of another view, [B, d].
        temperature: The smaller, the more the closest negatives count.
        real: 1 for real graphs, 0 for padding, [B]; padding is nobody's negative.
    """
    if one.size(0) < 2:
        raise InputError("A batch of one graph has no other graph to tell it from: contrastive learning needs two.")
    similarity = F.normalize(one, dim=-1) @ F.normalize(other, dim=-1).T / temperature
    left_out = torch.eye(one.size(0), dtype=torch.bool, device=one.device)
    rows = columns = left_out
    if real is not None:
        columns, rows = left_out | (real == 0).unsqueeze(0), left_out | (real == 0).unsqueeze(1)
    forth = similarity.masked_fill(columns, -torch.inf).logsumexp(dim=1)
    back = similarity.masked_fill(rows, -torch.inf).logsumexp(dim=0)
    return (forth + back) / 2 - similarity.diagonal()


class GraphCL(Unlabelled):
    """`"Graph Contrastive Learning with Augmentations" <https://arxiv.org/abs/2010.13902>`_ (Equation 8).

    Every graph is seen in two views, each by an augmentation drawn on its own; both go through the model in one pass,
    and the nodes of both are aligned with the prototypes of SSRead.

    Args:
        model: The encoder and its readout; there is no head.
        augmentations: What is drawn from: see :data:`ssread.train.views.AUGMENTATIONS`.
        ratio: The share of nodes dropped, of edges moved, of features masked.
        walk_steps: Steps of the random walk that the subgraph view keeps.
        temperature: Of the contrastive loss.
    """

    def __init__(
        self,
        model: GraphClassifier,
        augmentations: Sequence[str] = AUGMENTATIONS,
        ratio: float = 0.2,
        walk_steps: int = 20,
        temperature: float = 0.2,
    ):
        super().__init__(model)
        self.augmentations = check_augmentations(augmentations)
        self.ratio, self.walk_steps, self.temperature = ratio, walk_steps, temperature
        width = model.encoder.out_channels
        self.projection = nn.Sequential(
            nn.Linear(model.readout.out_channels, width), nn.ReLU(), nn.Linear(width, width)
        )

    def forward(self, y: Tensor | None, real: Tensor | None, *graphs: Any) -> Tensor:
        """See :class:`~ssread.train.objective.Objective`; ``y`` is not looked at."""
        batch = Graphs.of(*graphs)
        size = batch.batch_size
        count = size if real is None else real.size(0)
        pair = views(batch, self.augmentations, self.ratio, self.walk_steps)
        # A third of the time of a step goes into what is masked, where its shapes cannot follow the values.
        pair = without_masked(pair) if segment.is_concrete(pair.x, pair.edge_index, pair.mask) else masked_last(pair)
        output = self.model.run(pair)

        def both(values: Tensor) -> tuple[Tensor, Tensor]:
            return values[:count], values[size : size + count]

        contrast = contrastive_loss(*both(self.projection(output.vectors)), self.temperature, real)
        auxiliary, alignment = (
            torch.stack(both(costs)).mean(dim=0) for costs in (output.auxiliary_costs(), output.alignment_costs())
        )
        return torch.stack([mean(contrast + auxiliary, real), mean(alignment, real)])
