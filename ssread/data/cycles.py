"""Counts of short cycles as node features: where a node is in the structure, told by the structure alone."""

from dataclasses import replace

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError

__all__ = ["LONGEST", "count_cycles", "with_cycles"]

#: The lengths of the cycles that are counted.
SHORTEST, LONGEST = 3, 6

#: Paths are followed from so many edges at a time, and so many at most may be open at once.
EDGES_AT_A_TIME, MAX_PATHS = 20_000, 20_000_000


def with_cycles(graphs: GraphSet) -> GraphSet:
    """The same graphs with features that say which cycles of 3, 4, 5 and 6 nodes go through a node.

    For every length there is whether any does, 0 or 1, and log(1 + count): a first cycle tells more than a second one.
    """
    counts = count_cycles(graphs).to(graphs.x)
    lengths = range(SHORTEST, LONGEST + 1)
    names = [f"in a cycle of {length}" for length in lengths] + [f"cycles of {length}" for length in lengths]
    x = torch.cat([graphs.x, counts.clamp(max=1), counts.log1p()], dim=1)
    return replace(graphs, x=x, node_feature_names=(*graphs.node_feature_names, *names))


def count_cycles(graphs: GraphSet) -> Tensor:
    """How many cycles of 3, 4, 5 and 6 different nodes go through every node, [N, 4]. Edges count in both directions.

    Every cycle is found once: from its smallest node, in the direction of the smaller neighbour.
    """
    source, target, start = _both_ways(graphs)
    counts = torch.zeros(graphs.x.size(0), LONGEST - SHORTEST + 1)
    upwards = (source < target).nonzero().squeeze(1)
    for edges in upwards.split(EDGES_AT_A_TIME):
        paths = torch.stack([source[edges], target[edges]], dim=1)
        while len(paths):
            paths = _extended(graphs.name, paths, target, start, counts)
    return counts


def _extended(name: str, paths: Tensor, target: Tensor, start: Tensor, counts: Tensor) -> Tensor:
    """Paths [P, L] with another node each, [Q, L + 1]; those that come back to their first node are counted."""
    last, length = paths[:, -1], paths.size(1)
    degree = start[last + 1] - start[last]
    total = int(degree.sum())
    if total > MAX_PATHS:
        raise InputError(f"{name} is too dense to count its cycles of up to {LONGEST} nodes.")
    row = torch.arange(len(paths)).repeat_interleave(degree)
    within = torch.arange(total) - (degree.cumsum(0) - degree)[row]
    following, paths = target[start[last[row]] + within], paths[row]
    if length >= SHORTEST:
        closed = paths[(following == paths[:, 0]) & (paths[:, 1] < paths[:, -1])]
        counts[:, length - SHORTEST].index_add_(0, closed.flatten(), torch.ones(closed.numel()))
    if length == LONGEST:
        return paths[:0]
    kept = (following > paths[:, 0]) & (paths != following.unsqueeze(1)).all(dim=1)
    return torch.cat([paths[kept], following[kept].unsqueeze(1)], dim=1)


def _both_ways(graphs: GraphSet) -> tuple[Tensor, Tensor, Tensor]:
    """Sources and targets of all edges, in both directions, without loops, sorted; where each node's edges begin."""
    size = graphs.x.size(0)
    first, second = (graphs.edge_index + graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)).cpu()
    pairs = torch.cat([first * size + second, second * size + first])[torch.cat([first != second] * 2)].unique()
    source, target = pairs // max(size, 1), pairs % max(size, 1)
    start = torch.nn.functional.pad(torch.bincount(source, minlength=size).cumsum(0), (1, 0))
    return source, target, start
