"""Folders of graph files (.graphml, node-link .json): one NetworkX graph per file, and the labels of the files."""

import io
import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

import networkx as nx
import pandas

from ssread.data.sources import MOLECULE_ENDINGS, ending_of
from ssread.errors import InputError

#: What to do with a folder of files of molecules.
HOW_TO_READ_MOLECULES = (
    " It has files of molecules: name one of them, or, to predict or embed all, an output without an ending, which "
    "will be a folder of parts."
)

LABELS_FILE = "labels.csv"


def find_files(folder: Path) -> list[Path]:
    """Returns the graph files of a folder and its sub-folders, in alphabetical order."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: a folder of .graphml or .json files is needed.")
    if folder.resolve() == Path(folder.resolve().anchor):
        raise InputError(f"{folder} is the whole disk: name the folder of the graphs.")
    found = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    files = sorted(path for path in found if path.suffix.lower() in _READERS and os.path.isfile(path))  # may be gone
    if not files:
        molecules = any(ending_of(path) in MOLECULE_ENDINGS for path in found)
        raise InputError(f"{folder} contains no .graphml or .json file.{HOW_TO_READ_MOLECULES if molecules else ''}")
    return files


def read_graph(path: Path) -> nx.Graph:
    """Reads the graph of a file; other content raises an ``InputError``."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    kind, reader = _READERS[path.suffix.lower()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph, nodes_listed = reader(content)
    except Exception as error:  # NetworkX and the parsers may raise anything on a broken file
        reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{path} cannot be read as {kind} ({reason:.200}).") from None
    unlisted = [node for node in graph if node not in nodes_listed]
    if unlisted:
        raise InputError(f"{path} has an edge to the node {unlisted[0]!r}, which is not among its nodes.")
    return graph


def read_labels(
    folder: Path, files: Sequence[Path], graphs: Sequence[nx.Graph | None], label: str | None
) -> list[Any] | None:
    """Returns the label of every file: the graph attribute ``label`` if named, else its entry in ``labels.csv``.

    Without that table the sub-folder is the label; without sub-folders there are no labels, and ``None`` is returned.
    """
    if label is not None:
        for path, graph in zip(files, graphs, strict=True):
            if graph is not None and label not in graph.graph:
                found = ", ".join(map(repr, graph.graph)) or "none"
                raise InputError(f"{path} has no graph attribute {label!r}; its attributes are {found}.")
        return [None if graph is None else graph.graph[label] for graph in graphs]
    names = [path.relative_to(folder).as_posix() for path in files]
    if (folder / LABELS_FILE).exists():
        return _read_label_table(folder / LABELS_FILE, names)
    if all("/" in name for name in names):
        return [name.split("/")[0] for name in names]
    if any("/" in name for name in names):
        outside = next(name for name in names if "/" not in name)
        raise InputError(
            f"{folder}: {outside} is not in a sub-folder, so it has no class: move it into one, or write a "
            f"{LABELS_FILE} with the columns file and label."
        )
    return None


def _read_label_table(path: Path, names: list[str]) -> list[str]:
    """Returns the labels of these files from a table with the columns file and label."""
    try:
        table = pandas.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a table: {error}") from None
    if not {"file", "label"} <= set(table.columns):
        found = ", ".join(repr(str(column)) for column in table.columns)
        raise InputError(f"{path} needs the columns 'file' and 'label'; its columns are {found}.")
    label_of = dict(zip(table["file"], table["label"], strict=True))
    if len(label_of) < len(table):
        raise InputError(f"{path} lists the file {table['file'][table['file'].duplicated()].iloc[0]!r} twice.")
    without = [name for name in names if name not in label_of]
    if without:
        raise InputError(f"{path} has no label for {', '.join(without)}.")
    absent = sorted(set(label_of) - set(names))
    if absent:
        raise InputError(f"{path} lists files that do not exist: {', '.join(absent)}.")
    return [label_of[name] for name in names]


def _read_graphml(content: bytes) -> tuple[nx.Graph, set[str]]:
    """Returns the graph and the ids of the nodes it lists; refuses files that declare a document type."""
    nodes: set[str] = set()
    open_tags: list[str] = []
    num_graphs = 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal num_graphs
        tag = tag.rsplit(" ", 1)[-1]
        num_graphs += tag == "graph" and len(open_tags) == 1
        if tag == "node":
            nodes.add(attributes["id"])
        open_tags.append(tag)

    def refuse(*_: Any) -> None:
        raise InputError("it declares a document type; such files could include other files and are not read")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda tag: open_tags.pop()
    parser.Parse(content, True)
    if num_graphs != 1:
        raise InputError(f"it contains {num_graphs} graphs; one per file is needed")
    graph = nx.read_graphml(io.BytesIO(content))
    # NetworkX does not apply the default values to nodes and edges without a value.
    for default, elements in (("node_default", graph.nodes), ("edge_default", graph.edges)):
        values = graph.graph.pop(default, {})
        for *_, data in elements(data=True):
            data.update({**values, **data})
    return graph, nodes


def _read_node_link(content: bytes) -> tuple[nx.Graph, set[Any]]:
    """Returns the graph and the nodes it lists."""
    data = json.loads(content)
    if not isinstance(data, dict) or "nodes" not in data or not {"links", "edges"} & set(data):
        raise InputError("an object with 'nodes' and 'links' or 'edges' is needed")
    if not isinstance(data.get("graph", {}), dict):
        raise InputError("'graph' must be an object with the graph's attributes")
    edges = data.get("links", data.get("edges"))
    # The name that NetworkX looks for depends on its version, so the edges are passed under both.
    nodes = set(nx.node_link_graph({**data, "links": [], "edges": []}))
    return nx.node_link_graph({**data, "links": edges, "edges": edges}), nodes


_READERS = {".graphml": ("GraphML", _read_graphml), ".json": ("node-link JSON", _read_node_link)}
