"""New graphs, piece by piece: what does not fit into memory is never there as a whole, and no bad row stops the rest.

A piece is some rows of a source as they stand there. It travels to a worker process and becomes graphs in that process.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import networkx as nx

from ssread.apply.features import Features
from ssread.apply.graph_inputs import options_taken
from ssread.data.classes import is_missing
from ssread.data.graphset import GraphSet
from ssread.data.load import MOLECULE_ENDINGS, find_reader
from ssread.data.molecule_files import read_blocks
from ssread.data.molecule_rows import Block, Columns
from ssread.data.molecules import problems_of, to_graphs
from ssread.data.network_files import find_files, read_graph
from ssread.data.networks import from_networkx, read_networks
from ssread.errors import InputError

__all__ = ["Chunk", "Rows", "chunks_of"]

#: Rows that are worked on at a time.
PIECE = 1000


@dataclass(frozen=True)
class Rows:
    """The rows of a piece, and the graphs of those that could be used.

    Attributes:
        ids: What every row is called.
        texts: The SMILES of every row; ``None`` where there are none.
        problems: What is wrong with a row, by its place in the piece.
        graphs: The graphs of the other rows in their order; ``None`` where there is none.
    """

    ids: Sequence[str]
    texts: Sequence[str] | None
    problems: dict[int, str]
    graphs: GraphSet | None

    @property
    def usable(self) -> list[int]:
        """The places of the rows that have a graph."""
        return [place for place in range(len(self.ids)) if place not in self.problems]


class Chunk(Protocol):
    """Some rows of a source; can be sent to another process."""

    def __len__(self) -> int: ...

    def read(self, features: Features) -> Rows:
        """The graphs of these rows, their features made as in training."""


def chunks_of(features: Features, data: Any, **options: Any) -> Iterator[Chunk]:
    """The graphs of a source, some at a time, in their order.

    Files of molecules and folders of graph files are read piece by piece; of everything else the whole set is.

    Args:
        features: What the model's graphs look like.
        data: As for :meth:`ssread.apply.TrainedModel.read`.
        options: Where things stand: ``smiles`` and ``id`` columns.
    """
    taken = [name for name in options_taken(data) if name not in ("on_error", "name")]
    kept = {name: value for name, value in features.options.items() if name in taken}
    for name in options:
        if name not in taken:
            there = f"there are {', '.join(taken)}" if taken else "there are none"
            raise InputError(f"There is no option {name!r} here: {there}.")
    if isinstance(data, str | os.PathLike):
        reader, path = find_reader(data)
        if path is not None and path.suffix.lower() in MOLECULE_ENDINGS and path.is_file():
            columns = Columns(
                smiles=options.get("smiles", "smiles"),
                label=None,
                id=options.get("id"),
                hydrogens=bool(kept.get("hydrogens", False)),
            )
            return (MoleculeChunk(block, kept) for block in read_blocks(path, columns, PIECE))
        if reader is read_networks and path is not None:
            files = find_files(path)
            kept = {name: value for name, value in kept.items() if name != "label"}
            return (FilesChunk(path, files[n : n + PIECE], kept) for n in range(0, len(files), PIECE))
    elif not isinstance(data, GraphSet):
        data = list(data)
        if data and isinstance(data[0], str):
            return (_listed(data, n, kept) for n in range(0, len(data), PIECE))
    graphs = features.load(data, **options)
    return (SetChunk(graphs[n : n + PIECE]) for n in range(0, len(graphs), PIECE))


@dataclass(frozen=True)
class MoleculeChunk:
    """Rows of a file of molecules, or of a list of SMILES."""

    block: Block
    options: dict[str, Any]

    def __len__(self) -> int:
        return len(self.block)

    def read(self, features: Features) -> Rows:
        """See :class:`Chunk`."""
        rows = self.block.parse()
        ids = [
            str(number) if rows.ids is None or is_missing(rows.ids[place]) else str(rows.ids[place])
            for place, number in enumerate(rows.numbers)
        ]
        place_of = {number: place for place, number in enumerate(rows.numbers)}
        problems = {place_of[n]: f"{what} it" for what, numbers in problems_of(rows).items() for n in numbers}
        if len(problems) == len(ids):
            return Rows(ids, rows.texts, problems, None)
        plain = replace(rows, ids=None)  # graphs are then called by the number of their row
        graphs = to_graphs(
            plain,
            self.block.path.stem,
            str(self.block.path),
            on_error="skip",
            features=self.options.get("features", "rdkit"),
            hydrogens=bool(self.options.get("hydrogens", False)),
            elements=None,
        )
        return _arranged(features, graphs, ids, rows.texts, problems)


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
        for place, path in enumerate(self.files):
            try:
                networks[place] = read_graph(path)
            except InputError as error:
                problems[place] = str(error)

        def together(places: list[int]) -> list[int]:
            """The places of those that can be read; where some cannot, each half is tried on its own."""
            try:
                if places:
                    self._graphs([networks[place] for place in places], [ids[place] for place in places])
                return places
            except InputError as error:
                if len(places) == 1:
                    problems[places[0]] = str(error)
                    return []
            half = len(places) // 2
            return together(places[:half]) + together(places[half:])

        usable = together(list(networks))
        if not usable:
            return Rows(ids, None, problems, None)
        graphs = self._graphs([networks[place] for place in usable], [ids[place] for place in usable])
        return _arranged(features, graphs, ids, None, problems)

    def _graphs(self, networks: list[nx.Graph], ids: list[str]) -> GraphSet:
        return from_networkx(networks, ids=ids, name=self.folder.name, **self.options)


@dataclass(frozen=True)
class SetChunk:
    """Graphs of a set that is in memory."""

    graphs: GraphSet

    def __len__(self) -> int:
        return len(self.graphs)

    def read(self, features: Features) -> Rows:
        """See :class:`Chunk`."""
        texts = self.graphs.graph_texts.get("smiles")
        return _arranged(features, self.graphs, list(self.graphs.ids), texts, {})


def _arranged(
    features: Features, graphs: GraphSet, ids: Sequence[str], texts: Sequence[str] | None, problems: dict[int, str]
) -> Rows:
    """The rows with the graphs that fit the model; the others become problems."""
    graphs, strange = features.arrange_usable(graphs)
    if strange:
        usable = [place for place in range(len(ids)) if place not in problems]
        problems = problems | {usable[number]: sentence for number, sentence in strange.items()}
        kept = [number for number in range(len(graphs)) if number not in strange]
        if not kept:
            return Rows(ids, texts, problems, None)
        graphs = graphs[kept]
    return Rows(ids, texts, problems, graphs)


def _listed(smiles: list[str], start: int, options: dict[str, Any]) -> MoleculeChunk:
    part = smiles[start : start + PIECE]
    numbers = range(start, start + len(part))
    return MoleculeChunk(Block(Path("molecules"), "molecule", numbers, smiles=part), options)
