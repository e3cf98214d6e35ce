"""Chunks: every row of a source once and in order, whatever the size of a chunk; a bad row stops no other."""

import json

import networkx as nx
import pandas as pd
import pytest
import torch
from helpers.small_models import AROMATIC, SMILES, graphs
from hypothesis import given
from hypothesis import strategies as st

from ssread.apply import chunks
from ssread.apply.features import Features
from ssread.data import from_networkx
from ssread.errors import InputError


def read_all(features, data, size=1000, **options):
    """The rows of all chunks of this size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_ROWS", size)
        return [chunk.read(features) for chunk in chunks.chunks_of(features, data, **options)]


@given(st.integers(1, 25))
def test_chunks_of_any_size_hold_the_same_graphs(size):
    data = graphs(24)
    rows = read_all(Features.of(data), data, size)
    assert [len(part.ids) for part in rows[:-1]] == [size] * (len(rows) - 1)
    assert [name for part in rows for name in part.ids] == list(data.ids)
    assert torch.equal(torch.cat([part.graphs.x for part in rows]), data.x)


@pytest.fixture(scope="module")
def molecules():
    pytest.importorskip("rdkit")
    from ssread.data import from_smiles

    return Features.of(from_smiles(SMILES, AROMATIC))


@pytest.mark.parametrize("ending", ["csv", "tsv", "smi", "parquet", "sdf"])
def test_a_file_of_molecules_is_the_same_in_one_chunk_and_in_many(molecules, tmp_path, ending):
    path = tmp_path / f"new.{ending}"
    texts = [*SMILES[:10], "nonsense", *SMILES[10:20]]
    if ending == "parquet":
        pd.DataFrame({"smiles": texts}).to_parquet(path)
    elif ending == "sdf":
        from rdkit import Chem

        bad = "\n\n\nbad\nM  END\n"
        blocks = [bad if text == "nonsense" else Chem.MolToMolBlock(Chem.MolFromSmiles(text)) for text in texts]
        path.write_text("".join(f"{block}$$$$\n" for block in blocks))
    else:
        header = [] if ending == "smi" else ["smiles"]
        path.write_text("\n".join(header + texts) + "\n")
    (whole,) = read_all(molecules, path)
    parts = read_all(molecules, path, 4)
    assert len(parts) == 6
    assert [name for part in parts for name in part.ids] == whole.ids
    assert [text for part in parts for text in part.texts] == whole.texts
    assert whole.usable == [row for row in range(21) if row != 10]
    assert [dict(part.problems) for part in parts] == [{}, {}, {2: "RDKit cannot read it"}, {}, {}, {}]
    assert torch.equal(torch.cat([part.graphs.x for part in parts]), whole.graphs.x)


def test_a_list_of_smiles_is_read_like_a_file(molecules):
    first, second = read_all(molecules, ["CCO", "nonsense", "CC"], 2)
    assert (first.ids, first.problems) == (["0", "1"], {1: "RDKit cannot read it"})
    assert (second.ids, second.texts) == (["2"], ["CC"])


def test_a_chunk_without_a_usable_row_has_no_graphs(molecules):
    (rows,) = read_all(molecules, ["nonsense", ""])
    assert rows.graphs is None
    assert rows.usable == []


def test_an_element_that_training_never_saw_is_a_problem_of_its_row():
    pytest.importorskip("rdkit")
    from ssread.data import from_smiles

    train = from_smiles(["CCO", "CCN", "CCC", "CNC"], [0, 1, 0, 1], features="labels")
    features = Features.of(train, {"features": "labels"})
    (rows,) = read_all(features, ["CC", "CCl", "CO"])
    assert rows.problems == {1: "graph 1 has the node feature 'Cl', which no graph of the training set had."}
    assert rows.graphs.node_counts.tolist() == [2, 2]
    assert read_all(features, ["CCl"])[0].graphs is None


def test_a_folder_of_graphs_with_bad_files_among_them(tmp_path):
    def ring(number: int, role: str) -> nx.Graph:
        graph = nx.cycle_graph(number)
        nx.set_node_attributes(graph, role, "role")
        return graph

    train = from_networkx([ring(4, "a"), ring(5, "b")] * 3, [0, 1] * 3, node_label="role")
    features = Features.of(train, {"node_label": "role"})
    for number in range(6):
        data = nx.node_link_data(ring(3 + number, "ab"[number % 2]), edges="links")
        (tmp_path / f"{number}.json").write_text(json.dumps(data))
    (tmp_path / "2.json").write_text("{broken")
    (tmp_path / "3.json").write_text(json.dumps(nx.node_link_data(nx.cycle_graph(3), edges="links")))
    (tmp_path / "4.json").write_text(json.dumps(nx.node_link_data(ring(3, "new"), edges="links")))
    (rows,) = read_all(features, tmp_path)
    assert rows.ids == [f"{number}.json" for number in range(6)]
    assert rows.usable == [0, 1, 5]
    assert rows.graphs.node_counts.tolist() == [3, 4, 8]
    assert "cannot be read as" in rows.problems[2]
    assert "has no value for 'role'" in rows.problems[3]
    assert "'role=new', which no graph of the training set had" in rows.problems[4]
    apart = read_all(features, tmp_path, 2)
    assert [name for part in apart for name in part.ids] == rows.ids
    assert [len(part.usable) for part in apart] == [2, 0, 1]


@pytest.mark.parametrize("options", [{"colour": 1}, {"on_error": "skip"}])
def test_other_options_get_a_sentence(molecules, tmp_path, options):
    (tmp_path / "new.csv").write_text("smiles\nCC\n")
    with pytest.raises(InputError, match=f"There is no option '{next(iter(options))}': the options here are smiles"):
        chunks.chunks_of(molecules, tmp_path / "new.csv", **options)
