"""Small random batches of graphs as the arguments of a model, and functions that change them."""

import itertools
from typing import NamedTuple

import torch
from torch import Tensor

from ssread.models import ARCHITECTURES, GraphClassifier, make_model

FEATURES, EDGE_FEATURES = 5, 2
SIZES = (6, 0, 1, 9, 3, 0)  # an empty graph inside and at the end, a single node


class Batch(NamedTuple):
    """The arguments of a model, in its order."""

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    edge_attr: Tensor
    batch_size: int
    mask: Tensor | None = None


def random_batch(sizes: tuple[int, ...] = SIZES, density: float = 0.5, dtype: torch.dtype = torch.float64) -> Batch:
    """Undirected graphs of these sizes with random edges and features, drawn by torch's generator."""
    batch = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes, dtype=torch.long))
    nodes = batch.numel()
    upper = (torch.rand(nodes, nodes) < density).triu(1) & (batch == batch.unsqueeze(1))
    edge_index = (upper | upper.T).nonzero().T
    x = torch.randn(nodes, FEATURES, dtype=dtype)
    edge_attr = torch.randn(edge_index.size(1), EDGE_FEATURES, dtype=dtype)
    return Batch(x, edge_index, batch, edge_attr, len(sizes))


def permuted(given: Batch) -> Batch:
    """Returns the same graphs with nodes and edges in random order; graphs keep their numbers."""
    order = torch.randperm(given.x.size(0))
    edges = torch.randperm(given.edge_index.size(1))
    edge_index = order.argsort()[given.edge_index[:, edges]]
    return Batch(given.x[order], edge_index, given.batch[order], given.edge_attr[edges], given.batch_size)


def padded(given: Batch, nodes: int, edges: int) -> Batch:
    """Pads the graphs to this many nodes and edges: one dummy graph more, and self-loops on the last node."""
    more_nodes, more_edges = nodes - given.x.size(0), edges - given.edge_index.size(1)
    assert more_nodes > 0
    assert more_edges >= 0
    return Batch(
        torch.cat([given.x, given.x.new_zeros(more_nodes, FEATURES)]),
        torch.cat([given.edge_index, torch.full((2, more_edges), nodes - 1)], dim=1),
        torch.cat([given.batch, torch.full((more_nodes,), given.batch_size)]),
        torch.cat([given.edge_attr, given.edge_attr.new_zeros(more_edges, EDGE_FEATURES)]),
        given.batch_size + 1,
        torch.arange(nodes) < given.x.size(0),
    )


def total_loss(model: GraphClassifier, given: Batch, num_graphs: int) -> Tensor:
    """The total loss of a training step for the first graphs; a square takes the place of the loss on logits."""
    output = model.run(*given).first(num_graphs)
    return output.logits.square().sum() + output.alignment_loss() + output.auxiliary_loss()


def gradients(model: GraphClassifier) -> dict[str, Tensor]:
    """Returns the gradient of every parameter and clears it."""
    found = {name: parameter.grad for name, parameter in model.named_parameters()}
    model.zero_grad()
    return found


#: Every architecture with either readout.
ALL = list(itertools.product(ARCHITECTURES, ("ssread", "global")))


def build(name: str, readout: str = "ssread", aggr: str | None = None, **arguments) -> GraphClassifier:
    sizes = {
        "hidden_channels": 8,
        "num_positions": 3,
        "edge_channels": EDGE_FEATURES,
        "dropout": 0.0,
        "normalize": False,
    }
    kwargs = {"k": 4} if aggr == "sort" else None
    return make_model(name, FEATURES, 2, readout=readout, aggr=aggr, aggr_kwargs=kwargs, **(sizes | arguments))
