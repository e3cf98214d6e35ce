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
from ssread.serve.tables import TABLE_ENDINGS, read_table, send_columns

__all__ = ["GRAPH_ENDINGS", "read_items", "refuse_large"]

GRAPH_ENDINGS = (".graphml", ".json")


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
    with _as_files([item for item in items if isinstance(item, File)]) as paths:
        if kind.item == "graph":
            taken = inspect.signature(from_networkx).parameters
            options = {name: value for name, value in features.options.items() if name in taken}
            rows = FilesChunk(paths[0].parent, paths, options).read(features)
            return _renamed(rows, paths[0].parent, [str(item.name) for item in items if isinstance(item, File)])
        (path,) = paths
        name = next(item.name for item in items if isinstance(item, File))
        try:
            block = read_table(features, kind, path, limits)
        except InputError as error:
            raise type(error)(str(error).replace(str(path), name)) from None
    return MoleculeChunk(replace(block, path=Path(name)), _options(features)).read(features)


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


def _options(features: Features) -> dict[str, Any]:
    return {name: value for name, value in features.options.items() if name in ("features", "hydrogens")}


@contextmanager
def _as_files(items: Sequence[File]) -> Iterator[list[Path]]:
    """The files in a temporary folder, under names of ours: only the ending comes from the client."""
    with tempfile.TemporaryDirectory(prefix="ssread-serve-") as folder:
        paths = []
        for number, item in enumerate(items):
            ending = ending_of(Path(item.name))
            if ending not in (*TABLE_ENDINGS, *GRAPH_ENDINGS):
                raise InputError(f"{item.name} cannot be read: send a file of {', '.join(TABLE_ENDINGS)} or a graph.")
            path = Path(folder) / f"{number:06d}{ending}"
            path.write_bytes(item.content)
            paths.append(path)
        yield paths


def _renamed(rows: Rows, folder: Path, names: Sequence[str]) -> Rows:
    """The rows of files by the names that the client knows them by."""
    problems = {}
    for row, why in rows.problems.items():
        problems[row] = why.replace(str(folder / str(rows.ids[row])), names[row])
    return replace(rows, ids=list(names), places=list(names), problems=problems)
