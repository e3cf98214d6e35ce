"""NetworkX graphs keep all their edges and attributes."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.data.networks import from_networkx, read_networks
from ssread.errors import InputError

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


@st.composite
def networks(draw: st.DrawFn) -> nx.Graph:
    """Graphs of every class with texts as nodes, and with numbers and categories on nodes and edges."""
    names = draw(st.lists(st.text(min_size=1, max_size=3), unique=True, max_size=6))
    network = draw(st.sampled_from(KINDS))()
    network.add_nodes_from(
        (name, {"size": draw(st.integers(-5, 5)), "kind": draw(st.sampled_from("ab"))}) for name in names
    )
    for start, end in draw(
        st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=8) if names else st.just([])
    ):
        network.add_edge(start, end, weight=draw(st.integers(0, 3)))
    return network


@given(st.lists(networks(), min_size=1, max_size=4))
def test_edges_and_features_are_those_of_the_networks(graphs: list[nx.Graph]) -> None:
    made = from_networkx(graphs, node_label="kind", node_attributes=["size"], undirected=False).validate()
    for graph, data in zip(graphs, made, strict=True):
        names = list(graph)
        edges = {(names.index(start), names.index(end)) for start, end in graph.edges()}
        if not graph.is_directed():
            edges |= {(end, start) for start, end in edges}
        assert {tuple(edge) for edge in data.edge_index.T.tolist()} == edges
        kinds = [name.removeprefix("kind=") for name in made.node_feature_names[:-1]]
        for name, row in zip(names, data.x.tolist(), strict=True):
            assert row == [float(graph.nodes[name]["kind"] == kind) for kind in kinds] + [graph.nodes[name]["size"]]


@given(st.lists(networks(), min_size=1, max_size=4))
def test_edge_attributes_go_with_their_edges_in_both_directions(graphs: list[nx.Graph]) -> None:
    made = from_networkx(graphs, edge_attributes=["weight"])
    if made.edge_attr is None:
        assert not any(graph.edges for graph in graphs)
        return
    for graph, data in zip(graphs, made, strict=True):
        names = list(graph)
        weights = [({start, end}, data["weight"]) for start, end, data in graph.edges(data=True)]
        for (start, end), (weight,) in zip(data.edge_index.T.tolist(), data.edge_attr.tolist(), strict=True):
            assert ({names[start], names[end]}, weight) in weights


def test_without_attributes_every_node_is_a_constant_one() -> None:
    graphs = from_networkx([nx.cycle_graph(3), nx.empty_graph(0), nx.star_graph(3)], ["b", "a", "b"])
    assert graphs.x.tolist() == [[1]] * 7
    assert graphs.node_feature_names == ("constant",)
    assert graphs.edge_attr is None
    assert graphs.class_names == ("a", "b")
    assert graphs.y.tolist() == [1, 0, 1]
    assert graphs.repairs == {}


def test_categories_lists_and_numbers_get_columns_with_names() -> None:
    graph = nx.Graph()
    graph.add_node("x", kind="C", position=[0.5, 1], charge=np.float64(-1), big=True)
    graph.add_node("y", kind="N", position=(2, 3), charge=0, big=False)
    graph.add_edge("x", "y", bond=2)
    graphs = from_networkx([graph], node_label="kind", node_attributes=("position", "charge", "big"), edge_label="bond")
    assert graphs.node_feature_names == ("kind=C", "kind=N", "position[0]", "position[1]", "charge", "big")
    assert graphs.x.tolist() == [[1, 0, 0.5, 1, -1, 1], [0, 1, 2, 3, 0, 0]]
    assert graphs.edge_feature_names == ("bond=2",)


def test_repairs_are_counted() -> None:
    parallel = nx.MultiGraph([(0, 1), (0, 1), (1, 1)])
    assert from_networkx([parallel]).repairs == {"duplicate edges removed": 2}
    assert from_networkx([parallel], self_loops="drop").repairs["self-loops dropped"] == 1
    assert from_networkx([nx.DiGraph([(0, 1)])]).repairs == {"reverse edges added": 1}


def test_files_that_cannot_be_read_are_skipped_on_demand(tmp_path: Path) -> None:
    for number in range(3):
        graph = nx.cycle_graph(3 + number)
        graph.graph["kind"] = "ab"[number % 2]
        (tmp_path / f"{number}.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    (tmp_path / "1.json").write_text("{broken")
    (tmp_path / "labels.csv").write_text("file,label\n0.json,x\n1.json,y\n2.json,z\n")
    with pytest.raises(InputError, match=r"1\.json cannot be read as node-link JSON"):
        read_networks(tmp_path)
    for label, names in (("kind", ("a",)), (None, ("x", "z"))):
        graphs = read_networks(tmp_path, label, on_error="skip")
        assert (graphs.ids, graphs.class_names) == (("0.json", "2.json"), names)
        assert graphs.repairs == {"files skipped": 1}
        assert [(skipped.row, skipped.place) for skipped in graphs.skipped] == [(1, "1.json")]
    for number in range(3):
        (tmp_path / f"{number}.json").write_text("{broken")
    with pytest.raises(InputError, match="no file that can be used, of 3"):
        read_networks(tmp_path, on_error="skip")


def test_bad_input_gets_a_sentence() -> None:
    graph = nx.Graph()
    graph.add_node("u", size=1, place=[1, 2])
    graph.add_node("v", size="large", place=[1])
    graph.add_node("w", colour="red")
    for options, words in [
        ({"labels": [1]}, "2 graphs but 1 labels"),
        ({"labels": ["a", None]}, "no label for graph 1"),
        ({"ids": ["one"]}, "2 graphs but 1 ids"),
        ({"node_label": "kind"}, "node 0 of graph 0 has no value for 'kind'; its attributes are none"),
    ]:
        with pytest.raises(InputError, match=words):
            from_networkx([nx.path_graph(2), graph], **options)
    with pytest.raises(InputError, match="node 'w' of graph 0 has no value for 'size'; its attributes are 'colour'"):
        from_networkx([graph], node_attributes=["size"])
    graph.remove_node("w")
    with pytest.raises(InputError, match="node 'v' of graph 0 has 'size' = 'large'"):
        from_networkx([graph], node_attributes=["size"])
    with pytest.raises(InputError, match=r"node 'v' of graph 0 has 'place' = \[1\]; .*\(2\)"):
        from_networkx([graph], node_attributes="place")
    with pytest.raises(InputError, match="graph 0 is a str"):
        from_networkx(["graph"])
    with pytest.raises(InputError, match="no graphs"):
        from_networkx([])
    graph.nodes["v"]["size"] = float("inf")
    with pytest.raises(InputError, match="'size' of node 1 in graph 0 is inf"):
        from_networkx([graph], node_attributes=["size"])
