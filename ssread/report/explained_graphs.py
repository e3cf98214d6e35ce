"""A model's explanations of graphs as plain data for the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION
from ssread.draw.palette import position_colours
from ssread.explain import PositionCard, Positions, activation, has_positions, positions, predictions, prototype_atlas
from ssread.explain.forward import members, opened
from ssread.explain.meanings import with_stored_meanings
from ssread.explain.measures import induced_subgraphs
from ssread.explain.node_facts import graph_of_node
from ssread.explain.node_map import node_map
from ssread.explain.outputs import Outputs, outputs_of
from ssread.metrics import METRICS, each, evaluate
from ssread.report.graph_records import graph_records, rounded, short
from ssread.segment import reduce_sum

__all__ = ["ExplainedGraphs", "explain_graphs", "sample_graphs"]

#: The limits of a page, so that it opens at once on a phone.
MAX_GRAPHS, MAX_NODES, MAX_MAP_POINTS = 500, 40_000, 1000

#: The metrics that say how well graphs are predicted, with their names on the page.
SUCCESS = {
    CLASSIFICATION: {"accuracy": "accuracy"},
    MULTILABEL: {"roc_auc": "area under the ROC curve", "accuracy": "accuracy"},
    REGRESSION: {"mae": "mean absolute error", "r2": "share of the variance explained"},
}

#: Activations count as adding up to the prediction if they miss it by no more than this share of its spread.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class ExplainedGraphs:
    """A model's explanations of graphs, ready for a page.

    Attributes:
        graphs: A record per graph on the page: ``id``, ``part`` (an index into ``parts``), ``known`` and ``predicted``
            (the number of the class, in a list; or each label, 0 or 1; or each number; None where unknown, ``known``
            is empty without labels), ``probabilities`` of classes or labels in thousandths, ``coordinates`` in
            hundredths with y downwards, ``bonds`` as triples, ``labels`` by node, ``molecule``, for each output
            ``activations`` in hundredths of its ``largest_activation``, and with SSRead ``positions`` and ``costs`` in
            thousandths.
        total: The number of graphs, on the page or not.
        task: What the model predicts: see :data:`ssread.data.task_names.TASKS`.
        output_names: The name of each class, label or number.
        parts: The parts of a training: ``training``, ``validation``, ``test``; empty where unknown.
        success: How well all graphs of each part, or all graphs, are predicted, in words, by name: one text for
            classes, a text for each label or number.
        trained_on: Whether the model was trained on these graphs.
        without_nodes: The numbers predicted for a graph without nodes, where these and the activations of a graph add
            up to its prediction; else empty.
        atlas: A card per position; empty without SSRead.
        stored_meanings: Whether traits and activations of the cards come from the training set, not from these graphs.
        colours: The colour of each position.
        map: Nodes in the plane: ``coordinates`` and ``prototypes`` in tenths, ``graph`` (an index into ``graphs``) and
            ``node``.
        notes: Sentences about what the page omits.
    """

    graphs: list[dict[str, Any]]
    total: int
    task: str
    output_names: Sequence[str]
    parts: Sequence[str]
    success: dict[str, list[str]]
    trained_on: bool
    without_nodes: list[float]
    atlas: list[PositionCard]
    stored_meanings: bool
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
    model: Any, graphs: GraphSet, parts: Mapping[str, Tensor] | None = None, trained_on: bool = False
) -> ExplainedGraphs:
    """Everything a page shows about a model and graphs.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes. Predictions and activations of an ensemble are the mean
            over its members, positions those of its first member.
        graphs: The graphs, with or without labels.
        parts: The numbers of the graphs in each part of a training, by name.
        trained_on: Whether the model was trained on these graphs.
    """
    parts, model = parts or {}, opened(model)
    outputs = outputs_of(model, graphs)
    known, predicted = outputs.known(graphs), predictions(model, graphs)
    ids = sample_graphs(graphs)
    shown = graphs[ids]
    activations = activation(model, shown)
    aligned = positions(model, shown) if has_positions(model) else None
    atlas = prototype_atlas(model, shown) if aligned is not None and len(shown) else []
    stored = with_stored_meanings(model, atlas) if atlas else None
    return ExplainedGraphs(
        graphs=graph_records(
            shown,
            outputs.task,
            None if known is None else known[ids],
            predicted[ids],
            activations,
            aligned,
            _part_numbers(len(graphs), parts)[ids],
        ),
        total=len(graphs),
        task=outputs.task,
        output_names=outputs.texts,
        parts=list(parts),
        success=_success(outputs.task, known, predicted, parts),
        trained_on=trained_on,
        without_nodes=_without_nodes(model, shown, predicted[ids], activations) if outputs.task == REGRESSION else [],
        atlas=stored or atlas,
        stored_meanings=stored is not None,
        colours=position_colours(aligned.num_positions) if aligned is not None else [],
        map=_map_points(model, shown),
        notes=_notes(model, graphs, outputs, aligned),
    )


def _notes(model: Any, graphs: GraphSet, outputs: Outputs, aligned: Positions | None) -> list[str]:
    """What a reader must know before the first picture."""
    notes = []
    if not len(graphs):
        notes.append("The dataset has no graphs.")
    if aligned is None:
        notes.append(
            "This model has the global readout, which reads all nodes of a graph at once. Its nodes have no positions, "
            "so the page shows activations only."
        )
    if (count := len(members(model))) > 1:
        own = "; positions are those of the first member, since those of different members do not correspond"
        notes.append(f"Predictions and activations are the mean over {count} models{own if aligned else ''}.")
    if foreign := outputs.foreign(graphs):
        notes.append(
            f"The model does not predict {', '.join(foreign)}: these labels of the graphs are not shown. It predicts "
            f"{', '.join(outputs.names)}."
        )
    return notes


def _part_numbers(num_graphs: int, parts: Mapping[str, Tensor]) -> Tensor:
    """The part of every graph, [G]; -1 for a graph in none."""
    numbers = torch.full((num_graphs,), -1)
    for number, ids in enumerate(parts.values()):
        numbers[ids] = number
    return numbers


def _success(task: str, known: Tensor | None, predicted: Tensor, parts: Mapping[str, Tensor]) -> dict[str, list[str]]:
    """How well each part, or all graphs, are predicted; see :class:`ExplainedGraphs`."""
    found: dict[str, list[str]] = {}
    if known is None:
        return found
    for name, ids in (parts or {"all graphs": torch.arange(len(known))}).items():
        usable = ids[known[ids] >= 0] if task == CLASSIFICATION else ids
        if not len(usable):
            continue
        targets, guesses = known[usable].numpy(), predicted[usable].numpy()
        texts: list[list[str]] = [[] for _ in range(1 if task == CLASSIFICATION else len(predicted.T))]
        for metric, words in SUCCESS[task].items():
            values = [evaluate(metric, targets, guesses)] if targets.ndim == 1 else each(metric, targets, guesses)
            for text, value in zip(texts, values, strict=True):
                if not math.isnan(value):
                    shown = METRICS[metric].text(value) if METRICS[metric].share else f"{value:.3g}"
                    text.append(f"{words} {shown}")
        found[name] = [", ".join(text) for text in texts]
    return found


def _without_nodes(model: Any, graphs: GraphSet, predicted: Tensor, activations: Tensor) -> list[float]:
    """The numbers predicted for a graph without nodes, where activations add up to all else; else empty."""
    if not len(graphs):
        return []
    nothing = predictions(model, induced_subgraphs(graphs[:1], torch.zeros_like(graph_of_node(graphs[:1])) > 0))
    missed = reduce_sum(activations, graph_of_node(graphs), len(graphs)) + nothing - predicted
    spread = (predicted - nothing).abs().amax(dim=0)
    return short(nothing[0]) if bool((missed.abs() <= TOLERANCE * spread + 1e-6).all()) else []


def _map_points(model: Any, graphs: GraphSet) -> dict[str, Any]:
    """The map of nodes; see :class:`ExplainedGraphs`."""
    points = node_map(model, graphs, MAX_MAP_POINTS)
    node_ptr = graphs.node_ptr.cpu().numpy()
    graph = np.searchsorted(node_ptr, points.nodes, side="right") - 1
    return {
        "coordinates": rounded(10 * points.coordinates.reshape(-1)),
        "graph": graph.tolist(),
        "node": (points.nodes - node_ptr[graph]).tolist(),
        "prototypes": rounded(10 * points.prototypes.reshape(-1)),
    }
