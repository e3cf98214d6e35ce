from typing import Any

import pytest
import torch
from helpers.graph_strategies import graph_sets
from hypothesis import given
from torch_geometric.data import Data

from ssread.data import GraphSet, from_pyg
from ssread.errors import InputError


@given(graph_sets())
def test_a_round_trip_keeps_everything(graphs: GraphSet) -> None:
    again = from_pyg(graphs.to_pyg())
    for name in ("x", "node_ptr", "edge_index", "edge_ptr", "edge_attr"):
        ours, theirs = getattr(again, name), getattr(graphs, name)
        assert (ours is None and theirs is None) or torch.equal(ours, theirs)
    if graphs.y is not None:
        assert [again.class_names[label] for label in again.y] == [str(int(label)) for label in graphs.y]
        named = from_pyg(graphs.to_pyg(), class_names=graphs.class_names)
        assert torch.equal(named.y, graphs.y)
    assert again.undirected == graphs.undirected
    assert again.repairs == {}


def test_a_dataset_with_a_name(mutag: GraphSet) -> None:
    class Named(list[Data]):
        name = "mine"

    graphs = from_pyg(Named(mutag.to_pyg()))
    assert graphs.name == "mine"
    assert from_pyg(iter(mutag.to_pyg()), name="yours").name == "yours"
    assert graphs.statistics()["mean_edges"] == mutag.statistics()["mean_edges"]


def test_directed_graphs_stay_directed_by_default() -> None:
    graph = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
    assert not from_pyg([graph]).undirected
    assert from_pyg([graph], undirected=True).edge_index.tolist() == [[0, 1], [1, 0]]


def test_graphs_without_features_or_edges() -> None:
    graphs = from_pyg([Data(num_nodes=2), Data(num_nodes=1, edge_index=torch.tensor([[0], [0]]))])
    assert graphs.x.tolist() == [[1]] * 3
    assert graphs.node_feature_names == ("constant",)
    assert graphs.edge_counts.tolist() == [0, 1]
    assert graphs.y is None


def test_flat_edge_weights_and_class_values() -> None:
    edge_index = torch.tensor([[0, 1], [1, 0]])
    parts: dict[str, Any] = {"x": torch.ones(2), "edge_index": edge_index, "edge_attr": torch.tensor([0.5, 0.7])}
    graphs = from_pyg([Data(**parts, y=torch.tensor([7.0])), Data(**parts, y=3)])
    assert graphs.x.shape == (4, 1)
    assert graphs.edge_attr.shape == (4, 1)
    assert graphs.class_names == ("3", "7")
    assert graphs.y.tolist() == [1, 0]


PAIR = torch.tensor([[0], [1]])


@pytest.mark.parametrize(
    ("graphs", "sentence"),
    [
        ([], "graphs has no graphs"),
        ([torch.ones(2)], "graph 0 is a Tensor, not a PyG Data"),
        ([Data(x=torch.ones(2, 1)), Data(num_nodes=2)], "graph 1 has no 'x', but others do"),
        ([Data(x=torch.ones(2, 1)), Data(x=torch.ones(2, 3))], r"x of graph 1 has the shape \[2, 3\]"),
        ([Data(x=torch.ones(2, 1), y=torch.tensor([float("inf")]))], "y of graph 0 is .*a class or number is needed"),
        ([Data(x=torch.ones(2, 1), y=torch.tensor([float("nan")]))], "y of graph 0 is .*a class or number"),
        ([Data(x=torch.ones(1, 1), edge_index=PAIR)], "graph 0 has an edge from node 0 to node 1, but only 1 nodes"),
        ([Data(x=torch.ones(2, 1), edge_index=PAIR.flatten())], r"edge_index of graph 0 is \[2\]"),
        ([Data(x=torch.full((1, 1), float("nan")))], "feature number 0 of node 0 in graph 0 is nan"),
    ],
)
def test_what_is_wrong_is_named(graphs: list[Data], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        from_pyg(graphs)
