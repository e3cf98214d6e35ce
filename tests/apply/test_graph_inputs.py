"""Anything that holds graphs is read; anything else gets a sentence."""

import networkx as nx
import pandas as pd
import pytest
import torch
from torch_geometric.data import Data

from ssread.apply.graph_inputs import graphs_of, options_of, read_usable
from ssread.data import planted
from ssread.errors import InputError


def test_every_kind_of_graphs_is_read():
    edges = torch.tensor([[0, 1], [1, 0]])
    same = planted(5)
    assert graphs_of(same) is same
    assert len(graphs_of("planted", num_graphs=7)) == 7
    assert graphs_of([nx.path_graph(3)]).node_counts.tolist() == [3]
    assert graphs_of(nx.path_graph(3)).node_counts.tolist() == [3]
    assert graphs_of([Data(x=torch.ones(2, 4), edge_index=edges)]).num_node_features == 4
    assert graphs_of(Data(x=torch.ones(2, 4), edge_index=edges)).num_node_features == 4


def test_a_data_frame_is_read():
    pytest.importorskip("rdkit")
    table = pd.DataFrame({"smiles": ["CCO", "C"], "label": [1, 0]})
    assert graphs_of(table).y.tolist() == [1, 0]
    assert "smiles" in options_of(table)
    assert graphs_of(table["smiles"]).node_counts.tolist() == [3, 1]


def test_bad_rows_are_skipped_where_a_source_has_rows():
    pytest.importorskip("rdkit")
    assert len(read_usable(["CCO", "xyz"], "skip")) == 1
    assert len(read_usable("planted", "raise", num_graphs=7)) == 7
    with pytest.raises(InputError, match="1 of 2 rows cannot be used"):
        read_usable(["CCO", "xyz"], "raise")
    with pytest.raises(InputError, match="on_error='stop' is not an option"):
        read_usable("planted", "stop")


def test_smiles_are_read():
    pytest.importorskip("rdkit")
    assert graphs_of(("CCO", "C")).node_counts.tolist() == [3, 1]
    assert graphs_of(["CCO"], features="labels").node_feature_names == ("C", "O")


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        ([], {}, "the list is empty"),
        (5, {}, "not of type int"),
        ([5], {}, "Graph 0 is of type int"),
        ([nx.path_graph(2), "CCO"], {}, "graph 0 is of type Graph and graph 1 of type str"),
        ([nx.path_graph(2)], {"colour": 1}, "There is no option 'colour': the options here are labels, node_label"),
        (planted(5), {"colour": 1}, "There is no option 'colour': there are none here"),
        ("nowhere.csv", {}, "There is no file or folder nowhere.csv"),
    ],
)
def test_everything_else_gets_a_sentence(data, options, sentence):
    with pytest.raises(InputError, match=sentence):
        graphs_of(data, **options)


def test_options_are_those_of_the_reader():
    assert "num_graphs" in options_of("planted")
    assert "node_label" in options_of([nx.path_graph(2)])
    assert list(options_of(planted(5))) == []


@pytest.mark.parametrize("kind", ["csv", "table"])
def test_the_column_of_a_split_is_read(tmp_path, kind):
    pytest.importorskip("rdkit")
    path = tmp_path / "assay.csv"
    path.write_text("smiles,label,series,other\nCCO,1,a,x\nxyz,0,b,x\nCCN,0,,x\nCCC,1,c,x\n")
    data = path if kind == "csv" else pd.read_csv(path)
    graphs = read_usable(data, "skip", "groups:series")
    assert graphs.graph_texts["series"] == ("a", "", "c")
    assert "other" not in graphs.graph_texts
    assert set(read_usable(data, "skip").graph_texts) == {"smiles"}
    with pytest.raises(InputError, match=r"has no column 'nonsense'; its columns are 'smiles', 'label', 'series'"):
        read_usable(data, "skip", "time:nonsense")
