"""The score of a class taken apart exactly: what every node, and every message along an edge, adds to it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ssread import segment
from ssread.data.batch import GraphBatch
from ssread.data.graphset import GraphSet
from ssread.explain.pyg_twin import PyGTwin
from ssread.models.classifier import GraphClassifier

__all__ = ["Decomposition", "contrast", "decompose", "gradient_at_nodes"]


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The contrast of a class with the others as a sum of parts, up to the score of a graph without nodes.

    Attributes:
        nodes: What the vector of every node adds, [N]: its class activation.
        sent: What the messages that a node sends in the last layer add, that to itself included, [N].
        edges: What the message along every edge adds, [E].
        constant: What a node adds by the shift of the last batch norm, whatever its neighbours are, [N]. In every graph
            ``sent`` and ``constant`` together have the sum of ``nodes``.
    """

    nodes: Tensor
    sent: Tensor
    edges: Tensor
    constant: Tensor


def contrast(scores: Tensor, target: Tensor) -> Tensor:
    """The score of a class minus the mean of the others, [B], from scores [B, C] and classes [B].

    >>> contrast(torch.tensor([[3.0, 1.0, 0.0]]), torch.tensor([0]))
    tensor([2.5000])
    """
    own = scores.gather(1, target.unsqueeze(1)).squeeze(1)
    return own - (scores.sum(dim=1) - own) / max(scores.size(1) - 1, 1)


def gradient_at_nodes(twin: PyGTwin, h: Tensor, batch: GraphBatch, target: Tensor) -> Tensor:
    """The gradient of every graph's contrast by its node vectors, [N, d].

    Args:
        twin: The model.
        h: Node vectors, [N, d].
        batch: The graphs.
        target: The class of every graph, [B].
    """
    h = h.detach().requires_grad_()
    scores = twin.model.head(twin.read(h, batch.x, batch.edge_index, batch.batch, len(target)))
    return torch.autograd.grad(contrast(scores, target).sum(), h)[0]


def decompose(model: GraphClassifier, graphs: GraphSet, target: Tensor) -> Decomposition:
    """Takes the contrast of every graph's class apart.

    With a sum or a mean over positions and a linear head, the contrast is linear in the node vectors. These are in turn
    linear in the messages of the last layer, which no activation follows: so both sums are exact.

    Args:
        model: A GCN; see :class:`ssread.explain.pyg_twin.PyGTwin`.
        graphs: The graphs.
        target: The class of every graph, [G].
    """
    twin, batch = PyGTwin(model), graphs.batch(range(len(graphs)))
    h, messages, own = twin.last_messages(batch.x, batch.edge_index, batch.edge_attr)
    gradient = gradient_at_nodes(twin, h, batch, target)
    factor, shift = twin.last_norm()
    edges = (gradient[batch.edge_index[1]] * factor * messages).sum(dim=1)
    sent = (gradient * factor * own).sum(dim=1) + segment.reduce_sum(edges, batch.edge_index[0], h.size(0))
    return Decomposition((gradient * h).sum(dim=1), sent, edges, (gradient * shift).sum(dim=1))
