"""A GraphSet from whatever people have: files, dataset names, SMILES, NetworkX graphs, PyG graphs."""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import networkx as nx
from torch_geometric.data import Data

from ssread.data.graph_features import own_columns, parse_sources, with_graph_features
from ssread.data.graphset import GraphSet
from ssread.data.load import find_reader, is_table, load
from ssread.data.molecule_rows import label_names
from ssread.data.molecules import from_smiles, from_table
from ssread.data.networks import from_networkx
from ssread.data.pyg import from_pyg
from ssread.data.skipped import SkippedRow, check_on_error, list_rows
from ssread.data.split_names import RANDOM, split_column
from ssread.errors import BadRowsError, InputError

__all__ = ["check_options", "graphs_of", "options_of", "read_usable"]


def graphs_of(data: Any, **options: Any) -> GraphSet:
    """Converts anything that holds graphs.

    Args:
        data: A ``GraphSet``; a file, folder, dataset name or pandas ``DataFrame`` for :func:`ssread.data.load`; or a
            list of SMILES, NetworkX graphs or PyG ``Data``.
        options: Options of the reader of that kind of data; a ``GraphSet`` takes none. ``graph_features`` of any data
            are the features of whole graphs to add (:func:`ssread.data.graph_features.with_graph_features`).

    >>> graphs_of([nx.path_graph(3), nx.cycle_graph(4)]).node_counts.tolist()
    [3, 4]
    """
    if options.get("graph_features") is not None:
        return _with_features(data, **options)
    options.pop("graph_features", None)
    if isinstance(data, str | os.PathLike) or is_table(data):
        return load(data, **options)
    if isinstance(data, GraphSet):
        check_options(options, ())
        return data
    reader, items = _reader_of(data)
    check_options(options, options_of(reader))
    return reader(items, **options)


def _with_features(data: Any, graph_features: str | Sequence[str], **options: Any) -> GraphSet:
    """Does as :func:`graphs_of`, and adds features of whole graphs; rows with texts for numbers cannot be used."""
    sources, takes = parse_sources(graph_features), options_of(data)
    columns = own_columns(sources)
    for name in columns:
        if "label" in takes and name in label_names(options.get("label", takes["label"].default) or ()):
            raise InputError(f"The column {name!r} is what is to be predicted; it cannot be a feature, too.")
    if columns and "keep" in takes:
        options["keep"] = [*dict.fromkeys([*options.get("keep", ()), *columns])]
    graphs, misfits = with_graph_features(graphs_of(data, **options), sources)
    if not misfits:
        return graphs
    texts = graphs.graph_texts.get("smiles", [""] * len(graphs))
    bad = [SkippedRow(row, f"graph {graphs.ids[row]}", texts[row], why) for row, why in sorted(misfits.items())]
    if options.get("on_error") != "skip":
        raise BadRowsError(f"{graphs.name}: {len(bad)} of {len(graphs)} rows cannot be used: {list_rows(bad)}.")
    usable = [row for row in range(len(graphs)) if row not in misfits]
    repairs = {**graphs.repairs, "graphs skipped (a feature is not a number)": len(bad)}
    return replace(graphs[usable], repairs=repairs, skipped=(*graphs.skipped, *bad))


def read_usable(data: Any, on_error: str, split: str = RANDOM, **options: Any) -> GraphSet:
    """Does as :func:`graphs_of`; passes ``on_error`` on where the source has rows that may be skipped.

    The column of a ``split`` such as ``groups:assay`` is kept where the source has further columns.
    """
    check_on_error(on_error)
    by_column = split_column(split)
    further: dict[str, Any] = {"on_error": on_error, "keep": [by_column[1]] if by_column else None}
    taken = options_of(data)
    given = {name: value for name, value in further.items() if value is not None and name in taken}
    return graphs_of(data, **{**options, **given})


def options_of(source: Any) -> Mapping[str, inspect.Parameter]:
    """The options of a source (or of a reader function), by name."""
    if isinstance(source, GraphSet):
        return {}
    if isinstance(source, str | os.PathLike):
        source, path = find_reader(source)
        first = 0 if path is None else 1
    else:
        source, first = (source, 1) if callable(source) else (_reader_of(source)[0], 1)
    return dict(list(inspect.signature(source).parameters.items())[first:])


def check_options(given: Iterable[str], allowed: Iterable[str]) -> None:
    """Raises an ``InputError`` for the first option that is not allowed."""
    allowed = list(allowed)
    for name in given:
        if name not in allowed:
            choices = f"the options here are {', '.join(allowed)}" if allowed else "there are none here"
            raise InputError(f"There is no option {name!r}: {choices}.")


def _reader_of(data: Any) -> tuple[Callable[..., GraphSet], Any]:
    """The function that reads this kind of graphs, and the graphs as a list (or the table of molecules)."""
    if is_table(data):
        return from_table, data
    if isinstance(data, nx.Graph | Data):
        data = [data]
    if not isinstance(data, Iterable):
        raise InputError(
            "Graphs must be a GraphSet, a file or a list of SMILES, NetworkX or PyG graphs, not of type "
            f"{_type_name(data)}."
        )
    items = list(data)
    if not items:
        raise InputError("There are no graphs: the list is empty.")
    readers: tuple[tuple[Any, Callable[..., GraphSet]], ...] = (
        (str, from_smiles),
        (nx.Graph, from_networkx),
        (Data, from_pyg),
    )
    for kind, reader in readers:
        if isinstance(items[0], kind):
            other = next((number for number, graph in enumerate(items) if not isinstance(graph, kind)), None)
            if other is not None:
                raise InputError(
                    f"All graphs must be of one type, but graph 0 is of type {_type_name(items[0])} and graph {other} "
                    f"of type {_type_name(items[other])}."
                )
            return reader, items
    raise InputError(f"Graph 0 is of type {_type_name(items[0])}: give SMILES, NetworkX graphs or PyG Data.")


def _type_name(value: Any) -> str:
    return type(value).__name__
