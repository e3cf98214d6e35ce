"""Random views of graphs, for contrastive learning: tensor operations on a whole batch, with fixed shapes.

Nodes and edges are not removed. A dropped node moves to a dummy graph after all others and has a mask of 0; its edges
become loops. So a batch keeps its shape, and the code can be vmapped over models. Edges must be sorted by their source,
as in every batch of a :class:`~ssread.data.graphset.GraphSet`.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from ssread import segment
from ssread.errors import InputError
from ssread.models.graphs import Graphs
from ssread.neighbours import Neighbours

__all__ = [
    "AUGMENTATIONS",
    "drop_nodes",
    "mask_attributes",
    "masked_last",
    "perturb_edges",
    "random_view",
    "views",
    "walk",
    "without_masked",
]

#: The augmentations that a view may apply to a graph.
AUGMENTATIONS = ("nodes", "edges", "attributes", "subgraph", "identity")


def drop_nodes(graphs: Graphs, ratio: float) -> Tensor:
    """Returns the mask of nodes that stay, [N]: each is dropped with probability ``ratio``, but not all of a graph."""
    luck = _uniform(graphs.batch)
    best = segment.reduce_max(luck, graphs.batch, graphs.batch_size).index_select(0, graphs.batch)
    return (luck >= ratio) | (luck == best)


def mask_attributes(graphs: Graphs, ratio: float) -> Tensor:
    """Returns the mask of nodes that keep their features, [N]: each loses them with probability ``ratio``."""
    return _uniform(graphs.batch) >= ratio


def perturb_edges(graphs: Graphs, ratio: float) -> Tensor:
    """Returns the edges with some moved, [2, E]: dropped, and as many added between random nodes of the same graph.

    Each is moved with probability ``ratio``, with its features, and both of its directions together. A moved edge joins
    two different nodes; a moved loop stays a loop.
    """
    source, target = graphs.edge_index
    twin = _first_direction(source, target, graphs.num_nodes)
    luck, start, end = torch.rand(3, source.size(0), device=source.device).index_select(1, twin)
    first, size = _ranges(graphs)
    owner = graphs.batch.index_select(0, source)
    first, size = first.index_select(0, owner), size.index_select(0, owner)
    one = _pick(start, size)
    other = torch.where(source == target, one, (one + 1 + _pick(end, (size - 1).clamp(min=1))) % size)
    forward = twin == torch.arange(len(twin), device=twin.device)
    ends = torch.stack([torch.where(forward, one, other), torch.where(forward, other, one)])
    return torch.where(luck < ratio, ends + first, graphs.edge_index)


def walk(graphs: Graphs, steps: int) -> Tensor:
    """Returns the mask of nodes that a random walk from a random node of every graph visits, [N]: a connected part."""
    first, size = _ranges(graphs)
    nodes, edges = graphs.num_nodes, graphs.edge_index.size(1)
    degree = F.pad(segment.count(graphs.source, nodes), (0, 1))
    # After the edges, every node has a loop, which is the way out of a node without edges. The walks of empty graphs
    # stay on an extra node after the last.
    itself = torch.arange(nodes + 1, device=first.device)
    target = torch.cat([graphs.target, itself])
    ways, first_way = degree.clamp(min=1), torch.where(degree > 0, degree.cumsum(0) - degree, edges + itself)
    luck = torch.rand(steps + 1, graphs.batch_size, device=first.device)
    place = torch.where(size > 0, first + _pick(luck[0], size), nodes)
    visited = [place]
    for step in range(1, steps + 1):
        way = first_way.index_select(0, place) + _pick(luck[step], ways.index_select(0, place))
        place = target.index_select(0, way)
        visited.append(place)
    return segment.count(torch.cat(visited), nodes + 1)[:nodes] > 0


def random_view(graphs: Graphs, augmentations: Sequence[str], ratio: float, steps: int) -> Graphs:
    """Returns one view of every graph, each by an independently drawn augmentation; the last graph is a dummy.

    A view is empty only if its graph is.

    Args:
        graphs: The batch.
        augmentations: Names of :data:`AUGMENTATIONS`, drawn from with equal probability.
        ratio: The share of nodes dropped, of edges moved, of features masked.
        steps: The number of steps of a random walk.
    """
    drawn = _pick(torch.rand(graphs.batch_size, device=graphs.x.device), len(augmentations))
    of_node = drawn.index_select(0, graphs.batch)
    x, edge_index, kept = graphs.x, graphs.edge_index, torch.ones_like(graphs.batch, dtype=torch.bool)
    for number, name in enumerate(augmentations):
        others = of_node != number
        if name == "nodes":
            kept = kept & (drop_nodes(graphs, ratio) | others)
        elif name == "subgraph":
            kept = kept & (walk(graphs, steps) | others)
        elif name == "attributes":
            x = x * (mask_attributes(graphs, ratio) | others).unsqueeze(-1).to(x.dtype)
        elif name == "edges":
            still = others.index_select(0, graphs.source)
            edge_index = torch.where(still, edge_index, perturb_edges(graphs, ratio))
    source, target = edge_index
    source_kept, target_kept = kept.index_select(0, source), kept.index_select(0, target)
    source, target = (
        torch.where(target_kept | ~source_kept, source, target),
        torch.where(source_kept, target, source),
    )
    mask = kept.to(x.dtype).unsqueeze(-1)
    mask = mask if graphs.mask is None else mask * graphs.mask
    needless = mask.squeeze(-1).index_select(0, source) == 0  # by now such an edge is a loop
    return Graphs(
        x=x,
        edge_index=torch.stack([source, target]),
        edge_attr=graphs.edge_attr,
        batch=torch.where(kept, graphs.batch, graphs.batch_size),
        batch_size=graphs.batch_size + 1,
        mask=mask,
        neighbours=Neighbours(
            source, target, graphs.num_nodes, symmetric=graphs.neighbours.symmetric, needless=needless
        ),
    )


def views(graphs: Graphs, augmentations: Sequence[str] = AUGMENTATIONS, ratio: float = 0.2, steps: int = 20) -> Graphs:
    """Returns two views of every graph in one batch of 2B + 1: graph g becomes g and B + g, the last is a dummy.

    See :func:`random_view` for the arguments.
    """
    edge_index = torch.cat([graphs.edge_index, graphs.edge_index + graphs.num_nodes], dim=1)
    twice = Graphs(
        x=graphs.x.repeat(2, 1),
        edge_index=edge_index,
        edge_attr=None if graphs.edge_attr is None else graphs.edge_attr.repeat(2, 1),
        batch=torch.cat([graphs.batch, graphs.batch + graphs.batch_size]),
        batch_size=2 * graphs.batch_size,
        mask=None if graphs.mask is None else graphs.mask.repeat(2, 1),
        neighbours=Neighbours(
            edge_index[0], edge_index[1], 2 * graphs.num_nodes, symmetric=graphs.neighbours.symmetric
        ),
    )
    return random_view(twice, augmentations, ratio, steps)


def without_masked(graphs: Graphs) -> Graphs:
    """Returns the graphs without nodes that have a mask of 0 and their edges; shapes depend on the values."""
    if graphs.mask is None:
        return graphs
    kept = graphs.mask.squeeze(-1) > 0
    nodes, edges = (
        rows.nonzero().squeeze(1)
        for rows in (kept, kept.index_select(0, graphs.source) & kept.index_select(0, graphs.target))
    )
    place = kept.cumsum(0) - 1
    source, target = (place.index_select(0, end.index_select(0, edges)) for end in graphs.edge_index)
    return Graphs(
        x=graphs.x.index_select(0, nodes),
        edge_index=torch.stack([source, target]),
        edge_attr=None if graphs.edge_attr is None else graphs.edge_attr.index_select(0, edges),
        batch=graphs.batch.index_select(0, nodes),
        batch_size=graphs.batch_size,
        mask=None,
        neighbours=Neighbours(source, target, len(nodes)),
    )


def masked_last(graphs: Graphs) -> Graphs:
    """Returns the graphs with the nodes that have a mask of 0 after all others, outside every graph's ``ptr`` range.

    They belong to the last graph, a dummy like that of :func:`random_view`. Shapes are fixed, so that this can be
    vmapped and recorded; and with ``ptr``, a readout need not sort the nodes first.
    """
    assert graphs.mask is not None
    kept = graphs.mask.squeeze(-1) > 0
    nodes = torch.arange(graphs.num_nodes, device=kept.device)
    before = kept.cumsum(0)
    total = kept.sum()
    place = torch.where(kept, before - 1, total + nodes - before)
    order = torch.zeros_like(place).scatter(0, place, nodes)
    source, target = (place.index_select(0, end) for end in graphs.edge_index)
    real, dummy = nodes < total, graphs.batch_size - 1
    batch = torch.where(real, graphs.batch.index_select(0, order), dummy)
    end = segment.count(batch, graphs.batch_size)[:-1].cumsum(0)
    return Graphs(
        x=graphs.x.index_select(0, order),
        edge_index=torch.stack([source, target]),
        edge_attr=graphs.edge_attr,
        batch=batch,
        batch_size=graphs.batch_size,
        mask=real.to(graphs.mask.dtype).unsqueeze(-1),
        neighbours=Neighbours(
            source, target, graphs.num_nodes, symmetric=graphs.neighbours.symmetric, needless=source >= total
        ),
        ptr=F.pad(torch.cat([end, end[-1:]]), (1, 0)),
    )


def check_augmentations(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the names as a tuple, or raises an ``InputError`` if one is not an augmentation."""
    for name in names:
        if name not in AUGMENTATIONS:
            raise InputError(f"There is no augmentation {name!r}. Choose from {', '.join(AUGMENTATIONS)}.")
    if not names:
        raise InputError(f"Views need at least one augmentation. Choose from {', '.join(AUGMENTATIONS)}.")
    return tuple(names)


def _uniform(like: Tensor) -> Tensor:
    """Draws a number from [0, 1) for every row."""
    return torch.rand(like.size(0), device=like.device)


def _pick(luck: Tensor, choices: Tensor | int) -> Tensor:
    """Maps a number from [0, 1) to a whole number below ``choices``.

    The largest float below 1, 1 - 2^-24, times a number n of up to 24 bits rounds to a float below n.
    """
    return (luck * choices).long()


def _ranges(graphs: Graphs) -> tuple[Tensor, Tensor]:
    """Returns the first node and the number of nodes of every graph, [B] each; nodes are sorted by graph."""
    size = segment.count(graphs.batch, graphs.batch_size)
    return size.cumsum(0) - size, size


def _first_direction(source: Tensor, target: Tensor, num_nodes: int) -> Tensor:
    """Returns the first of the two directions of every edge, [E]; the edge itself if the other does not exist.

    Edges are sorted by source and target.
    """
    edges = torch.arange(source.size(0), device=source.device)
    place = torch.searchsorted(source * num_nodes + target, target * num_nodes + source).clamp(max=len(edges) - 1)
    is_reverse = (source.index_select(0, place) == target) & (target.index_select(0, place) == source)
    return torch.where(is_reverse, torch.minimum(edges, place), edges)
