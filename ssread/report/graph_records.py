"""Graphs, their predictions and explanations as plain data: a record for each graph of a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, REGRESSION
from ssread.draw import Drawing, drawings
from ssread.explain import Consensus, Positions
from ssread.models.contributions import Contributions

__all__ = ["graph_records", "picture", "rounded", "short", "term_names"]


def graph_records(
    graphs: GraphSet,
    task: str,
    predicted: Tensor,
    terms: Contributions,
    aligned: Positions | Consensus | None = None,
    *,
    known: Tensor | None = None,
    part_numbers: Tensor | None = None,
    nearest: Sequence[list[int]] | None = None,
) -> list[dict[str, Any]]:
    """A record for every graph; see :class:`ssread.report.ExplainedGraphs`.

    Args:
        graphs: The graphs.
        task: What is predicted.
        predicted: Probabilities or numbers, [G, outputs].
        terms: What nodes and positions add to the scores.
        aligned: The positions of the nodes; None without SSRead.
        known: What is known of them, as :meth:`ssread.explain.outputs.Outputs.known` returns it.
        part_numbers: The part of every graph, [G].
        nearest: The nearest training graphs of every graph, from :func:`ssread.report.references.nearest_references`.
    """
    records = []
    node_ptr = graphs.node_ptr.tolist()
    for number, drawing in enumerate(drawings(graphs)):
        nodes = slice(node_ptr[number], node_ptr[number + 1])
        record = {
            "id": str(graphs.ids[number]),
            "part": -1 if part_numbers is None else int(part_numbers[number]),
            "known": [] if known is None else _known(known[number]),
            **_predicted(task, predicted[number]),
            **picture(drawing),
            **_activations(terms.nodes[nodes], common_scale=task != REGRESSION),
            "terms": [short(column) for column in _terms(terms, number, aligned is not None).T],
        }
        if aligned is not None:
            record["positions"] = aligned.position[nodes].tolist()
            record["costs"] = rounded(1000 * aligned.cost[nodes].nan_to_num(2).numpy())
            certainty = getattr(aligned, "certainty", None)
            if certainty is not None and bool((certainty[nodes] < 1).any()):
                record["certainty"] = rounded(100 * certainty[nodes].numpy())
        if nearest is not None and nearest[number]:
            record["nearest"] = nearest[number]
        records.append(record)
    return records


def term_names(terms: Contributions, by_position: bool) -> list[str]:
    """What the terms of a record are called, but for one per position: all nodes, features of graphs, the rest."""
    return [
        *([] if by_position else ["all nodes"]),
        *([] if terms.graph_features is None else ["features of the graph"]),
        "rest",
    ]


def _terms(terms: Contributions, number: int, by_position: bool) -> Tensor:
    """The terms of the scores of one graph, [terms, outputs]."""
    of_features = [] if terms.graph_features is None else [terms.graph_features[number : number + 1]]
    of_positions = terms.positions[number] if by_position else terms.positions[number].sum(dim=0, keepdim=True)
    return torch.cat([of_positions, *of_features, terms.rest[number : number + 1]])


def _known(row: Tensor) -> list[Any]:
    """What is known of one graph, None where nothing is."""
    if row.dim() == 0:
        return [int(row) if row >= 0 else None]
    return [None if math.isnan(value) else value for value in short(row)]


def _predicted(task: str, row: Tensor) -> dict[str, Any]:
    """The fields of a record that say what is predicted, from probabilities or numbers."""
    if task == REGRESSION:
        return {"predicted": short(row)}
    predicted = [int(row.argmax())] if task == CLASSIFICATION else (row > 0.5).int().tolist()
    return {"predicted": predicted, "probabilities": rounded(1000 * row.numpy())}


def picture(drawing: Drawing) -> dict[str, Any]:
    """The fields of a record that draw a graph."""
    return {
        "coordinates": rounded((drawing.coordinates * np.array([100, -100])).reshape(-1)),
        "bonds": [number for bond in drawing.bonds for number in bond],
        "labels": {str(node): label for node, label in enumerate(drawing.labels) if label},
        "molecule": drawing.molecule is not None,
    }


def _activations(activations: Tensor, common_scale: bool) -> dict[str, Any]:
    """The fields of a record that say what its nodes add, from contributions [n, outputs]."""
    largest = activations.abs().amax(dim=0) if activations.numel() else activations.new_zeros(activations.size(1))
    if common_scale:  # scores of classes compare, numbers have units of their own
        largest = largest.max().expand_as(largest)
    scaled = 1000 * activations / torch.where(largest > 0, largest, 1.0)
    return {"activations": [rounded(column.numpy()) for column in scaled.T], "largest_activation": short(largest)}


def rounded(values: np.ndarray) -> list[int]:
    """Whole numbers; 0 for NaN."""
    return np.rint(np.nan_to_num(values)).astype(int).tolist()


def short(values: Tensor) -> list[float]:
    """Numbers with the digits that people read."""
    return [float(f"{value:.5g}") for value in values.tolist()]
