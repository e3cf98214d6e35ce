"""Writes datasets in TU text format."""

import zipfile
from pathlib import Path

from ssread.data import GraphSet

Files = dict[str, str]


def tu_files(graphs: GraphSet, node_labels: list[int] | None, edge_labels: list[int] | None) -> Files:
    """Returns the text files of a graph set, with nodes and edges in the order of its columns."""
    first = graphs.node_ptr[:-1].repeat_interleave(graphs.edge_counts)
    ends = (graphs.edge_index + first + 1).T.tolist()
    owners = [graph + 1 for graph, count in enumerate(graphs.node_counts.tolist()) for _ in range(count)]
    files = {"A": [f"{row}, {column}" for row, column in ends], "graph_indicator": owners}
    if graphs.y is not None:
        files["graph_labels"] = [int(label) * 2 - 1 for label in graphs.y]
    if node_labels is not None:
        files["node_labels"] = node_labels
    if edge_labels is not None:
        files["edge_labels"] = edge_labels
    return {kind: "".join(f"{line}\n" for line in lines) for kind, lines in files.items()}


def write_folder(files: Files, folder: Path, name: str = "SET") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for kind, content in files.items():
        (folder / f"{name}_{kind}.txt").write_text(content)
    return folder


def write_zip(files: Files, path: Path, name: str = "SET") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind, content in files.items():
            archive.writestr(f"{name}/{name}_{kind}.txt", content)
    return path


GOOD: Files = {
    "A": "1, 2\n2, 1\n3,4\n4,3\n",
    "graph_indicator": "1\n1\n2\n2\n",
    "graph_labels": "-1\n1\n",
    "node_labels": "5\n7\n7\n5\n",
    "edge_labels": "0\n0\n1\n1\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n",
}
