import tempfile
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers.graph_strategies import assert_same, graph_sets, small
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import GraphSet, assemble
from ssread.errors import InputError


@given(graph_sets(), st.data())
def test_a_selection_holds_the_graphs_that_were_asked_for(graphs: GraphSet, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(graphs) - 1)))
    chosen = graphs[ids]
    assert len(chosen) == len(ids)
    for place, number in enumerate(ids):
        ours, theirs = chosen[place], graphs[number]
        assert torch.equal(ours.x, theirs.x)
        assert torch.equal(ours.edge_index, theirs.edge_index)
        assert chosen.ids[place] == graphs.ids[number]
        assert (
            chosen.graph_texts.get("note", [""] * len(ids))[place] == graphs.graph_texts.get("note", [""] * 9)[number]
        )
    if ids:
        chosen.validate()


@given(graph_sets(), st.slices(6))
def test_a_slice_equals_the_same_list(graphs: GraphSet, which: slice) -> None:
    numbers = list(range(len(graphs)))[which]
    assert_same(graphs[which], graphs[numbers])
    mask = torch.zeros(len(graphs), dtype=torch.bool)
    mask[numbers] = True
    assert_same(graphs[mask], graphs[sorted(numbers)])


def test_a_slice_shares_its_memory() -> None:
    graphs = small()
    part = graphs[1:]
    assert part.x.untyped_storage().data_ptr() == graphs.x.untyped_storage().data_ptr()
    assert part.edge_index.untyped_storage().data_ptr() == graphs.edge_index.untyped_storage().data_ptr()
    assert list(part.ids) == ["1", "2"]


@given(graph_sets())
def test_iteration_and_indexing_give_pyg_graphs(graphs: GraphSet) -> None:
    listed = graphs.to_pyg()
    assert len(listed) == len(graphs) == len(list(graphs))
    for number, graph in enumerate(listed):
        graph.validate(raise_on_error=True)
        assert graph.num_nodes == graphs.node_counts[number]
        for same in (number - len(graphs), np.int64(number), torch.tensor(number)):
            assert torch.equal(graph.x, graphs[same].x)
        assert (graph.y is None) == (graphs.y is None)


@given(graph_sets())
def test_what_is_saved_is_loaded(graphs: GraphSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.safetensors"
        graphs.save(path)
        again = GraphSet.load(path)
        assert_same(graphs, again)
        assert (again.name, again.repairs) == (graphs.name, graphs.repairs)
        part = graphs[len(graphs) // 2 :]
        part.save(path)  # ids are those of the whole set, not row numbers
        assert_same(part, GraphSet.load(path))


def test_nothing_can_be_assigned() -> None:
    with pytest.raises(FrozenInstanceError):
        small().x = torch.zeros(5, 2)  # type: ignore[misc]


def test_statistics_and_repr() -> None:
    graphs = small()
    assert graphs.statistics() == {
        "graphs": 3,
        "mean_nodes": 5 / 3,
        "mean_edges": 1.0,
        "max_nodes": 3,
        "classes": 2,
        "class_counts": {"no": 1, "yes": 2},
        "node_features": 2,
        "edge_features": 1,
    }
    assert repr(graphs) == (
        "GraphSet('small', 3 graphs, 1.67 nodes and 1.00 edges on average, 2 node features, 1 edge features, "
        "2 classes {'no': 1, 'yes': 2})"
    )


def test_the_two_directions_of_an_edge_count_once_and_so_does_a_self_loop() -> None:
    raw: dict[str, Any] = {"name": "loop", "num_nodes": [2], "x": [[1.0], [1.0]], "graph_of_edge": [0, 0]}
    both = assemble(**raw, edges=[[0, 0], [1, 0]])
    assert both.statistics()["mean_edges"] == 2
    assert assemble(**raw, edges=[[0, 0], [1, 0]], undirected=False).statistics()["mean_edges"] == 2
    assert assemble(**raw, edges=[[0, 1], [1, 0]], undirected=False).statistics()["mean_edges"] == 1


def test_to_moves_every_tensor(device: str) -> None:
    moved = small().to(device)
    tensors = [moved.x, moved.edge_index, moved.edge_attr, moved.y, moved.node_ptr, moved.edge_ptr]
    tensors += [*moved.node_columns.values(), *moved.graph_columns.values()]
    assert {tensor.device.type for tensor in tensors if tensor is not None} == {device}
    assert_same(moved.to("cpu"), small())


@pytest.mark.parametrize("number", [3, -4])
def test_a_number_without_a_graph(number: int) -> None:
    with pytest.raises(IndexError):
        small()[number]
    with pytest.raises(InputError, match=f"There is no graph {number}: small has 3 graphs"):
        small()[[number]]


def test_validate_returns_the_set_or_raises() -> None:
    graphs = small()
    assert graphs.validate() is graphs
    with pytest.raises(InputError, match="feature 'a' of node 0 in graph 0 is nan"):
        replace(graphs, x=torch.full((5, 2), float("nan"))).validate()
