"""A model's explanations of graphs as plain data for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.draw import Drawing, drawings
from ssread.draw.palette import position_colours
from ssread.explain import (
    PositionCard,
    Positions,
    activation,
    has_positions,
    positions,
    probabilities,
    prototype_atlas,
)
from ssread.explain.node_map import node_map

__all__ = ["ExplainedGraphs", "explain_graphs", "sample_graphs"]

#: The limits of a page, so that it opens at once on a phone.
MAX_GRAPHS, MAX_NODES, MAX_MAP_POINTS = 500, 40_000, 1000


@dataclass(frozen=True)
class ExplainedGraphs:
    """A model's explanations of graphs, ready for a page.

    Attributes:
        graphs: A record per graph on the page: ``id``, ``part`` (an index into ``parts``), ``class`` (-1 where
            unknown), ``probabilities`` in thousandths, ``coordinates`` in hundredths with y downwards, ``bonds`` as
            triples, ``labels`` by node, ``molecule``, ``activations`` in hundredths of the ``largest_activation``, and
            with SSRead ``positions`` and ``costs`` in thousandths.
        total: The number of graphs, on the page or not.
        class_names: The name of each class.
        parts: The parts of a training: ``training``, ``validation``, ``test``; empty where unknown.
        accuracy: The accuracy on all graphs of each part, or on all graphs, by name.
        atlas: A card per position; empty without SSRead.
        colours: The colour of each position.
        map: Nodes in the plane: ``coordinates`` and ``prototypes`` in tenths, ``graph`` (an index into ``graphs``) and
            ``node``.
        notes: Sentences about what the page omits.
    """

    graphs: list[dict[str, Any]]
    total: int
    class_names: Sequence[str]
    parts: Sequence[str]
    accuracy: dict[str, float]
    atlas: list[PositionCard]
    colours: list[str]
    map: dict[str, Any]
    notes: list[str] = field(default_factory=list)


def sample_graphs(graphs: GraphSet, seed: int = 0) -> Tensor:
    """The numbers of the graphs on a page, ascending: all graphs, or a random sample within the limits of a page."""
    order = torch.arange(len(graphs))
    if len(graphs) > MAX_GRAPHS or int(graphs.node_ptr[-1]) > MAX_NODES:
        order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(seed))[:MAX_GRAPHS]
        fits = graphs.node_counts.cpu()[order].cumsum(0) <= MAX_NODES
        order = order[: max(int(fits.sum()), 1)]
    return order.sort().values


def explain_graphs(
    model: Any, graphs: GraphSet, class_names: Sequence[str] | None = None, parts: Mapping[str, Tensor] | None = None
) -> ExplainedGraphs:
    """Everything a page shows about a model and graphs.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The graphs, with or without labels.
        class_names: The names of the model's classes, by default those of the graphs.
        parts: The numbers of the graphs in each part of a training, by name.
    """
    parts = parts or {}
    predicted = probabilities(model, graphs)
    ids = sample_graphs(graphs)
    shown = graphs[ids]
    aligned = positions(model, shown) if has_positions(model) else None
    notes = []
    if not len(graphs):
        notes.append("The dataset has no graphs.")
    if aligned is None:
        notes.append(
            "This model has the global readout, which reads all nodes of a graph at once. Its nodes have no positions, "
            "so the page shows activations only."
        )
    return ExplainedGraphs(
        graphs=_records(
            shown, predicted[ids], activation(model, shown), aligned, _part_numbers(len(graphs), parts)[ids]
        ),
        total=len(graphs),
        class_names=list(class_names or graphs.class_names),
        parts=list(parts),
        accuracy=_accuracy(predicted, graphs, parts),
        atlas=prototype_atlas(model, shown) if aligned is not None and len(shown) else [],
        colours=position_colours(aligned.num_positions) if aligned is not None else [],
        map=_map_points(model, shown),
        notes=notes,
    )


def _part_numbers(num_graphs: int, parts: Mapping[str, Tensor]) -> Tensor:
    """The part of every graph, [G]; -1 for a graph in none."""
    numbers = torch.full((num_graphs,), -1)
    for number, ids in enumerate(parts.values()):
        numbers[ids] = number
    return numbers


def _accuracy(predicted: Tensor, graphs: GraphSet, parts: Mapping[str, Tensor]) -> dict[str, float]:
    """The accuracy of predicted probabilities [G, C] on each part, or on all graphs; empty without labels."""
    if graphs.y is None or not len(graphs):
        return {}
    correct = (predicted.argmax(dim=1) == graphs.y.cpu()).double()
    groups = parts or {"all graphs": torch.arange(len(graphs))}
    return {name: float(correct[ids].mean()) for name, ids in groups.items() if len(ids)}


def _records(
    graphs: GraphSet, predicted: Tensor, activations: Tensor, aligned: Positions | None, part_numbers: Tensor
) -> list[dict[str, Any]]:
    """A record for every graph; see :class:`ExplainedGraphs`."""
    records = []
    for number, drawing in enumerate(drawings(graphs)):
        nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        record = {
            "id": str(graphs.ids[number]),
            "part": int(part_numbers[number]),
            "class": -1 if graphs.y is None else int(graphs.y[number]),
            "probabilities": _rounded(1000 * predicted[number].numpy()),
            **_picture(drawing, activations[nodes]),
        }
        if aligned is not None:
            record["positions"] = aligned.position[nodes].tolist()
            record["costs"] = _rounded(1000 * aligned.cost[nodes].nan_to_num(2).numpy())
        records.append(record)
    return records


def _picture(drawing: Drawing, activations: Tensor) -> dict[str, Any]:
    """The fields of a record that draw a graph, from its drawing and the activations of its nodes [n, C]."""
    largest = float(activations.abs().max()) if activations.numel() else 0.0
    return {
        "coordinates": _rounded((drawing.coordinates * np.array([100, -100])).reshape(-1)),
        "bonds": [number for bond in drawing.bonds for number in bond],
        "labels": {str(node): label for node, label in enumerate(drawing.labels) if label},
        "molecule": drawing.molecule is not None,
        "activations": [_rounded(100 * column.numpy() / (largest or 1)) for column in activations.T],
        "largest_activation": float(f"{largest:.4g}"),
    }


def _map_points(model: Any, graphs: GraphSet) -> dict[str, Any]:
    """The map of nodes; see :class:`ExplainedGraphs`."""
    points = node_map(model, graphs, MAX_MAP_POINTS)
    node_ptr = graphs.node_ptr.cpu().numpy()
    graph = np.searchsorted(node_ptr, points.nodes, side="right") - 1
    return {
        "coordinates": _rounded(10 * points.coordinates.reshape(-1)),
        "graph": graph.tolist(),
        "node": (points.nodes - node_ptr[graph]).tolist(),
        "prototypes": _rounded(10 * points.prototypes.reshape(-1)),
    }


def _rounded(values: np.ndarray) -> list[int]:
    return np.rint(np.nan_to_num(values)).astype(int).tolist()
