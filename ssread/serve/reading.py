"""From the items of requests to graphs, within the limits of the server."""

import inspect
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssread.apply.chunks import FilesChunk, MoleculeChunk, Rows
from ssread.apply.features import Features
from ssread.data.graph_features import own_columns
from ssread.data.molecule_rows import Block, split_name
from ssread.data.networks import from_networkx
from ssread.data.sources import ending_of
from ssread.errors import InputError
from ssread.serve.jobs import File, Kind, Molecule
from ssread.serve.settings import Limits
from ssread.serve.tables import read_table, send_columns

__all__ = ["read_items", "refuse_large"]


def read_items(features: Features, kind: Kind, items: Sequence[Any], limits: Limits) -> Rows:
    """The graphs of the items, with features as in training; graphs with too many nodes get a problem instead.

    Args:
        features: The features of the model.
        kind: What the items are.
        items: Molecules, files of one graph each, or one file of molecules.
        limits: What the server takes.
    """
    if kind.item == "molecule":
        return _molecules(features, [item for item in items if isinstance(item, Molecule)])
    files = [item for item in items if isinstance(item, File)]
    if kind.item == "graph":
        return _graphs(features, files)
    (file,) = files
    with _as_files(files) as (path,):
        try:
            block = read_table(features, kind, path, limits)
        except InputError as error:
            raise type(error)(str(error).replace(str(path), file.name)) from None
    return MoleculeChunk(replace(block, path=Path(file.name)), _options(features)).read(features)


def refuse_large(rows: Rows, limits: Limits) -> tuple[Rows, frozenset[int]]:
    """The rows with a problem for every graph of too many nodes, and the numbers of these rows."""
    if rows.graphs is None:
        return rows, frozenset()
    counts = rows.graphs.node_counts.tolist()
    usable = rows.usable
    large = {
        usable[number]: f"it has {count} atoms or nodes; this server takes {limits.atoms}"
        for number, count in enumerate(counts)
        if count > limits.atoms
    }
    if not large:
        return rows, frozenset()
    fitting = [number for number, count in enumerate(counts) if count <= limits.atoms]
    graphs = rows.graphs[fitting] if fitting else None
    return replace(rows, problems={**rows.problems, **large}, graphs=graphs), frozenset(large)


def _molecules(features: Features, items: Sequence[Molecule]) -> Rows:
    needed = own_columns(features.sources)
    if needed:
        raise InputError(f"SMILES alone are not enough for this model: {send_columns(needed)}")
    ids = [item.id or split_name(item.smiles)[1] or str(item.number) for item in items]
    texts = [item.smiles for item in items]
    block = Block(Path("request"), "molecule", numbers=range(len(items)), smiles=texts, ids=ids)
    return MoleculeChunk(block, _options(features)).read(features)


def _graphs(features: Features, items: Sequence[File]) -> Rows:
    """The graphs of files; sentences have the names that the client knows them by."""
    taken = inspect.signature(from_networkx).parameters
    options = {name: value for name, value in features.options.items() if name in taken}
    names = [item.name for item in items]
    with _as_files(items) as paths:
        folder = paths[0].parent
        try:
            rows = FilesChunk(folder, paths, options).read(features)
        except InputError as error:
            raise type(error)(_renamed(str(error), paths, names)) from None
    problems = {row: _renamed(why, paths[row : row + 1], names[row : row + 1]) for row, why in rows.problems.items()}
    return replace(rows, ids=names, places=names, problems=problems)


def _renamed(sentence: str, paths: Sequence[Path], names: Sequence[str]) -> str:
    """A sentence about files of ours, with the names of the client."""
    for path, name in zip(paths, names, strict=True):
        sentence = sentence.replace(str(path), name).replace(f"graph {path.name}", name)
    folder = paths[0].parent.name
    return sentence.replace(f"{folder}: ", "").replace(folder, names[0] if len(names) == 1 else "The request")


def _options(features: Features) -> dict[str, Any]:
    return {name: value for name, value in features.options.items() if name in ("features", "hydrogens")}


@contextmanager
def _as_files(items: Sequence[File]) -> Iterator[list[Path]]:
    """The files in a temporary folder, under names of ours: only the ending comes from the client."""
    with tempfile.TemporaryDirectory(prefix="ssread-serve-") as folder:
        paths = []
        for number, item in enumerate(items):
            path = Path(folder) / f"{number:06d}{ending_of(Path(item.name)) or '.json'}"
            path.write_bytes(item.content)
            paths.append(path)
        yield paths
