"""The structural position of every node, its cost, and the soft weights."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.forward import classifier, forward_passes
from ssread.readout import SSRead

__all__ = ["Positions", "has_positions", "positions"]


@dataclass(frozen=True, eq=False, repr=False)
class Positions:
    """The structural position of every node of a dataset, in the order of its nodes.

    Attributes:
        position: The position of least cost (Equation 2), [N]; -1 for a node that pooling dropped.
        cost: The cost of that position, in [0, 2], [N]; NaN for a node that pooling dropped.
        weights: The soft alignment: the gradient of the soft minimum (Equation 5), which sums to one, [N, K]; zeros
            for a node that pooling dropped.
    """

    position: Tensor
    cost: Tensor
    weights: Tensor

    @property
    def num_positions(self) -> int:
        """The number of positions K."""
        return self.weights.size(1)

    def __repr__(self) -> str:
        return f"Positions({len(self.position)} nodes, {self.num_positions} positions)"


def has_positions(model: Any) -> bool:
    """Whether a model aligns nodes with positions, that is, whether its readout is SSRead."""
    return isinstance(classifier(model).readout, SSRead)


def positions(model: Any, graphs: GraphSet) -> Positions:
    """The structural position of every node, its cost and the soft weights of all positions.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes, with SSRead as its readout. With DiffPool, a node has
            the position of its largest cluster.
        graphs: The graphs.
    """
    model = classifier(model)
    readout = model.readout
    if not isinstance(readout, SSRead):
        raise InputError(
            "This model has the global readout, which reads all nodes of a graph at once: its nodes have no positions. "
            "Train a model with readout='ssread'."
        )
    parts = []
    for forward in forward_passes(model, graphs):
        reading, _ = forward.read(forward.encoding.x)
        row = forward.node_to_row()
        kept = row >= 0
        assert reading.costs is not None  # SSRead's
        costs = reading.costs[row.clamp(min=0)]
        if readout.gamma > 0:
            weights = (-costs / readout.gamma).softmax(dim=1)
        else:
            weights = torch.nn.functional.one_hot(costs.argmin(dim=1), readout.num_positions).to(costs.dtype)
        position = torch.where(kept, reading.positions[row.clamp(min=0)], -1)
        cost = torch.where(kept, costs.amin(dim=1), torch.nan)
        parts.append([tensor.detach().cpu() for tensor in (position, cost, weights * kept.unsqueeze(1))])
    if not parts:
        return Positions(torch.zeros(0, dtype=torch.long), torch.zeros(0), torch.zeros(0, readout.num_positions))
    return Positions(*(torch.cat(column) for column in zip(*parts, strict=True)))
