"""One of every aggregation, and vectors with many ties."""

import torch
from torch_geometric.nn import aggr as pyg

from ssread.aggregate import NAMES, make_aggregation
from ssread.aggregate.base import FlatAggregation

FOREIGN = {
    "lstm": lambda: pyg.LSTMAggregation(4, 5),  # demands a sorted index and two dimensions
    "median": lambda: pyg.MedianAggregation(),
    "variance": lambda: pyg.VarAggregation(),
    "multi": lambda: pyg.MultiAggregation(["sum", "std"]),
}

#: Ours, which compile and export, and all, with PyG's.
OURS = [*NAMES, "max+sort"]
EVERY = [*OURS, *FOREIGN, "mean+median"]


def build(name: str, channels: int = 4) -> FlatAggregation:
    """An aggregation in double precision."""
    parts = [FOREIGN[part]() if part in FOREIGN else part for part in name.split("+")]
    return make_aggregation(parts if len(parts) > 1 else parts[0], channels).double()


def grid(seed: int, nodes: int, channels: int) -> torch.Tensor:
    """Vectors of few distinct entries, so that there are many ties."""
    return torch.randint(-1, 2, (nodes, channels), generator=torch.Generator().manual_seed(seed)).double()
