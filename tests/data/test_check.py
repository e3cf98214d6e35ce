"""Every column of a graph set is checked, and the sentence names what is wrong."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from helpers.graph_strategies import graph_sets, small
from hypothesis import assume, given
from hypothesis import strategies as st

from ssread.data import GraphSet
from ssread.data.check import check, locate
from ssread.errors import InputError


@given(graph_sets())
def test_what_assemble_builds_is_accepted(graphs: GraphSet) -> None:
    check(graphs)


@given(graph_sets(), st.data())
def test_a_feature_that_is_not_finite_is_named_by_graph_and_node(graphs: GraphSet, data: st.DataObject) -> None:
    assume(len(graphs.x))
    row, value = data.draw(st.integers(0, len(graphs.x) - 1)), data.draw(st.sampled_from(["nan", "inf", "-inf"]))
    x = graphs.x.clone()
    x[row, -1] = float(value)
    graph = int((graphs.node_ptr <= row).sum()) - 1
    expected = f"of node {row - int(graphs.node_ptr[graph])} in graph {graph} is {value}; features must be finite"
    with pytest.raises(InputError, match=expected):
        check(replace(graphs, x=x))


@given(graph_sets(), st.data())
def test_an_edge_to_a_node_of_another_graph_is_named(graphs: GraphSet, data: st.DataObject) -> None:
    assume(graphs.edge_index.size(1))
    edge = data.draw(st.integers(0, graphs.edge_index.size(1) - 1))
    graph = int((graphs.edge_ptr <= edge).sum()) - 1
    edge_index = graphs.edge_index.clone()
    edge_index[1, edge] = graphs.node_counts[graph]
    with pytest.raises(
        InputError, match=f"graph {graph} has an edge from node .* but only {graphs.node_counts[graph]}"
    ):
        check(replace(graphs, edge_index=edge_index))


@given(graph_sets())
def test_edges_in_another_order_are_refused(graphs: GraphSet) -> None:
    assume(graphs.edge_counts.max() > 1)
    graph = int(graphs.edge_counts.argmax())
    first, last = int(graphs.edge_ptr[graph]), int(graphs.edge_ptr[graph + 1]) - 1
    order = torch.arange(graphs.edge_index.size(1))
    order[[first, last]] = order[[last, first]]
    with pytest.raises(InputError, match=f"edges of graph {graph} are not sorted"):
        check(replace(graphs, edge_index=graphs.edge_index[:, order]))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_a_row_is_located_by_counting(counts: list[int]) -> None:
    pointer = torch.tensor([0, *counts]).cumsum(0)
    expected = [(graph, row) for graph, count in enumerate(counts) for row in range(count)]
    assert [locate(pointer, row) for row in range(sum(counts))] == expected


def test_the_source_is_named_if_given() -> None:
    broken = replace(small(), edge_ptr=torch.tensor([0, 6]))
    with pytest.raises(InputError, match=r"^small: edge_ptr is for 1 graphs"):
        check(broken)
    with pytest.raises(InputError, match=r"^set\.safetensors: edge_ptr is for 1 graphs"):
        check(broken, "set.safetensors")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"x": torch.zeros(5, 2, dtype=torch.float64)}, "node features are torch.float64"),
        ({"x": torch.full((5, 2), float("nan"))}, "feature 'a' of node 0 in graph 0 is nan"),
        ({"x": torch.zeros(4, 2)}, "node_ptr does not increase from 0 to 4"),
        ({"node_ptr": torch.tensor([0, 3, 2, 5])}, "node_ptr does not increase"),
        ({"node_ptr": torch.tensor([0.0, 2, 2, 5])}, "node_ptr is torch.float32"),
        ({"edge_index": torch.zeros(3, 6, dtype=torch.int64)}, r"edge_index has the shape \[3, 6\]"),
        ({"edge_index": torch.zeros(2, 6)}, "edge_index is torch.float32"),
        ({"edge_index": torch.tensor([[1, 0, 0, 1, 1, 2], [0, 1, 1, 0, 2, 1]])}, "edges of graph 0 are not sorted"),
        ({"edge_index": torch.tensor([[0, 0, 0, 1, 1, 2], [1, 1, 1, 0, 2, 1]])}, "edges of graph 0 are not sorted"),
        ({"edge_index": torch.tensor([[0, 1, 0, 1, 1, 2], [1, 2, 1, 0, 2, 1]])}, "graph 0 has an edge from node 1 to"),
        ({"edge_ptr": torch.tensor([0, 6])}, "edge_ptr is for 1 graphs, node_ptr for 3"),
        ({"edge_attr": torch.zeros(5, 1)}, "5 rows of edge features for 6 edges"),
        ({"y": torch.tensor([0, 1])}, "labels are torch.int64"),
        ({"y": torch.tensor([0.0, 1, 1])}, "labels are torch.float32"),
        ({"node_columns": {"position": torch.zeros(4)}}, "column 'position' has 4 rows, but one per node is 5"),
        ({"graph_columns": {"weight": torch.zeros(4)}}, "column 'weight' has 4 rows, but one per graph is 3"),
        ({"ids": ("a",)}, "column 'ids' has 1 rows, but one per graph is 3"),
        ({"node_feature_names": ("a",)}, "1 node feature names for 2 features"),
        ({"class_names": ("no",)}, "graph 1 has class index 1, but there are 1 class names"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        check(replace(small(), **change))
