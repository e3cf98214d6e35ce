"""New graphs, chunk by chunk: the data need not fit into memory, and a bad row does not stop the others.

A chunk holds some rows of a source as they were read. It is sent to a worker process, which makes graphs of them.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import networkx as nx
import pyarrow

from ssread.apply.features import Features
from ssread.apply.graph_inputs import check_options, options_of
from ssread.data.graph_features import own_columns
from ssread.data.graphset import GraphSet
from ssread.data.load import find_reader, is_table
from ssread.data.molecule_files import read_blocks, table_blocks
from ssread.data.molecule_rows import Block, Columns
from ssread.data.molecules import reasons_of, to_graphs
from ssread.data.network_files import find_files, read_graph
from ssread.data.networks import from_networkx, read_networks
from ssread.data.skipped import SkippedRow
from ssread.data.sources import MOLECULE_ENDINGS, ending_of
from ssread.errors import InputError

__all__ = ["Chunk", "Rows", "chunks_of"]

#: Rows per chunk.
CHUNK_ROWS = 1000


@dataclass(frozen=True)
class Rows:
    """The rows of a chunk, and the graphs of those that are usable.

    Attributes:
        ids: The id of every row.
        texts: The SMILES of every row; ``None`` where the source has none.
        problems: What is wrong with a row, by its index in the chunk.
        graphs: The graphs of all other rows, in order; ``None`` where there are none.
        places: Where to find every row, such as "line 3"; the ids by default.
        inputs: All columns of a table that was read, or ``None``.
    """

    ids: Sequence[str]
    texts: Sequence[str] | None
    problems: dict[int, str]
    graphs: GraphSet | None
    places: Sequence[str] = ()
    inputs: pyarrow.Table | None = None

    @property
    def skipped(self) -> list[SkippedRow]:
        """The rows with a problem."""
        places, texts = self.places or self.ids, self.texts or [""] * len(self.ids)
        return [SkippedRow(row, places[row], texts[row], why) for row, why in sorted(self.problems.items())]

    @property
    def usable(self) -> list[int]:
        """The indices of the rows that have a graph."""
        return [index for index in range(len(self.ids)) if index not in self.problems]


class Chunk(Protocol):
    """Some rows of a source; can be sent to another process."""

    def __len__(self) -> int: ...

    def read(self, features: Features) -> Rows:
        """Makes graphs of the rows, with features as in training."""


def chunks_of(features: Features, data: Any, *, keep_columns: bool = False, **options: Any) -> Iterator[Chunk]:
    """Yields the rows of a source in order, some at a time.

    Files and tables of molecules and folders of graph files are read chunk by chunk, everything else at once.

    Args:
        features: The features of the model's graphs.
        data: As for :meth:`ssread.apply.TrainedModel.read`.
        keep_columns: Whether to keep all columns of a table of molecules.
        options: Where to find things in the data: ``smiles`` and ``id`` columns.
    """
    allowed = [name for name in options_of(data) if name not in ("on_error", "name")]
    check_options(options, allowed)
    trained_with = {name: value for name, value in features.options.items() if name in allowed}
    columns = Columns(
        smiles=options.get("smiles", "smiles"),
        label=None,
        id=options.get("id"),
        hydrogens=bool(trained_with.get("hydrogens", False)),
        all=keep_columns,
        keep=own_columns(features.sources),
    )

    def molecule_chunk(block: Block) -> MoleculeChunk:
        return MoleculeChunk(block, trained_with, keep_columns)

    if is_table(data):
        return map(molecule_chunk, table_blocks(data, columns, CHUNK_ROWS))
    if isinstance(data, str | os.PathLike):
        reader, path = find_reader(data)
        if path is not None and ending_of(path) in MOLECULE_ENDINGS and path.is_file():
            return map(molecule_chunk, read_blocks(path, columns, CHUNK_ROWS))
        if reader is read_networks and path is not None:
            files = find_files(path)
            return (
                FilesChunk(path, files[start : start + CHUNK_ROWS], trained_with)
                for start in range(0, len(files), CHUNK_ROWS)
            )
    elif not isinstance(data, GraphSet):
        data = list(data)
        if data and isinstance(data[0], str):
            return (_smiles_chunk(data, start, trained_with) for start in range(0, len(data), CHUNK_ROWS))
    graphs = features.load(data, **options)
    return (GraphSetChunk(graphs[start : start + CHUNK_ROWS]) for start in range(0, len(graphs), CHUNK_ROWS))


@dataclass(frozen=True)
class MoleculeChunk:
    """Rows of a file of molecules, or of a list of SMILES."""

    block: Block
    options: dict[str, Any]
    keep_columns: bool = False

    def __len__(self) -> int:
        return len(self.block)

    def read(self, features: Features) -> Rows:
        """See :class:`Chunk`."""
        rows = self.block.parse()
        every = range(len(rows.numbers))
        ids, places = [rows.id_of(row) for row in every], [rows.place_of(row) for row in every]
        read = Rows(ids, rows.texts, reasons_of(rows), None, places, rows.inputs if self.keep_columns else None)
        if not read.usable:
            return read
        graphs = to_graphs(
            replace(rows, ids=None),  # the id of a graph is then the number of its row
            self.block.path.stem,
            str(self.block.path),
            on_error="skip",
            features=self.options.get("features", "rdkit"),
            hydrogens=bool(self.options.get("hydrogens", False)),
            elements=None,
            keep=own_columns(features.sources),
        )
        return _arranged(features, replace(read, graphs=graphs))


@dataclass(frozen=True)
class FilesChunk:
    """Files of a folder of graphs."""

    folder: Path
    files: Sequence[Path]
    options: dict[str, Any]

    def __len__(self) -> int:
        return len(self.files)

    def read(self, features: Features) -> Rows:
        """See :class:`Chunk`."""
        ids = [path.relative_to(self.folder).as_posix() for path in self.files]
        problems: dict[int, str] = {}
        networks: dict[int, nx.Graph] = {}
        for index, path in enumerate(self.files):
            try:
                networks[index] = read_graph(path)
            except InputError as error:
                problems[index] = str(error)

        def convert(indices: list[int]) -> GraphSet:
            some, names = [networks[index] for index in indices], [ids[index] for index in indices]
            keep = own_columns(features.sources)
            return from_networkx(some, ids=names, name=self.folder.name, keep=keep, **self.options)

        def convertible(indices: list[int]) -> list[int]:
            """Those that can be converted; where some cannot, each half is tried on its own."""
            try:
                if indices:
                    convert(indices)
                return indices
            except InputError as error:
                if len(indices) == 1:
                    problems[indices[0]] = str(error)
                    return []
            half = len(indices) // 2
            return convertible(indices[:half]) + convertible(indices[half:])

        usable = convertible(list(networks))
        if not usable:
            return Rows(ids, None, problems, None)
        return _arranged(features, Rows(ids, None, problems, convert(usable)))


@dataclass(frozen=True)
class GraphSetChunk:
    """Graphs of a set in memory."""

    graphs: GraphSet

    def __len__(self) -> int:
        return len(self.graphs)

    def read(self, features: Features) -> Rows:
        """See :class:`Chunk`."""
        texts, ids = self.graphs.graph_texts.get("smiles"), list(self.graphs.ids)
        return _arranged(features, Rows(ids, texts, {}, self.graphs, [f"graph {name}" for name in ids]))


def _arranged(features: Features, rows: Rows) -> Rows:
    """The rows with their graphs in the columns of the model; a graph that does not fit becomes a problem."""
    assert rows.graphs is not None
    graphs, misfits = features.arrange_usable(rows.graphs)
    if not misfits:
        return replace(rows, graphs=graphs)
    usable = rows.usable
    problems = rows.problems | {usable[number]: sentence for number, sentence in misfits.items()}
    fitting = [number for number in range(len(graphs)) if number not in misfits]
    return replace(rows, problems=problems, graphs=graphs[fitting] if fitting else None)


def _smiles_chunk(smiles: list[str], start: int, options: dict[str, Any]) -> MoleculeChunk:
    part = smiles[start : start + CHUNK_ROWS]
    numbers = range(start, start + len(part))
    return MoleculeChunk(Block(Path("molecules"), "molecule", numbers, smiles=part), options)
