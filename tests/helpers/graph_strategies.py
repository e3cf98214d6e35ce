"""Random raw graphs with everything that assemble() repairs."""

from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from ssread.data import GraphSet, assemble


@st.composite
def raw_graphs(draw: st.DrawFn, labelled: bool | None = None, min_nodes: int = 0) -> dict[str, Any]:
    """Arguments of assemble(): empty graphs, duplicate and one-directional edges, self-loops."""
    num_nodes = draw(st.lists(st.integers(min_nodes, 5), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    can_have_edges = [graph for graph, count in enumerate(num_nodes) if count]
    num_edges = draw(st.integers(0, 30)) if can_have_edges else 0
    graph_of_edge = rng.choice(can_have_edges, num_edges) if num_edges else np.empty(0, dtype=np.int64)
    edges = rng.integers(0, np.array(num_nodes)[graph_of_edge], (2, num_edges)) if num_edges else np.empty((2, 0), int)
    raw: dict[str, Any] = {
        "name": "random",
        "num_nodes": num_nodes,
        "x": rng.integers(-2, 3, (sum(num_nodes), draw(st.integers(1, 3)))).astype(np.float32),
        "graph_of_edge": graph_of_edge,
        "edges": edges,
    }
    if draw(st.booleans()):
        raw["edge_attr"] = rng.integers(0, 3, (num_edges, 2)).astype(np.float32)
    if draw(st.booleans()) if labelled is None else labelled:
        raw["y"] = rng.integers(0, 3, len(num_nodes))
        raw["class_names"] = ("a", "b", "c")
    if draw(st.booleans()):
        raw["node_columns"] = {"position": rng.integers(0, 4, sum(num_nodes))}
        raw["graph_columns"] = {"weight": rng.random(len(num_nodes), dtype=np.float32)}
        raw["graph_texts"] = {"note": [f"graph {number}" for number in range(len(num_nodes))]}
    return raw


def graph_sets(**options: Any) -> st.SearchStrategy[GraphSet]:
    return raw_graphs(**options).map(lambda raw: assemble(**raw))


def assert_same(one: GraphSet, other: GraphSet) -> None:
    """Asserts that all columns are equal; repairs may differ."""
    for name in ("x", "node_ptr", "edge_index", "edge_ptr", "edge_attr", "y"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert ours.dtype == theirs.dtype, name
            assert torch.equal(ours, theirs), name
    for name in ("class_names", "node_feature_names", "edge_feature_names", "undirected", "graph_texts"):
        assert getattr(one, name) == getattr(other, name), name
    assert list(one.ids) == list(other.ids)
    for kind in ("node_columns", "graph_columns"):
        ours, theirs = getattr(one, kind), getattr(other, kind)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def small() -> GraphSet:
    return assemble(
        name="small",
        num_nodes=[2, 0, 3],
        x=[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.5, 2.5]],
        graph_of_edge=[0, 0, 2, 2, 2, 2],
        edges=[[0, 1, 0, 1, 1, 2], [1, 0, 1, 0, 2, 1]],
        edge_attr=[[float(number)] for number in range(6)],
        y=[0, 1, 1],
        class_names=["no", "yes"],
        node_feature_names=["a", "b"],
        node_columns={"position": [0, 1, 2, 3, 4]},
        graph_columns={"weight": [0.5, 1.5, 2.5]},
        graph_texts={"smiles": ["CC", "", "CCC"]},
    )
