"""Folders of graph files: GraphML and node-link JSON, labels from three places, no included files."""

import json
import random
import tempfile
from pathlib import Path

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.data import load
from ssread.data.networks import from_networkx, read_networks
from ssread.errors import InputError

RING, CHAIN = nx.cycle_graph(4), nx.path_graph(3)
GRAPHML = '<?xml version="1.0"?>{}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'


def node_link(graph: nx.Graph, edges: str = "links") -> str:
    nodes = [{"id": node, **data} for node, data in graph.nodes(data=True)]
    links = [{"source": start, "target": end, **data} for start, end, data in graph.edges(data=True)]
    return json.dumps({"directed": False, "multigraph": False, "graph": graph.graph, "nodes": nodes, edges: links})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    nx.write_graphml(RING, tmp_path / "a.graphml")
    (tmp_path / "b.json").write_text(node_link(CHAIN))
    (tmp_path / "c.json").write_text(node_link(CHAIN, "edges"))
    return tmp_path


def test_both_formats_give_the_same_graphs_as_networkx(folder: Path) -> None:
    graphs = load(folder)
    expected = from_networkx([RING, CHAIN, CHAIN])
    assert torch.equal(graphs.edge_index, expected.edge_index)
    assert torch.equal(graphs.node_ptr, expected.node_ptr)
    assert graphs.ids == ("a.graphml", "b.json", "c.json")
    assert graphs.y is None


def test_labels_from_a_table(folder: Path) -> None:
    (folder / "labels.csv").write_text("file,label\nc.json,chain\na.graphml,ring\nb.json,chain\n")
    graphs = read_networks(folder)
    assert graphs.class_names == ("chain", "ring")
    assert graphs.y.tolist() == [1, 0, 0]


def test_labels_from_sub_folders(folder: Path) -> None:
    for kind, file in (("ring", "a.graphml"), ("chain", "b.json"), ("chain", "c.json")):
        (folder / kind).mkdir(exist_ok=True)
        (folder / file).rename(folder / kind / file)
    graphs = read_networks(folder)
    assert graphs.ids == ("chain/b.json", "chain/c.json", "ring/a.graphml")
    assert graphs.y.tolist() == [0, 0, 1]
    (folder / "stray.json").write_text(node_link(CHAIN))
    with pytest.raises(InputError, match=r"stray\.json is not in a sub-folder"):
        read_networks(folder)


def test_labels_from_a_graph_attribute_and_features_from_attributes(tmp_path: Path) -> None:
    for number, kind in enumerate(["x", "y"]):
        graph = nx.Graph(target=number)
        graph.add_node("n", kind=kind, weight=0.5 + number)
        graph.add_node("m", kind="z", weight=2.0)
        graph.add_edge("n", "m", length=number)
        nx.write_graphml(graph, tmp_path / f"{number}.graphml")
        (tmp_path / f"{number}.json").write_text(node_link(graph))
    options = {"node_label": "kind", "node_attributes": ["weight"], "edge_attributes": ["length"]}
    graphs = read_networks(tmp_path, label="target", **options)
    assert graphs.class_names == ("0", "1")
    assert graphs.y.tolist() == [0, 0, 1, 1]
    assert graphs.node_feature_names == ("kind=x", "kind=y", "kind=z", "weight")
    assert graphs.edge_attr.flatten().tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.raises(InputError, match=r"0\.graphml has no graph attribute 'class'; its attributes are 'target'"):
        read_networks(tmp_path, label="class")


def test_default_values_of_graphml_reach_the_nodes_and_edges_without_a_value(tmp_path: Path) -> None:
    content = GRAPHML.format(
        "",
        '<key id="d0" for="node" attr.name="size" attr.type="double"><default>2.5</default></key>'
        '<key id="d1" for="edge" attr.name="cost" attr.type="int"><default>7</default></key>'
        '<graph edgedefault="undirected"><node id="a"><data key="d0">1</data></node><node id="b"/>'
        '<edge source="a" target="b"/></graph>',
    )
    (tmp_path / "g.graphml").write_text(content)
    graphs = read_networks(tmp_path, node_attributes=["size"], edge_attributes=["cost"])
    assert graphs.x.flatten().tolist() == [1, 2.5]
    assert graphs.edge_attr.flatten().tolist() == [7, 7]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("file,label\na.graphml,1\n", r"no label for b\.json, c\.json"),
        ("file,label\na.graphml,1\nb.json,1\nc.json,0\nd.json,0\n", r"do not exist: d\.json"),
        ("file,label\na.graphml,1\na.graphml,0\n", r"'a\.graphml' twice"),
        ("name,class\na.graphml,1\n", "'file' and 'label'; its columns are 'name', 'class'"),
        ("file,label\na.graphml,1\nb.json,\nc.json,0\n", r"no label for graph b\.json"),
        ("", "cannot be read as a table"),
        ('file,label\n"a', "labels"),
    ],
)
def test_a_wrong_table_of_labels_gets_a_sentence(folder: Path, table: str, words: str) -> None:
    (folder / "labels.csv").write_text(table)
    with pytest.raises(InputError, match=words):
        read_networks(folder)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("g.graphml", "", "cannot be read as GraphML"),
        ("g.graphml", node_link(RING), "cannot be read as GraphML"),
        ("g.graphml", GRAPHML.format("", ""), "it contains 0 graphs"),
        ("g.graphml", GRAPHML.format("", '<graph edgedefault="undirected"/>' * 2), "it contains 2 graphs"),
        (
            "g.graphml",
            GRAPHML.format("", '<graph edgedefault="undirected"><node id="a"/><edge source="a" target="b"/></graph>'),
            "edge to the node 'b', which is not among its nodes",
        ),
        (
            "g.graphml",
            GRAPHML.format(
                '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>',
                '<graph edgedefault="undirected"><node id="&e;"/></graph>',
            ),
            "it declares a document type",
        ),
        ("g.json", "[1, 2]", "an object with 'nodes'"),
        ("g.json", "{", "cannot be read as node-link JSON"),
        ("g.json", "[" * 100_000, "cannot be read as node-link JSON"),
        ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "edge to the node 2"),
        ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "KeyError"),
        ("g.json", '{"nodes": 3, "links": []}', "cannot be read as node-link JSON"),
        ("g.json", '{"nodes": [], "links": [], "graph": [1]}', "'graph' must be an object"),
    ],
)
def test_a_file_of_another_format_gets_a_sentence(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        read_networks(tmp_path)
    assert str(tmp_path / name) in str(caught.value)


def test_a_folder_without_graphs_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"contains no \.graphml or \.json file\.$"):
        read_networks(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        read_networks(tmp_path / "none")
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "a.smi.gz").touch()
    with pytest.raises(InputError, match=r"or \.json file\. It has files of molecules: .* an output without an ending"):
        read_networks(tmp_path)


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.sampled_from(["g.graphml", "g.json", "labels.csv"]))
def test_a_damaged_folder_gives_graphs_or_a_sentence(seed: int, damaged: str) -> None:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph = nx.Graph(kind="ring")
        graph.add_edges_from(RING.edges, weight=1.5)
        nx.write_graphml(graph, folder / "g.graphml")
        (folder / "g.json").write_text(node_link(graph))
        (folder / "labels.csv").write_text("file,label\ng.graphml,1\ng.json,0\n")
        content = bytearray((folder / damaged).read_bytes())
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.choice([rng.randrange(256), ord("9"), ord('"'), ord("<"), 10])
        cut = rng.randint(1, len(content))
        (folder / damaged).write_bytes(bytes(rng.choice([content, content, content[:cut], content + content[:cut]])))
        try:
            sentence = f"{read_networks(folder, edge_attributes=['weight']).validate()}"
        except InputError as error:
            sentence = str(error)
        assert folder.name in sentence
