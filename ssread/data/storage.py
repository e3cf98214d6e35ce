"""Graph sets on disk: one safetensors file with the tensors and a JSON description, without pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from ssread.common.checking import checked_json, shorten
from ssread.common.files import replacing
from ssread.data.skipped import SkippedRow
from ssread.errors import InputError

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet

FORMAT = "ssread.GraphSet 1"
TENSORS = ("x", "node_ptr", "edge_index", "edge_ptr", "edge_attr", "y", "graph_attr")
FEATURES = ("x", "edge_attr", "graph_attr")
NAMED_TENSORS = ("node_columns", "graph_columns")
SCHEMA = "ssread.data.set_schema:SetDescription"
DESCRIPTION = "description"  # JSON as bytes: the header of a safetensors file is too small for a million ids


def write(graphs: GraphSet, path: str | os.PathLike[str], stamp: str = "") -> None:
    """Writes a graph set atomically; ``stamp`` is any text, which :func:`read_stamp` returns."""
    tensors = {name: getattr(graphs, name) for name in TENSORS if getattr(graphs, name) is not None}
    for kind in NAMED_TENSORS:
        tensors |= {f"{kind}/{name}": column for name, column in getattr(graphs, kind).items()}
    description = {
        "name": graphs.name,
        "class_names": graphs.class_names,
        "task": graphs.task,
        "target_names": graphs.target_names,
        "node_feature_names": graphs.node_feature_names,
        "edge_feature_names": graphs.edge_feature_names,
        "graph_feature_names": graphs.graph_feature_names,
        "ids": [] if all(name == str(row) for row, name in enumerate(graphs.ids)) else list(graphs.ids),
        "undirected": graphs.undirected,
        "repairs": dict(graphs.repairs),
        "graph_texts": {name: list(texts) for name, texts in graphs.graph_texts.items()},
        "skipped": list(graphs.skipped),
    }
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    tensors |= {name: _compact(tensors[name]) for name in FEATURES if name in tensors}
    tensors[DESCRIPTION] = torch.frombuffer(bytearray(json.dumps(description).encode()), dtype=torch.uint8)
    with replacing(Path(path)) as new:
        save_file(tensors, new, metadata={"format": FORMAT, "stamp": stamp})


def _compact(tensor: Tensor) -> Tensor:
    """Returns floats as bytes, a quarter of their size, if all are integers below 256, as one-hot features are."""
    as_bytes = tensor.to(torch.uint8)
    return as_bytes if torch.equal(as_bytes.to(torch.float32), tensor) else tensor


def read_stamp(path: str | os.PathLike[str]) -> str | None:
    """Returns the stamp that a graph set was written with; ``None`` if ``path`` is not a saved graph set."""
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
    except (OSError, SafetensorError):
        return None
    return metadata.get("stamp") if metadata.get("format") == FORMAT else None


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns the columns of a graph set that :func:`write` wrote, by field name."""
    if not os.path.isfile(path):
        raise InputError(f"There is no file {path}.")
    if read_stamp(path) is None:
        raise InputError(
            f"{path} is not a graph set saved by this version of ssread: load the data from its source again."
        )
    try:
        tensors = load_file(path)
        columns: dict[str, Any] = checked_json(SCHEMA, tensors.pop(DESCRIPTION).numpy().tobytes(), "its description")
        of_features = ("node_feature_names", "edge_feature_names", "graph_feature_names")
        for key in ("class_names", "target_names", *of_features, "ids"):
            columns[key] = tuple(columns.get(key, ()))  # sets of earlier versions have fewer of them
        columns["graph_texts"] = {name: tuple(texts) for name, texts in columns.get("graph_texts", {}).items()}
        columns["skipped"] = tuple(SkippedRow(*row) for row in columns.get("skipped", ()))  # earlier: not kept
        columns |= {kind: {} for kind in NAMED_TENSORS}
        for name, tensor in tensors.items():
            kind, _, column = name.partition("/")
            if column:
                columns[kind][column] = tensor
            elif name in TENSORS:
                columns[name] = tensor.to(torch.float32) if name in FEATURES else tensor
    except (OSError, SafetensorError, KeyError, ValueError) as error:  # an InputError is a ValueError
        reason = shorten(str(error), 300).rstrip(".")
        raise InputError(f"{path} is damaged ({reason}): load the data from its source again.") from None
    return columns
