"""Features of whole graphs: descriptors, fingerprints, own columns; saved, batched and selected with the graphs."""

import dataclasses

import networkx as nx
import pytest
import torch

from ssread import InputError
from ssread.data import GraphSet, from_networkx, from_smiles, planted
from ssread.data.graph_features import parse_sources, with_graph_features

pytest.importorskip("rdkit")
SMILES = ["CCO", "c1ccccc1", "CC(=O)O", "C"]


def test_descriptors_and_fingerprints_are_those_of_rdkit():
    from rdkit import Chem
    from rdkit.Chem import Descriptors
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    graphs, misfits = with_graph_features(from_smiles(SMILES), ["descriptors", "fingerprints"])
    assert not misfits
    molecule = Chem.MolFromSmiles("CC(=O)O")
    row = dict(zip(graphs.graph_feature_names, graphs.graph_attr[2].tolist(), strict=True))
    assert row["MolLogP"] == pytest.approx(Descriptors.MolLogP(molecule))
    assert row["TPSA"] == pytest.approx(Descriptors.TPSA(molecule))
    bits = GetMorganGenerator(radius=2, fpSize=2048).GetFingerprintAsNumPy(molecule)
    assert [row[f"morgan {number}"] for number in range(2048)] == bits.tolist()


def test_own_columns_are_numbers_and_empty_cells_are_not_known():
    graphs = dataclasses.replace(
        from_smiles(SMILES),
        graph_texts={"smiles": tuple(SMILES), "dose": ("1.5", "", "inf", "1e300")},
        graph_columns={"age": torch.tensor([3, 4, 5, 6])},
    )
    found, _ = with_graph_features(graphs, ["age", "dose"])
    assert found.graph_feature_names == ("age", "dose")
    assert found.graph_attr[:, 0].tolist() == [3, 4, 5, 6]
    assert found.graph_attr[0, 1] == 1.5
    assert found.graph_attr[1:, 1].isnan().all(), "empty, infinite, too large"


def test_a_text_where_a_number_is_needed_is_named():
    texts = {"smiles": tuple(SMILES), "dose": ("1", "2", "high", "4")}
    graphs = dataclasses.replace(from_smiles(SMILES), graph_texts=texts)
    _, misfits = with_graph_features(graphs, ["dose"])
    assert misfits == {2: "its 'dose' is 'high', not a number"}
    words = dataclasses.replace(graphs, graph_texts={"dose": ("low", "high", "high", "4")})
    with pytest.raises(InputError, match="not a number, and most others"):
        with_graph_features(words, ["dose"])


@pytest.mark.parametrize(
    ("sources", "sentence"),
    [
        ("", "names no features"),
        ("logP,,x", "names no features"),
        ("logP,logP", "named twice"),
    ],
)
def test_names_of_sources_that_cannot_be(sources, sentence):
    with pytest.raises(InputError, match=sentence):
        parse_sources(sources)


def test_what_is_not_there_is_named():
    with pytest.raises(InputError, match="no column 'dose' to take features from; its columns are 'smiles'"):
        with_graph_features(from_smiles(SMILES), ["dose"])
    with pytest.raises(InputError, match="descriptors can be computed of molecules only"):
        with_graph_features(planted(4), ["descriptors"])
    clash = dataclasses.replace(from_smiles(SMILES), graph_columns={"TPSA": torch.ones(4)})
    with pytest.raises(InputError, match="Two features of whole graphs are called 'TPSA'"):
        with_graph_features(clash, ["descriptors", "TPSA"])


def test_attributes_of_networks_are_kept_as_texts():
    networks = [nx.path_graph(3), nx.cycle_graph(4)]
    networks[0].graph["dose"] = 2
    assert from_networkx(networks, keep=["dose"]).graph_texts["dose"] == ("2", "")
    with pytest.raises(InputError, match="no graph has an attribute 'size'; their attributes are 'dose'"):
        from_networkx(networks, keep=["size"])


def test_features_stay_with_their_graphs(tmp_path):
    graphs = planted(10, seed=1)
    values = torch.arange(20.0).view(10, 2)
    values[3, 1] = torch.nan
    graphs = dataclasses.replace(graphs, graph_attr=values, graph_feature_names=("a", "b")).validate()
    for chosen in (slice(2, 6), [7, 3, 3], torch.arange(10) > 4):
        part = graphs[chosen]
        assert torch.equal(part.graph_attr.nan_to_num(-1), values[chosen].nan_to_num(-1))
    assert torch.equal(graphs.batch([5, 2]).graph_attr, values[[5, 2]])
    assert graphs[3].graph_attr.shape == (1, 2)
    ids = torch.tensor([[3, 9, -1], [0, -1, -1]])
    padded = graphs.padded_batch(ids, graphs.bounds(ids)).graph_attr
    assert padded.shape == (2, 4, 2)
    assert torch.equal(padded[0, 1], values[9])
    assert not padded[:, 2:].any()
    graphs.save(tmp_path / "graphs.safetensors")
    again = GraphSet.load(tmp_path / "graphs.safetensors")
    assert again.graph_feature_names == ("a", "b")
    assert torch.equal(again.graph_attr.nan_to_num(-1), values.nan_to_num(-1))
    assert "2 features of whole graphs" in repr(again)


@pytest.mark.parametrize(
    ("attr", "names", "sentence"),
    [
        (torch.ones(3, 2), (), "features of whole graphs are torch.float32 \\[3, 2\\]"),
        (torch.ones(4, 2), ("a",), "1 names for 2 features"),
        (torch.tensor([[1.0], [torch.inf], [0], [0]]), ("a",), "feature 'a' of graph 1 is infinite"),
    ],
)
def test_features_that_cannot_be(attr, names, sentence):
    with pytest.raises(InputError, match=sentence):
        dataclasses.replace(planted(4), graph_attr=attr, graph_feature_names=names).validate()
