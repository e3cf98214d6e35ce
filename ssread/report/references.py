"""The training graphs that are nearest to new ones, as plain data."""

from __future__ import annotations

from typing import Any

import torch

from ssread.data.graphset import GraphSet
from ssread.draw import draw_molecule
from ssread.report.graph_records import picture

__all__ = ["nearest_references"]

#: How many training graphs are shown beside a graph.
NEAREST = 3


def nearest_references(model: Any, graphs: GraphSet) -> tuple[list[list[int]], list[dict[str, Any]]]:
    """The nearest training graphs of every graph, where a model keeps some with their names.

    A training graph that is the graph itself, by its name and distance, is left out.

    Returns:
        For every graph pairs of an index into the second list and a distance in hundredths, flattened; and what is
        known of these training graphs: ``id``, ``known``, ``picture`` of a molecule.
    """
    reference = getattr(model, "reference", None)
    if reference is None or not reference.ids or not len(graphs):
        return [[] for _ in range(len(graphs))], []
    vectors = torch.cat([outputs[0].vectors.cpu() for _, outputs in model.run(graphs)])
    distances, numbers = (found.tolist() for found in reference.nearest(vectors, NEAREST + 1))
    shown: dict[int, int] = {}  # the index of a training graph in the list, by its number
    near: list[list[int]] = []
    for graph, (of_graph, found) in enumerate(zip(distances, numbers, strict=True)):
        pairs = [
            (number, distance)
            for number, distance in zip(found, of_graph, strict=True)
            if not (reference.ids[number] == graphs.ids[graph] and distance < 0.01)
        ]
        near.append([])
        for number, distance in pairs[:NEAREST]:
            near[-1] += [shown.setdefault(number, len(shown)), round(100 * distance)]
    return near, [_described(reference, number) for number in shown]


def _described(reference: Any, number: int) -> dict[str, Any]:
    known = reference.known[number] if reference.known else ""
    described: dict[str, Any] = {"id": reference.ids[number], "known": known}
    if reference.smiles and reference.smiles[number]:
        try:
            from rdkit import Chem, rdBase
        except ImportError:
            return described
        with rdBase.BlockLogs():
            molecule = Chem.MolFromSmiles(reference.smiles[number])
        if molecule is not None:
            described["picture"] = picture(draw_molecule(molecule))
    return described
