"""Graph sets on disk: one safetensors file with the tensors and a JSON description; no pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from ssread.common.files import replacing
from ssread.errors import InputError

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet

FORMAT = "ssread.GraphSet 1"
TENSORS = ("x", "node_ptr", "edge_index", "edge_ptr", "edge_attr", "y")
FEATURES = ("x", "edge_attr")
NAMED_TENSORS = ("node_columns", "graph_columns")
DESCRIPTION = "description"  # JSON as bytes: the header of a safetensors file is too small for a million ids


def write(graphs: GraphSet, path: str | os.PathLike[str], stamp: str = "") -> None:
    """Write a set, all or nothing; ``stamp`` is a text of the caller's that :func:`read_stamp` returns."""
    tensors = {name: getattr(graphs, name) for name in TENSORS if getattr(graphs, name) is not None}
    for kind in NAMED_TENSORS:
        tensors |= {f"{kind}/{name}": column for name, column in getattr(graphs, kind).items()}
    description = {
        "name": graphs.name,
        "class_names": graphs.class_names,
        "node_feature_names": graphs.node_feature_names,
        "edge_feature_names": graphs.edge_feature_names,
        "ids": [] if all(name == str(row) for row, name in enumerate(graphs.ids)) else list(graphs.ids),
        "undirected": graphs.undirected,
        "repairs": dict(graphs.repairs),
        "graph_texts": {name: list(texts) for name, texts in graphs.graph_texts.items()},
    }
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    tensors |= {name: _small(tensors[name]) for name in FEATURES if name in tensors}
    tensors[DESCRIPTION] = torch.frombuffer(bytearray(json.dumps(description).encode()), dtype=torch.uint8)
    with replacing(Path(path)) as new:
        save_file(tensors, new, metadata={"format": FORMAT, "stamp": stamp})


def _small(tensor: Tensor) -> Tensor:
    """Floats that are all whole numbers below 256, as one-hot features are, in a quarter of the space."""
    as_bytes = tensor.to(torch.uint8)
    return as_bytes if torch.equal(as_bytes.to(torch.float32), tensor) else tensor


def read_stamp(path: str | os.PathLike[str]) -> str | None:
    """The stamp a set was written with; ``None`` if there is no such file or it is not a set."""
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
    except (OSError, SafetensorError):
        return None
    return metadata.get("stamp") if metadata.get("format") == FORMAT else None


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The columns of a set that :func:`write` wrote, by field name."""
    if not Path(path).is_file():
        raise InputError(f"There is no file {path}.")
    if read_stamp(path) is None:
        raise InputError(f"{path} is not a saved graph set of this version of ssread: load the data anew.")
    try:
        tensors = load_file(path)
        columns: dict[str, Any] = json.loads(tensors.pop(DESCRIPTION).numpy().tobytes())
        for key in ("class_names", "node_feature_names", "edge_feature_names", "ids"):
            columns[key] = tuple(columns[key])
        columns["graph_texts"] = _each(columns["graph_texts"], tuple)
        columns |= {kind: {} for kind in NAMED_TENSORS}
        for name, tensor in tensors.items():
            kind, _, column = name.partition("/")
            if column:
                columns[kind][column] = tensor
            elif name in TENSORS:
                columns[name] = tensor.to(torch.float32) if name in FEATURES else tensor
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error}): load the data anew.") from None
    return columns


def _each(mapping: Mapping[str, Any], function: Callable[[Any], Any]) -> dict[str, Any]:
    return {key: function(value) for key, value in mapping.items()}
