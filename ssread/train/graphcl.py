"""Contrastive learning: two random views of a graph should be closer to each other than to any other graph."""

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
    r"""Computes the contrastive loss of every graph (Equation 8), with the other graphs of the batch as negatives, [B].

    .. math::
        -\log \frac{\exp(\mathrm{sim}(z_i, z_i') / \tau)}{\sum_{j \ne i} \exp(\mathrm{sim}(z_i, z_j') / \tau)}

    where sim is the cosine similarity, averaged over both directions. It lies within :math:`\log(B - 1) \pm 2 / \tau`.

    Args:
        one: Projected vectors of one view of every graph, [B, d].
        other: Those of another view, [B, d].
        temperature: The smaller it is, the more the closest negatives count.
        real: 1 for real graphs, 0 for padding, [B]; padding is never a negative.
    """
    if one.size(0) < 2:
        raise InputError("A batch of one graph has no negatives: contrastive learning needs at least two graphs.")
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

    The augmentation of each of the two views is drawn independently. Both views go through the model in one batch, and
    the nodes of both are aligned with the prototypes of SSRead.

    Args:
        model: The encoder and its readout; there is no head.
        augmentations: The augmentations to draw from: see :data:`ssread.train.views.AUGMENTATIONS`.
        ratio: The share of nodes dropped, of edges moved, of features masked.
        walk_steps: The number of steps of the random walk whose nodes the subgraph view keeps.
        temperature: The temperature of the contrastive loss.
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
        """See :class:`~ssread.train.objective.Objective`; ``y`` is not used."""
        batch = Graphs.of(*graphs)
        size = batch.batch_size
        count = size if real is None else real.size(0)
        pair = views(batch, self.augmentations, self.ratio, self.walk_steps)
        # Masked nodes cost a third of a step: they are removed, unless shapes must not depend on values.
        pair = without_masked(pair) if segment.is_concrete(pair.x, pair.edge_index, pair.mask) else masked_last(pair)
        output = self.model.run(pair)

        def both(values: Tensor) -> tuple[Tensor, Tensor]:
            return values[:count], values[size : size + count]

        contrast = contrastive_loss(*both(self.projection(output.vectors)), self.temperature, real)
        auxiliary, alignment = (
            torch.stack(both(costs)).mean(dim=0) for costs in (output.auxiliary_costs(), output.alignment_costs())
        )
        return torch.stack([mean(contrast + auxiliary, real), mean(alignment, real)])
