import contextlib
import shutil
from pathlib import Path
from random import Random

import pytest
import torch
from helpers.graph_strategies import assert_same, graph_sets
from helpers.tu_files import GOOD, Files, tu_files, write_folder, write_zip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_geometric.datasets import TUDataset

from ssread.data import GraphSet
from ssread.data.tu import one_hot_degree, read_tu
from ssread.errors import InputError


@given(graphs=graph_sets(labelled=True, min_nodes=1), data=st.data())
def test_what_is_written_is_read(
    graphs: GraphSet, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    labels = data.draw(st.lists(st.integers(-3, 9), min_size=len(graphs.x), max_size=len(graphs.x)))
    num_edges = graphs.edge_index.size(1)
    edge_labels = data.draw(st.lists(st.integers(0, 3), min_size=num_edges, max_size=num_edges))
    files = tu_files(graphs, labels, edge_labels)
    folder = tmp_path_factory.mktemp("tu")
    read = read_tu(write_folder(files, folder / "SET"))
    assert_same(read, read_tu(write_zip(files, folder / "SET.zip")))
    assert torch.equal(read.node_ptr, graphs.node_ptr)
    assert torch.equal(read.edge_index, graphs.edge_index)
    assert read.repairs == {}
    assert [read.class_names[label] for label in read.y] == [str(int(label) * 2 - 1) for label in graphs.y]
    assert [int(read.node_feature_names[column]) for column in read.x.argmax(1)] == labels
    if num_edges:
        assert [int(read.edge_feature_names[column]) for column in read.edge_attr.argmax(1)] == edge_labels
        assert (read.edge_attr.sum(1) == 1).all()
    assert (read.x.sum(1) == 1).all()


@given(graphs=graph_sets(labelled=True, min_nodes=1), random=st.randoms(use_true_random=False))
def test_nodes_may_be_listed_in_any_order(
    graphs: GraphSet, random: Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    files = tu_files(graphs, list(range(len(graphs.x))), None)
    order = list(range(len(graphs.x)))
    random.shuffle(order)
    place = {node + 1: new + 1 for new, node in enumerate(order)}
    shuffled = dict(files)
    for kind in ("graph_indicator", "node_labels"):
        lines = files[kind].splitlines()
        shuffled[kind] = "\n".join(lines[node] for node in order)
    edges = [tuple(map(int, line.split(","))) for line in files["A"].splitlines()]
    shuffled["A"] = "\n".join(f"{place[row]}, {place[column]}" for row, column in edges)
    folder = tmp_path_factory.mktemp("tu")
    one, other = read_tu(write_folder(files, folder / "a")), read_tu(write_folder(shuffled, folder / "b"))
    assert torch.equal(one.node_ptr, other.node_ptr)

    def named_edges(read: GraphSet) -> set[tuple[int, int]]:  # every node has a label of its own
        batch = read.batch(slice(None))
        return set(zip(*read.x.argmax(1)[batch.edge_index].tolist(), strict=True))

    assert named_edges(one) == named_edges(other)


def test_options(tmp_path: Path) -> None:
    folder = write_folder(GOOD, tmp_path)
    graphs = read_tu(folder)
    assert graphs.name == "SET"
    assert graphs.node_feature_names == ("5", "7")
    assert graphs.edge_feature_names == ("0", "1")
    with_attributes = read_tu(folder, attributes=True)
    assert with_attributes.node_feature_names == ("5", "7", "attribute 0", "attribute 1")
    assert with_attributes.x.tolist()[1] == [0, 1, 1.5, 2]
    assert read_tu(folder, degree=True).node_feature_names == ("5", "7")
    (folder / "SET_node_labels.txt").unlink()
    assert read_tu(folder).x.tolist() == [[1]] * 4
    assert read_tu(folder).node_feature_names == ("constant",)
    assert read_tu(folder, degree=True).node_feature_names == ("degree 1",)
    assert read_tu(folder, degree=True).name == "SET-degree"
    assert read_tu(folder, attributes=True, degree=True).num_node_features == 2
    (folder / "SET_A.txt").write_text("1,2\n3,3\n")
    (folder / "SET_edge_labels.txt").unlink()
    assert read_tu(folder).repairs == {"reverse edges added": 1}
    assert read_tu(folder, undirected=False).repairs == {}
    assert read_tu(folder, undirected=False, self_loops="drop").repairs == {"self-loops dropped": 1}
    assert read_tu(folder, degree=True).x.tolist() == [[0, 1], [0, 1], [0, 1], [1, 0]]


def test_several_label_columns_and_missing_graph_labels(tmp_path: Path) -> None:
    files = GOOD | {"node_labels": "0, 3\n1, 3\n1, 4\n0, 4\n"}
    del files["graph_labels"]
    graphs = read_tu(write_folder(files, tmp_path))
    assert graphs.node_feature_names == ("0: 0", "0: 1", "1: 3", "1: 4")
    assert graphs.x.tolist()[1] == [0, 1, 1, 0]
    assert graphs.y is None


def test_a_number_of_graphs_larger_than_that_of_nodes(tmp_path: Path) -> None:
    files = {"A": "1, 2\n", "graph_indicator": "1\n1\n1000000000000000\n"}
    with pytest.raises(InputError, match="contains graph 1000000000000000, but only 3 nodes"):
        read_tu(write_folder(files, tmp_path))


def test_a_graph_without_nodes_and_a_set_without_edges(tmp_path: Path) -> None:
    files = {"A": "", "graph_indicator": "1\n1\n3\n", "graph_labels": "0\n1\n0\n1\n"}
    graphs = read_tu(write_folder(files, tmp_path))
    assert graphs.node_counts.tolist() == [2, 0, 1, 0]
    assert graphs.edge_index.shape == (2, 0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"graph_indicator": ""}, r"SET_graph_indicator.txt in .* is empty: the dataset has no nodes"),
        ({"graph_indicator": "0\n1\n1\n1\n"}, "SET_graph_indicator.txt in .*, line 1: graph 0; the first is graph 1"),
        ({"graph_indicator": "1\none\n2\n2\n"}, "SET_graph_indicator.txt in .*, line 2 is 'one', not 1 integers"),
        ({"graph_indicator": "1\n1\n2\n9\n"}, "SET_graph_labels.txt in .* has 2 lines, but .* contains graph 9"),
        ({"A": "1,2\n2,9\n"}, "SET_A.txt in .*, line 2: an edge between nodes 2 and 9, but the nodes are 1 to 4"),
        ({"A": "0,2\n"}, "line 1: an edge between nodes 0 and 2"),
        ({"A": "1,2\n2,3\n"}, "line 2: an edge from graph 1 to graph 2; edges must stay within a graph"),
        ({"A": "1\n2\n"}, "SET_A.txt in .* has 1 columns, not 2"),
        ({"A": "1,2\n2,1,1\n"}, "SET_A.txt in .*, line 2 is '2,1,1', not 2 integers"),
        ({"A": "1,2\n2\n"}, "SET_A.txt in .*, line 2 is '2', not 2 integers"),
        ({"A": "1,99999999999999999999\n"}, "SET_A.txt in .*, line 1 is "),
        ({"graph_labels": "1\n"}, "SET_graph_labels.txt in .* has 1 lines, but"),
        ({"graph_labels": "1,2\n1,2\n"}, "has 2 columns: one class is needed"),
        ({"graph_labels": "1\nnan\n"}, "SET_graph_labels.txt in .*, line 2: nan is not a class"),
        ({"node_labels": "1\n1\n1\ninf\n"}, "SET_node_labels.txt in .*, line 4 is 'inf', not 1 integers"),
        ({"node_labels": "1\n1\n1\n"}, "SET_node_labels.txt in .* has 3 lines, but 4 are needed"),
        ({"node_labels": "1\n1\n1\n0.5\n"}, "SET_node_labels.txt in .*, line 4 is '0.5', not 1 integers"),
        ({"edge_labels": "1\n1\n1\n1\n1\n"}, "SET_edge_labels.txt in .* has 5 lines, but 4 are needed"),
        ({"node_attributes": "1\n1\n1\nnan\n"}, "feature 'attribute 0' of node 1 in graph 1 is nan"),
        ({"node_attributes": "1\n1\nred\n2\n"}, "SET_node_attributes.txt in .*, line 3 is 'red', not 1 numbers"),
        ({"node_attributes": "1\n1\n"}, "SET_node_attributes.txt in .* has 2 lines, but 4 are needed"),
    ],
)
def test_bad_files_are_named(change: Files, sentence: str, tmp_path: Path) -> None:
    write_folder(GOOD | change, tmp_path)
    with pytest.raises(InputError, match=sentence):
        read_tu(tmp_path, attributes=True)


LINES = st.text(alphabet="0123456789,.-+eE \t\r\n\"'#naif\0é;", max_size=30)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(change=st.dictionaries(st.sampled_from(sorted(GOOD)), LINES | st.binary(max_size=30), max_size=3))
def test_any_text_gives_a_set_or_a_sentence(change: dict[str, str | bytes], tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "set", ignore_errors=True)
    folder = write_folder(GOOD, tmp_path / "set")
    for kind, content in change.items():
        (folder / f"SET_{kind}.txt").write_bytes(content if isinstance(content, bytes) else content.encode())
    with contextlib.suppress(InputError):
        read_tu(folder, attributes=True).validate()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_to_a_zip_gives_a_set_or_a_sentence(data: st.DataObject, tmp_path: Path) -> None:
    path = write_zip(GOOD, tmp_path / "SET.zip")
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    with contextlib.suppress(InputError):
        read_tu(path).validate()


def test_mutag_has_chemical_names(mutag: GraphSet) -> None:
    assert mutag.node_feature_names == ("C", "N", "O", "F", "I", "Cl", "Br")
    assert mutag.edge_feature_names == ("aromatic", "single", "double", "triple")
    assert mutag.statistics()["class_counts"] == {"-1": 63, "1": 125}


@pytest.mark.parametrize("name", ["MUTAG", "PROTEINS", "IMDB-MULTI"])
def test_the_same_graphs_as_pygs_reader(
    name: str, mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TUDataset, "url", mirror.resolve().as_uri())
    theirs = TUDataset(str(tmp_path), name, use_node_attr=True)
    ours = read_tu(mirror / f"{name}.zip", attributes=True)
    assert len(ours) == len(theirs)
    for number in range(0, len(ours), 7):
        one, other = ours[number], theirs[number]
        assert torch.equal(one.edge_index, other.edge_index)
        assert one.y == other.y
        if other.x is not None:  # PyG puts attributes first, and constants nowhere
            attributes = theirs.num_node_attributes
            assert torch.equal(one.x, torch.cat([other.x[:, attributes:], other.x[:, :attributes]], dim=1))
        if other.edge_attr is not None:
            assert torch.equal(one.edge_attr, other.edge_attr)


def test_degree_is_the_number_of_neighbours(mutag: GraphSet) -> None:
    graphs = one_hot_degree(mutag)
    batch = mutag.batch(slice(None))
    degree = torch.bincount(batch.edge_index[0], minlength=len(graphs.x))
    names = [f"degree {number}" for number in degree.tolist()]
    assert [graphs.node_feature_names[column] for column in graphs.x.argmax(1)] == names
