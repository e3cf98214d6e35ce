"""From the items of requests to graphs, within the limits of the server."""

import inspect
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from ssread.apply.chunks import FilesChunk, MoleculeChunk, Rows
from ssread.apply.features import Features
from ssread.data.graph_features import own_columns
from ssread.data.molecule_files import read_blocks
from ssread.data.molecule_rows import Block, Columns, split_name
from ssread.data.networks import from_networkx
from ssread.data.sources import ending_of
from ssread.errors import InputError
from ssread.serve.jobs import File, Kind, Molecule
from ssread.serve.settings import Limits

__all__ = ["GRAPH_ENDINGS", "TABLE_ENDINGS", "TooLargeError", "read_items", "refuse_large"]

#: The endings of files that a client may send. Compressed ones could hold more than their size says.
TABLE_ENDINGS = (".csv", ".tsv", ".smi", ".sdf", ".parquet")
GRAPH_ENDINGS = (".graphml", ".json")


class TooLargeError(InputError):
    """More than the server takes."""


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
            block = _table(features, kind, path, limits)
        except InputError as error:
            raise type(error)(str(error).replace(str(path), name)) from None
    block = replace(block, path=Path(name))
    _check_columns(features, block)
    return MoleculeChunk(block, _options(features)).read(features)


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
        raise InputError(f"SMILES alone are not enough for this model: {_send_columns(needed)}")
    ids = [item.id or split_name(item.smiles)[1] or str(item.number) for item in items]
    texts = [item.smiles for item in items]
    block = Block(Path("request"), "molecule", numbers=range(len(items)), smiles=texts, ids=ids)
    return MoleculeChunk(block, _options(features)).read(features)


def _table(features: Features, kind: Kind, path: Path, limits: Limits) -> Block:
    """All rows of a file of molecules, with the columns that the model needs, unless they exceed a limit."""
    most = limits.most(kind.what)
    if ending_of(path) == ".parquet":
        _check_parquet(path, most)
    columns = Columns(
        kind.smiles or "smiles",
        None,
        kind.id,
        hydrogens=bool(features.options.get("hydrogens", False)),
        all=bool(own_columns(features.sources)),
    )
    block = next(read_blocks(path, columns, most + 1))
    if len(block) > most:
        raise TooLargeError(f"{path} has more than {most} molecules; this server takes no more of them at once.")
    if not len(block):
        raise InputError(f"{path} has no molecules.")
    for number, text in zip(block.numbers, block.smiles, strict=False):  # an .sdf has none
        if isinstance(text, str) and len(text) > limits.characters:
            has = f"The SMILES of {block.unit} {number} has {len(text)} characters"
            raise TooLargeError(f"{has}; this server takes {limits.characters}.")
    return block


def _check_columns(features: Features, block: Block) -> None:
    """Raises an error where a file lacks columns that the model needs."""
    found = block.properties if block.inputs is None else block.inputs.column_names
    missing = [name for name in own_columns(features.sources) if name not in found]
    if missing:
        raise InputError(f"{block.path} lacks what this model needs: {_send_columns(missing)}")


def _send_columns(names: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names))
    many = "s" if len(names) > 1 else ""
    return f"send a file (.csv, .tsv, .parquet or .sdf) with the column{many} {listed}, which it was trained with."


def _options(features: Features) -> dict[str, Any]:
    return {name: value for name, value in features.options.items() if name in ("features", "hydrogens")}


def _check_parquet(path: Path, most: int) -> None:
    """Raises an error for a file that holds far more than its size says."""
    try:
        about = pyarrow.parquet.read_metadata(path)
        size = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a Parquet file: {str(error)[:200]}") from None
    if about.num_rows > most:
        raise TooLargeError(f"{path} has {about.num_rows} rows; this server takes {most} at once.")
    if size > 100_000_000:
        raise TooLargeError(f"{path} has {size} bytes of data once it is unpacked, which is too much for this server.")


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
