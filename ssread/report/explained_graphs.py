"""A model's explanations of graphs as plain data for the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION
from ssread.draw.layout import MAX_EXACT_NODES
from ssread.draw.palette import meaning_colours
from ssread.explain import consensus, contributions, has_positions, predictions
from ssread.explain.atlas import Level, atlas_levels
from ssread.explain.forward import members, opened
from ssread.explain.meanings import stored_groups, with_stored_meanings
from ssread.explain.node_map import node_map
from ssread.explain.outputs import Outputs, outputs_of
from ssread.metrics import METRICS, each, evaluate
from ssread.models.places import Placed
from ssread.report.graph_records import graph_records, rounded, short, term_names
from ssread.report.references import nearest_references

__all__ = ["ExplainedGraphs", "coloured_levels", "explain_graphs", "sample_graphs"]

#: The limits of a page, so that it opens in a moment.
MAX_GRAPHS, MAX_NODES, MAX_MAP_POINTS = 10_000, 300_000, 1000

#: The limit of what drawing them may take: pairs of nodes whose distances a layout compares.
MAX_PAIRS = 20_000_000

#: The metrics that say how well graphs are predicted, with their names on the page.
SUCCESS = {
    CLASSIFICATION: {"accuracy": "accuracy"},
    MULTILABEL: {"roc_auc": "area under the ROC curve", "accuracy": "accuracy"},
    REGRESSION: {"mae": "mean absolute error", "r2": "share of the variance explained"},
}


@dataclass(frozen=True)
class ExplainedGraphs:
    """A model's explanations of graphs, ready for a page.

    Attributes:
        graphs: A record per graph on the page: ``id``, ``part`` (an index into ``parts``), ``known`` and ``predicted``
            (the number of the class, in a list; or each label, 0 or 1; or each number; None where unknown, ``known``
            is empty without labels), ``probabilities`` of classes or labels in thousandths, ``coordinates`` in
            hundredths with y downwards, ``bonds`` as triples of two nodes and a kind (:mod:`ssread.draw.drawing`),
            ``labels`` by node, ``molecule``, for each output ``activations`` in thousandths of its
            ``largest_activation``, and ``terms``, for each output what the positions, features of whole graphs and the
            rest add; with SSRead ``positions`` and ``costs`` in thousandths, with several members ``certainty`` in
            percent; ``nearest``, pairs of an index into ``references`` and a distance in hundredths.
        total: The number of graphs, on the page or not.
        task: What the model predicts: see :data:`ssread.data.task_names.TASKS`.
        output_names: The name of each class, label or number.
        parts: The parts of a training: ``training``, ``validation``, ``test``; empty where unknown.
        success: How well all graphs of each part, or all graphs, are predicted, in words, by name: one text for
            classes, a text for each label or number.
        trained_on: Whether the model was trained on these graphs.
        term_names: What the last ``terms`` are called, after one for every position.
        same_rest: The rest of every score, where it is the same for all graphs; else empty.
        held_fixed: What must stay as it is for the terms to add up, in words.
        left_over: What positions hold beside their nodes, in words.
        levels: The positions, then the groups that remain as the most similar are merged. Each level has ``groups``,
            the group of every position, and ``cards`` and ``colours`` of the groups. Empty without SSRead.
        position_hops: Within how many hops positions come from the structure; None for learnt ones.
        stored_meanings: Whether names, traits and activations of the cards come from the training set, not from these
            graphs.
        references: Training graphs that are nearest to graphs of the page: ``id``, ``known``, and ``picture``, a record
            as above, for molecules.
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
    term_names: list[str]
    same_rest: list[float]
    held_fixed: list[str]
    left_over: list[str]
    levels: list[dict[str, Any]]
    position_hops: int | None
    stored_meanings: bool
    references: list[dict[str, Any]]
    map: dict[str, Any]
    notes: list[str] = field(default_factory=list)


def sample_graphs(graphs: GraphSet, seed: int = 0) -> Tensor:
    """The numbers of the graphs on a page, ascending: all graphs, or a random sample within the limits of a page."""
    order = torch.arange(len(graphs))
    sizes = graphs.node_counts.cpu()
    pairs = sizes * sizes.clamp(max=MAX_EXACT_NODES)
    if len(graphs) > MAX_GRAPHS or int(sizes.sum()) > MAX_NODES or int(pairs.sum()) > MAX_PAIRS:
        order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(seed))[:MAX_GRAPHS]
        fits = (sizes[order].cumsum(0) <= MAX_NODES) & (pairs[order].cumsum(0) <= MAX_PAIRS)
        order = order[: max(int(fits.sum()), 1)]
    return order.sort().values


def explain_graphs(
    model: Any,
    graphs: GraphSet,
    parts: Mapping[str, Tensor] | None = None,
    trained_on: bool = False,
    what: str | None = None,
) -> ExplainedGraphs:
    """Everything a page shows about a model and graphs.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes. Predictions and contributions of an ensemble are the
            mean over its members, positions those that most members give a node.
        graphs: The graphs, with or without labels.
        parts: The numbers of the graphs in each part of a training, by name.
        trained_on: Whether the model was trained on these graphs.
        what: What the classes are classes of, such as the name of their column: ``mutagenic: yes`` says more than
            ``yes``.
    """
    parts, model = parts or {}, opened(model)
    outputs = replace(outputs_of(model, graphs), what=what)
    known, predicted = outputs.known(graphs), predictions(model, graphs)
    ids = sample_graphs(graphs)
    shown = graphs[ids]
    terms = contributions(model, shown)
    aligned = consensus(model, shown) if has_positions(model) else None
    if aligned is not None and not torch.equal(terms.position, aligned.position):  # nothing says how members correspond
        terms = terms.regrouped(aligned.position, aligned.num_positions)
    levels = atlas_levels(model, shown, aligned, stored_groups(model)) if aligned is not None and len(shown) else []
    stored = with_stored_meanings(model, levels) if levels else None
    near, references = nearest_references(model, shown)
    records = graph_records(
        shown,
        outputs.task,
        predicted[ids],
        terms,
        aligned,
        known=None if known is None else known[ids],
        part_numbers=_part_numbers(len(graphs), parts)[ids],
        nearest=near,
    )
    return ExplainedGraphs(
        graphs=records,
        total=len(graphs),
        task=outputs.task,
        output_names=outputs.texts,
        parts=list(parts),
        success=_success(outputs.task, known, predicted, parts),
        trained_on=trained_on,
        term_names=term_names(terms, aligned is not None),
        same_rest=short(terms.rest[0]) if len(shown) and terms.same_rest else [],
        held_fixed=list(terms.held_fixed),
        left_over=list(terms.left_over),
        levels=coloured_levels(stored or levels),
        position_hops=encoder.places.hops if isinstance(encoder := members(model)[0].encoder, Placed) else None,
        stored_meanings=stored is not None,
        references=references,
        map=_map_points(model, shown, aligned),
        notes=_notes(model, graphs, outputs, aligned),
    )


def coloured_levels(levels: Sequence[Level]) -> list[dict[str, Any]]:
    """Levels of positions as plain data, with a colour for every group: that of its largest position."""
    if not levels:
        return []
    own = levels[0].cards
    colours = meaning_colours([card.name for card in own], [card.share for card in own])
    largest = sorted(range(len(own)), key=lambda k: own[k].share)
    found = []
    for level in levels:
        of_group = {level.groups[k]: colours[k] for k in largest}  # the last one, the largest, stays
        cards = [asdict(card) for card in level.cards]
        found.append(
            {"groups": list(level.groups), "cards": cards, "colours": [of_group[k] for k in range(len(cards))]}
        )
    return found


def _notes(model: Any, graphs: GraphSet, outputs: Outputs, aligned: Any) -> list[str]:
    """What a reader must know before the first picture."""
    notes = []
    if not len(graphs):
        notes.append("The dataset has no graphs.")
    if aligned is None:
        notes.append(
            "This model has the global readout, which reads all nodes of a graph at once. Its nodes have no positions, "
            "so the page shows contributions only."
        )
    if (count := len(members(model))) > 1:
        notes.append(f"Predictions and contributions are the mean over {count} models{_agreement(aligned)}.")
    if foreign := outputs.foreign(graphs):
        notes.append(
            f"The model does not predict {', '.join(foreign)}: these labels of the graphs are not shown. It predicts "
            f"{', '.join(outputs.names)}."
        )
    return notes


def _agreement(aligned: Any) -> str:
    """How far the members agree on positions, for the end of a sentence."""
    if aligned is None or not len(aligned.certainty):
        return ""
    return f"; a node has the position that most of them give it (on average {float(aligned.certainty.mean()):.0%} do)"


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


def _map_points(model: Any, graphs: GraphSet, aligned: Any) -> dict[str, Any]:
    """The map of nodes; see :class:`ExplainedGraphs`."""
    points = node_map(model, graphs, MAX_MAP_POINTS)
    own = [] if aligned is None else aligned.matching[0].argsort().numpy()  # the first member's, in the common order
    node_ptr = graphs.node_ptr.cpu().numpy()
    graph = np.searchsorted(node_ptr, points.nodes, side="right") - 1
    return {
        "coordinates": rounded(10 * points.coordinates.reshape(-1)),
        "graph": graph.tolist(),
        "node": (points.nodes - node_ptr[graph]).tolist(),
        "prototypes": rounded(10 * points.prototypes[own].reshape(-1)) if len(own) else [],
    }
