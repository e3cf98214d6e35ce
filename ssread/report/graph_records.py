"""Graphs, their predictions and explanations as plain data: a record for each graph of a page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, REGRESSION
from ssread.draw import Drawing, drawings
from ssread.explain import Positions

__all__ = ["graph_records", "rounded", "short"]


def graph_records(
    graphs: GraphSet,
    task: str,
    known: Tensor | None,
    predicted: Tensor,
    activations: Tensor,
    aligned: Positions | None,
    part_numbers: Tensor,
) -> list[dict[str, Any]]:
    """A record for every graph; see :class:`ssread.report.ExplainedGraphs`.

    Args:
        graphs: The graphs.
        task: What is predicted.
        known: What is known of them, as :meth:`ssread.explain.outputs.Outputs.known` returns it.
        predicted: Probabilities or numbers, [G, outputs].
        activations: Of every node, [N, outputs].
        aligned: The positions of the nodes; None without SSRead.
        part_numbers: The part of every graph, [G].
    """
    records = []
    for number, drawing in enumerate(drawings(graphs)):
        nodes = slice(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        record = {
            "id": str(graphs.ids[number]),
            "part": int(part_numbers[number]),
            "known": [] if known is None else _known(known[number]),
            **_predicted(task, predicted[number]),
            **_picture(drawing, activations[nodes], common_scale=task != REGRESSION),
        }
        if aligned is not None:
            record["positions"] = aligned.position[nodes].tolist()
            record["costs"] = rounded(1000 * aligned.cost[nodes].nan_to_num(2).numpy())
        records.append(record)
    return records


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


def _picture(drawing: Drawing, activations: Tensor, common_scale: bool) -> dict[str, Any]:
    """The fields of a record that draw a graph, from its drawing and the activations of its nodes [n, outputs]."""
    largest = activations.abs().amax(dim=0) if activations.numel() else activations.new_zeros(activations.size(1))
    if common_scale:  # scores of classes compare, numbers have units of their own
        largest = largest.max().expand_as(largest)
    scaled = 100 * activations / torch.where(largest > 0, largest, 1.0)
    return {
        "coordinates": rounded((drawing.coordinates * np.array([100, -100])).reshape(-1)),
        "bonds": [number for bond in drawing.bonds for number in bond],
        "labels": {str(node): label for node, label in enumerate(drawing.labels) if label},
        "molecule": drawing.molecule is not None,
        "activations": [rounded(column.numpy()) for column in scaled.T],
        "largest_activation": short(largest),
    }


def rounded(values: np.ndarray) -> list[int]:
    """Whole numbers; 0 for NaN."""
    return np.rint(np.nan_to_num(values)).astype(int).tolist()


def short(values: Tensor) -> list[float]:
    """Numbers with the digits that people read."""
    return [float(f"{value:.5g}") for value in values.tolist()]
