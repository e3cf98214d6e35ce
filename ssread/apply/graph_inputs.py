"""Graphs from whatever people have: files and dataset names, SMILES, NetworkX graphs, PyG graphs, graph sets."""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import networkx as nx
from torch_geometric.data import Data

from ssread.data.graphset import GraphSet
from ssread.data.load import find_reader, load
from ssread.data.molecules import from_smiles
from ssread.data.networks import from_networkx
from ssread.data.pyg import from_pyg
from ssread.errors import InputError

__all__ = ["graphs_of", "options_taken"]


def graphs_of(data: Any, **options: Any) -> GraphSet:
    """A graph set from anything that holds graphs.

    Args:
        data: A graph set; a file, folder or dataset name for :func:`ssread.data.load`; or a list of SMILES, NetworkX
            graphs or PyG ``Data``.
        options: What the reader of that kind takes; none for a graph set.

    >>> graphs_of([nx.path_graph(3), nx.cycle_graph(4)]).node_counts.tolist()
    [3, 4]
    """
    if isinstance(data, str | os.PathLike):
        return load(data, **options)
    if isinstance(data, GraphSet):
        if options:
            raise InputError(f"A graph set is taken as it is: there is no option {next(iter(options))!r}.")
        return data
    reader, listed = _reader_of(data)
    unknown = [name for name in options if name not in options_taken(reader)]
    if unknown:
        raise InputError(f"There is no option {unknown[0]!r}: those here are {', '.join(options_taken(reader))}.")
    return reader(listed, **options)


def options_taken(source: Any) -> Mapping[str, inspect.Parameter]:
    """The options that go with a source (or a reader of it), by name."""
    if isinstance(source, GraphSet):
        return {}
    if isinstance(source, str | os.PathLike):
        source, path = find_reader(source)
        first = 0 if path is None else 1
    else:
        source, first = (source, 1) if callable(source) else (_reader_of(source)[0], 1)
    return dict(list(inspect.signature(source).parameters.items())[first:])


def _reader_of(data: Any) -> tuple[Callable[..., GraphSet], list[Any]]:
    if isinstance(data, nx.Graph | Data):
        data = [data]
    if not isinstance(data, Iterable):
        raise InputError(
            f"Graphs are given as a graph set, a file or a list of SMILES, NetworkX or PyG graphs, not {_kind(data)}."
        )
    listed = list(data)
    if not listed:
        raise InputError("There are no graphs: the list is empty.")
    kinds: tuple[tuple[Any, Callable[..., GraphSet]], ...] = (
        (str, from_smiles),
        (nx.Graph, from_networkx),
        (Data, from_pyg),
    )
    for kind, reader in kinds:
        if isinstance(listed[0], kind):
            strange = next((n for n, graph in enumerate(listed) if not isinstance(graph, kind)), None)
            if strange is not None:
                raise InputError(
                    f"Graph 0 is {_kind(listed[0])}, but graph {strange} is {_kind(listed[strange])}: give one kind."
                )
            return reader, listed
    raise InputError(f"Graph 0 is {_kind(listed[0])}; a SMILES text, a NetworkX graph or a PyG Data is needed.")


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}"
