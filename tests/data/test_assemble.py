from typing import Any

import numpy as np
import pytest
import torch
from helpers.graph_strategies import assert_same, raw_graphs
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import assemble
from ssread.errors import InputError


@given(raw_graphs(), st.booleans(), st.sampled_from(["keep", "drop"]))
def test_edges_and_repairs_are_those_of_a_plain_loop(raw: dict[str, Any], undirected: bool, self_loops: str) -> None:
    graphs = assemble(**raw, undirected=undirected, self_loops=self_loops)
    expected: dict[tuple[int, int, int], tuple[float, ...]] = {}
    counted = {"self-loops dropped": 0, "duplicate edges removed": 0, "reverse edges added": 0}
    counted["of them with other edge features"] = 0
    has_features = "edge_attr" in raw
    for number, (graph, row, column) in enumerate(zip(raw["graph_of_edge"], *raw["edges"], strict=True)):
        features = tuple(raw["edge_attr"][number]) if has_features else ()
        if row == column and self_loops == "drop":
            counted["self-loops dropped"] += 1
        elif (graph, row, column) in expected:
            counted["duplicate edges removed"] += 1
            counted["of them with other edge features"] += features != expected[graph, row, column]
        else:
            expected[graph, row, column] = features
    if undirected:
        for (graph, row, column), features in list(expected.items()):
            if (graph, column, row) not in expected:
                expected[graph, column, row] = features
                counted["reverse edges added"] += 1
    graph_of_edge = torch.repeat_interleave(graphs.edge_counts)
    found = list(zip(graph_of_edge.tolist(), *graphs.edge_index.tolist(), strict=True))
    assert found == sorted(expected)
    if has_features:
        assert [tuple(row) for row in graphs.edge_attr.tolist()] == [expected[edge] for edge in found]
    assert graphs.undirected == all((graph, column, row) in expected for graph, row, column in expected)
    assert graphs.repairs == {what: count for what, count in counted.items() if count}


@given(raw_graphs())
def test_a_clean_set_needs_no_repair(raw: dict[str, Any]) -> None:
    once = assemble(**raw)
    clean = {"graph_of_edge": torch.repeat_interleave(once.edge_counts), "edges": once.edge_index}
    again = assemble(**raw | clean | ({"edge_attr": once.edge_attr} if "edge_attr" in raw else {}))
    assert again.repairs == {}
    assert_same(once, again)


def test_the_set_does_not_change_with_the_callers_array() -> None:
    x, column = np.ones((2, 1), dtype=np.float32), np.zeros(2)
    graphs = assemble(
        name="one", num_nodes=[2], x=x, graph_of_edge=[0], edges=[[0], [1]], node_columns={"position": column}
    )
    x[:], column[:] = 7, 7
    assert graphs.x.tolist() == [[1], [1]]
    assert graphs.node_columns["position"].tolist() == [0, 0]


GOOD: dict[str, Any] = {
    "name": "two",
    "num_nodes": [2, 1],
    "x": [[1.0], [2.0], [3.0]],
    "graph_of_edge": [0],
    "edges": [[0], [1]],
    "y": [0, 1],
}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"num_nodes": [], "x": np.empty((0, 1)), "y": None}, "two has no graphs"),
        ({"num_nodes": [2, -1]}, "graph 1 has -1 nodes"),
        ({"num_nodes": [2.5, 1]}, "num_nodes must be integers"),
        ({"x": [[1.0], [2.0]]}, r"node features have the shape \[2, 1\], but there are 3 nodes"),
        ({"x": [1.0, 2.0, 3.0]}, r"shape \[3\]"),
        ({"x": [[1.0], ["red"], [3.0]]}, "node features must be numbers"),
        ({"x": [[1.0], [2.0], [float("nan")]]}, "feature number 0 of node 0 in graph 1 is nan"),
        ({"x": [[1.0], [float("inf")], [3.0]]}, "feature number 0 of node 1 in graph 0 is inf"),
        ({"x": [[1.0], [float("nan")], [3.0]], "node_feature_names": ["mass"]}, "feature 'mass' of node 1 in graph 0"),
        ({"edges": [[0], [2]]}, "graph 0 has an edge from node 0 to node 2, but only 2 nodes"),
        ({"edges": [[-1], [0]]}, "an edge from node -1 to node 0"),
        ({"graph_of_edge": [2]}, "edge 0 belongs to graph 2, but the graphs are 0 to 1"),
        ({"graph_of_edge": [0, 0]}, r"edges have the shape \[2, 1\]"),
        ({"edges": [[0.5], [1.0]]}, "edges must be integers"),
        ({"edge_attr": [[1.0], [2.0]]}, r"edge features have the shape \[2, 1\], but there are 1 edges"),
        ({"edge_attr": [[float("nan")]]}, "of edge 0 in graph 0 is nan"),
        ({"y": [0]}, "1 labels for 2 graphs"),
        ({"y": [0, -1]}, "graph 1 has class index -1"),
        ({"y": [0, 5], "class_names": ["a", "b"]}, "graph 1 has class index 5, but there are 2 class names"),
        ({"node_feature_names": ["a", "b"]}, "2 node feature names for 1 features"),
        ({"ids": ["only one"]}, "column 'ids' has 1 rows, but one per graph is 2"),
        ({"node_columns": {"position": [0]}}, "column 'position' has 1 rows, but one per node is 3"),
        ({"graph_columns": {"smiles": ["C", "N"]}}, "column 'smiles' does not hold numbers only"),
        ({"graph_texts": {"smiles": ["C"]}}, "column 'smiles' has 1 rows, but one per graph is 2"),
        ({"self_loops": "ignore"}, "self_loops='ignore' is not an option: choose 'keep' or 'drop'"),
    ],
)
def test_input_that_cannot_be_repaired_is_named(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        assemble(**GOOD | change)


def test_the_source_is_named() -> None:
    with pytest.raises(InputError, match=r"^file\.csv: graph 0 has an edge"):
        assemble(**GOOD | {"edges": [[0], [2]], "source": "file.csv"})


def test_a_set_may_have_no_nodes_at_all() -> None:
    graphs = assemble(name="void", num_nodes=[0, 0], x=np.empty((0, 2)), graph_of_edge=[], edges=[])
    assert len(graphs) == 2
    assert graphs.statistics()["mean_nodes"] == 0
