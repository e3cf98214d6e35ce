"""The graphs of a page as plain data: places, bonds, positions, activations, probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.draw import Drawing, drawings
from ssread.draw.palette import position_colours
from ssread.explain import activation, has_positions, positions, probabilities, prototype_atlas
from ssread.explain.atlas import PositionCard
from ssread.explain.node_map import NodeMap, node_map

__all__ = ["Explained", "explained", "sampled"]

#: What a page holds at most, so that it opens at once on a phone.
MOST_GRAPHS, MOST_NODES, MOST_POINTS = 500, 40_000, 1000


@dataclass(frozen=True)
class Explained:
    """A model's view of some graphs, ready for a page.

    Attributes:
        graphs: A record per graph; see :func:`_record`.
        total: How many graphs there are, shown or not.
        class_names: Name of each class.
        parts: What the graphs were to the training: ``training``, ``validation``, ``test``; none where unknown.
        right: The share classified rightly in each part (or in all), of all graphs, by name.
        atlas: A card per position; none without SSRead.
        colours: The colour of each position.
        map: Nodes in the plane; see :func:`_points`.
        missing: Why something is not there.
    """

    graphs: list[dict[str, Any]]
    total: int
    class_names: Sequence[str]
    parts: Sequence[str]
    right: dict[str, float]
    atlas: list[dict[str, Any]]
    colours: list[str]
    map: dict[str, Any]
    missing: list[str] = field(default_factory=list)


def sampled(graphs: GraphSet, seed: int = 0) -> Tensor:
    """The graphs that a page shows, by number, in order: all, or as many as it holds, drawn at random."""
    order = torch.arange(len(graphs))
    if len(graphs) > MOST_GRAPHS or int(graphs.node_ptr[-1]) > MOST_NODES:
        order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(seed))[:MOST_GRAPHS]
        fits = graphs.node_counts.cpu()[order].cumsum(0) <= MOST_NODES
        order = order[: max(int(fits.sum()), 1)]
    return order.sort().values


def explained(
    model: Any, graphs: GraphSet, class_names: Sequence[str] | None = None, parts: dict[str, Tensor] | None = None
) -> Explained:
    """Everything a page shows of a model and graphs.

    Args:
        model: What :func:`ssread.explain.classifier` takes.
        graphs: The graphs; labels are used where there are any.
        class_names: Names of the model's classes, by default the graphs'.
        parts: The graphs of each part of a training, by name.
    """
    names = list(class_names or graphs.class_names)
    chances = probabilities(model, graphs)
    y = None if graphs.y is None else graphs.y.cpu()
    part_of = torch.full((len(graphs),), -1)
    for number, ids in enumerate((parts or {}).values()):
        part_of[ids] = number
    right: dict[str, float] = {}
    if y is not None and len(graphs):
        correct = (chances.argmax(dim=1) == y).double()
        groups = parts or {"all graphs": torch.arange(len(graphs))}
        right = {name: float(correct[ids].mean()) for name, ids in groups.items() if len(ids)}
    ids = sampled(graphs)
    shown = graphs[ids]
    missing = []
    if not len(graphs):
        missing.append("There are no graphs here.")
    with_positions = has_positions(model)
    if not with_positions:
        missing.append(
            "This model reads all nodes of a graph at once (the global readout), so its nodes have no positions and "
            "there is no atlas; activations are shown."
        )
    found = positions(model, shown) if with_positions else None
    scores = activation(model, shown)
    records = []
    for number, drawing in enumerate(drawings(shown)):
        nodes = slice(int(shown.node_ptr[number]), int(shown.node_ptr[number + 1]))
        record = _record(drawing, scores[nodes])
        record |= {"id": str(shown.ids[number]), "n": int(ids[number]), "part": int(part_of[ids[number]])}
        record |= {"y": -1 if y is None else int(y[ids[number]]), "p": _whole(1000 * chances[ids[number]].numpy())}
        if found is not None:
            record |= {"k": found.position[nodes].tolist(), "c": _whole(1000 * found.cost[nodes].nan_to_num(2).numpy())}
        records.append(record)
    atlas = [_card(card) for card in prototype_atlas(model, shown)] if with_positions and len(shown) else []
    colours = position_colours(found.num_positions) if found is not None else []
    points = _points(node_map(model, shown, MOST_POINTS), shown)
    return Explained(records, len(graphs), names, list(parts or ()), right, atlas, colours, points, missing)


def _record(drawing: Drawing, scores: Tensor) -> dict[str, Any]:
    """Places in hundredths, y downwards; bonds as triples; labels by node; activations in hundredths of the most."""
    most = float(scores.abs().max()) if scores.numel() else 0.0
    flipped = drawing.places * np.array([100, -100])
    return {
        "xy": _whole(flipped.reshape(-1)),
        "b": [number for bond in drawing.bonds for number in bond],
        "l": {str(node): label for node, label in enumerate(drawing.labels) if label},
        "mol": drawing.molecule is not None,
        "a": [_whole(100 * column.numpy() / (most or 1)) for column in scores.T],
        "most": float(f"{most:.4g}"),
    }


def _card(card: PositionCard) -> dict[str, Any]:
    return {
        "share": card.share,
        "graphs": card.graphs,
        "exemplars": [{"g": e.graph, "n": e.node, "alike": e.alike, "near": e.neighbourhood} for e in card.exemplars],
        "marks": [{"what": m.statement, "in": m.inside, "out": m.outside, "h": m.effect, "p": m.p} for m in card.marks],
        "scores": card.class_scores,
    }


def _points(found: NodeMap, graphs: GraphSet) -> dict[str, Any]:
    """Every point's place, graph (by its place on the page) and node; prototypes in the order of positions."""
    graph = np.searchsorted(graphs.node_ptr.cpu().numpy(), found.nodes, side="right") - 1
    node = found.nodes - graphs.node_ptr.cpu().numpy()[graph]
    return {
        "xy": _whole(10 * found.places.reshape(-1)),
        "g": graph.tolist(),
        "n": node.tolist(),
        "prototypes": _whole(10 * found.prototypes.reshape(-1)),
    }


def _whole(values: np.ndarray) -> list[int]:
    return np.rint(np.nan_to_num(values)).astype(int).tolist()
