"""What a worker answers: tables of predictions and vectors, and explanations with a picture, as plain data."""

import json
from collections.abc import Sequence
from typing import Any

import torch

from ssread.apply.chunks import Rows
from ssread.apply.embedding import embedding_table, graph_vectors
from ssread.apply.prediction import prediction_table
from ssread.apply.trained_model import TrainedModel
from ssread.common.plain_json import without_nan
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain import consensus, contributions, has_positions, positions
from ssread.report.graph_records import graph_records, term_names
from ssread.serve.changes import change_element
from ssread.serve.jobs import Answer, Edit, File, Kind, Molecule
from ssread.serve.reading import read_items, refuse_large
from ssread.serve.settings import Limits
from ssread.serve.tables import TooLargeError

__all__ = ["answer", "explanations"]

#: Training graphs that are shown beside an explained one.
NEAREST = 4


def answer(model: TrainedModel, kind: Kind, items: Sequence[Molecule | File | Edit], limits: Limits) -> Answer:
    """Answers the items of one batch: a row for each, or for each row of a table.

    Args:
        model: The model.
        kind: What is asked for.
        items: What it is asked of.
        limits: What the server takes.
    """
    if kind.what == "change":
        edits = [item for item in items if isinstance(item, Edit)]
        return Answer(_texts([changed(model, edit, kind.coverage, limits) for edit in edits]), {})
    rows, large = refuse_large(read_items(model.features, kind, items, limits), limits)
    if kind.what == "explain":
        found: Any = _texts(explanations(model, rows, kind.coverage))
    elif kind.what == "embed":
        found = embedding_table(model, rows) if kind.form == "table" else _texts(_vectors(model, rows))
    else:
        table = prediction_table(model, rows, kind.coverage)
        found = table if kind.form == "table" else _texts(table.to_pylist())
    return Answer(found, dict(rows.problems), large)


def explanations(model: TrainedModel, rows: Rows, coverage: float | None) -> list[dict[str, Any]]:
    """A prediction, a picture with positions and contributions, and the nearest training graphs, of every row."""
    predicted = prediction_table(model, rows, coverage).to_pylist()
    seen = iter([] if rows.graphs is None else _seen(model, rows.graphs))
    nothing: dict[str, Any] = {"terms": None, "picture": None, "nearest": []}
    return [{"prediction": row, **(nothing if row["problem"] is not None else next(seen))} for row in predicted]


def changed(model: TrainedModel, edit: Edit, coverage: float | None, limits: Limits) -> dict[str, Any]:
    """The explanations of a molecule before and after a change, with the atoms at the same places.

    Where hydrogens are nodes, a change can add or remove some, so that each molecule keeps a layout of its own.
    """
    after = change_element(edit.smiles, edit.atom, edit.element)
    items = [Molecule(edit.smiles, number=0), Molecule(after.smiles, "changed", 1)]
    rows, large = refuse_large(read_items(model.features, Kind("", "explain"), items, limits), limits)
    if rows.problems:
        kind = TooLargeError if large else InputError
        raise kind(f"The change gives no molecule that the model takes: {next(iter(rows.problems.values()))}.")
    old, new = explanations(model, rows, coverage)
    if not model.features.options.get("hydrogens"):
        places = old["picture"]["coordinates"]
        new["picture"]["coordinates"] = [places[2 * atom + side] for atom in after.before for side in (0, 1)]
    return {"before": old, "after": new, "atom": after.before.index(edit.atom)}


def _seen(model: TrainedModel, graphs: GraphSet) -> list[dict[str, Any]]:
    """What the model sees in every graph."""
    aligned = None
    if has_positions(model):  # of an ensemble that an earlier version saved, the first member's
        aligned = positions(model, graphs) if model.matching is None else consensus(model, graphs)
    terms = contributions(model, graphs)
    names = [*(model.position_names if aligned is not None else ()), *term_names(terms, aligned is not None)]
    records = graph_records(graphs, model.task, model.predictions(graphs), terms, aligned)
    return [
        {"terms": {"names": names, "scores": record.pop("terms")}, "picture": record, "nearest": nearest}
        for record, nearest in zip(records, _nearest(model, graphs), strict=True)
    ]


def _nearest(model: TrainedModel, graphs: GraphSet) -> list[list[dict[str, Any]]]:
    """The nearest training graphs of every graph; none where the model keeps none."""
    reference = model.reference
    if reference is None or not reference.ids:
        return [[] for _ in range(len(graphs))]
    vectors = torch.cat([outputs[0].vectors for _, outputs in model.run(graphs)])
    texts = {"id": reference.ids, "smiles": reference.smiles, "known": reference.known}
    return [
        [
            {name: values[number] if values else "" for name, values in texts.items()} | {"distance": distance}
            for distance, number in zip(apart, numbers, strict=True)
        ]
        for apart, numbers in zip(*(found.tolist() for found in reference.nearest(vectors, NEAREST)), strict=True)
    ]


def _vectors(model: TrainedModel, rows: Rows) -> list[dict[str, Any]]:
    """The vector of every row as one list of numbers, in the digits of float32."""
    vectors = iter([] if rows.graphs is None else graph_vectors(model, rows.graphs))
    found = []
    for row, id in enumerate(rows.ids):
        problem = rows.problems.get(row)
        vector = None if problem is not None else [float(str(value)) for value in next(vectors)]
        smiles = None if rows.texts is None else rows.texts[row]
        found.append({"id": id, "smiles": smiles, "vector": vector, "problem": problem})
    return found


def _texts(rows: Sequence[dict[str, Any]]) -> list[bytes]:
    """Every row as JSON, made here so that the server only passes it on."""
    return [json.dumps(without_nan(row), separators=(",", ":"), allow_nan=False).encode() for row in rows]
