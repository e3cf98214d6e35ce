"""Predictions: a line for every row, the same whatever else is in the file."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from helpers.small_models import AROMATIC, SMILES, graphs, untrained, write_assay
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.apply import chunks, predict, streaming, trained_model
from ssread.data import from_networkx
from ssread.errors import InputError


@pytest.fixture(scope="module")
def molecule_model():
    pytest.importorskip("rdkit")
    from ssread.data import from_smiles

    return untrained(from_smiles(SMILES, AROMATIC), members=2)


@settings(max_examples=25)
@given(st.permutations(range(24)), st.integers(1, 24), st.sampled_from(["gcn", "gin", "sagpool"]))
def test_predictions_do_not_depend_on_batch_size_order_or_company(order, size, name):
    data = graphs(24)
    model = untrained(data, members=2, name=name)
    expected = model.probabilities(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained_model, "BATCH", size)
        found = model.probabilities(data[order])
        alone = model.probabilities(data[order[:1]])
    torch.testing.assert_close(found, expected[order], atol=1e-5, rtol=0)
    torch.testing.assert_close(alone[0], expected[order[0]], atol=1e-5, rtol=0)


def test_the_columns_are_what_they_say():
    data = graphs(20)
    model = untrained(data, members=3)
    table = predict(model, data, workers=1)
    every = torch.stack([member(data.batch(slice(None))).softmax(-1) for member in model.models]).double()
    mean = every.mean(0)
    assert table["id"].tolist() == [str(number) for number in range(20)]
    np.testing.assert_allclose(table[["p(house)", "p(cycle)"]].to_numpy(), mean, atol=1e-6)
    assert table["class"].tolist() == [data.class_names[c] for c in mean.argmax(1)]
    entropy = [-sum(p * np.log2(p) for p in row) for row in mean.tolist()]
    np.testing.assert_allclose(table["uncertainty"], entropy, atol=1e-5)
    spread = [np.std([float(m[row, mean[row].argmax()]) for m in every], ddof=1) for row in range(20)]
    np.testing.assert_allclose(table["spread"], spread, atol=1e-5)
    positions = model.models[0].run(data.batch(slice(None))).reading.positions
    for row in range(20):
        own = positions[data.node_ptr[row] : data.node_ptr[row + 1]]
        shares = [float((own == k).float().mean()) for k in range(3)]
        np.testing.assert_allclose(table.loc[row, [f"position {k}" for k in range(3)]].tolist(), shares, atol=1e-6)
    assert table["problem"].isna().all()


def test_a_global_readout_has_no_positions_and_one_model_no_spread():
    data = graphs(8)
    table = predict(untrained(data, readout="global"), data)
    assert list(table.columns) == ["id", "class", "p(house)", "p(cycle)", "uncertainty", "problem"]


def test_rows_that_cannot_be_read_say_so_and_the_others_stay_in_order(molecule_model, tmp_path):
    rows = ["id,text", "a,CCO", "b,xyz", "c,c1ccccc1", "d,", "e,CC,extra", "f,[U]"]
    (tmp_path / "new.csv").write_text("\n".join(rows) + "\n")
    written = predict(molecule_model, tmp_path / "new.csv", tmp_path / "out.csv", smiles="text", id="id")
    assert (written.rows, written.problems) == (6, 3)
    table = pd.read_csv(tmp_path / "out.csv")
    assert table["id"].tolist() == list("abcdef")
    assert table["smiles"].tolist()[:3] == ["CCO", "xyz", "c1ccccc1"]
    assert table["class"].isna().tolist() == [False, True, False, True, True, False]
    assert table["problem"].tolist()[1] == "RDKit cannot read it"
    assert "more than the header's 2 cells" in table["problem"].tolist()[4]
    alone = predict(molecule_model, ["CCO", "c1ccccc1", "[U]"])
    columns = [column for column in table.columns if column.startswith(("p(", "position", "unc", "spread"))]
    np.testing.assert_allclose(table.loc[[0, 2, 5], columns], alone[columns], atol=1e-5)


def test_an_element_that_training_never_saw_is_a_problem_of_its_row():
    pytest.importorskip("rdkit")
    from ssread.apply.features import Features
    from ssread.data import from_smiles

    train = from_smiles(["CCO", "CCN", "CCC", "CNC"], [0, 1, 0, 1], features="labels")
    model = untrained(train)
    model.features = Features.of(train, {"features": "labels"})
    table = predict(model, ["CC", "CCl", "CO"])
    assert table["class"].isna().tolist() == [False, True, False]
    assert table["problem"][1] == "graph 1 has the node feature 'Cl', which no graph of the training set had."
    assert predict(model, ["CCl"])["class"].isna().tolist() == [True]


@pytest.mark.parametrize("ending", ["csv", "tsv", "smi", "parquet", "sdf"])
def test_a_file_in_many_pieces_gives_what_one_piece_gives(molecule_model, tmp_path, monkeypatch, ending):
    path = tmp_path / f"new.{ending}"
    texts = [*SMILES[:10], "nonsense", *SMILES[10:20]]
    if ending == "parquet":
        pd.DataFrame({"smiles": texts}).to_parquet(path)
    elif ending == "sdf":
        from rdkit import Chem

        blocks = [
            Chem.MolToMolBlock(Chem.MolFromSmiles(text)) if text != "nonsense" else "\n\n\nbad\nM  END\n"
            for text in texts
        ]
        path.write_text("".join(f"{block}$$$$\n" for block in blocks))
    else:
        header = [] if ending == "smi" else ["smiles"]
        path.write_text("\n".join(header + texts) + "\n")
    whole = predict(molecule_model, path, workers=1)
    monkeypatch.setattr(chunks, "PIECE", 4)
    parts = predict(molecule_model, path, workers=1)
    assert len(whole) == 21
    assert whole["class"].isna().tolist() == [row == 10 for row in range(21)]
    pd.testing.assert_frame_equal(parts, whole, atol=1e-5)


@pytest.mark.slow
def test_worker_processes_give_the_same_file(molecule_model, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "FEW", 1)
    lines = [f"m{number},{SMILES[number % len(SMILES)]}" for number in range(2500)]
    lines[1234] = "m1234,nonsense"
    (tmp_path / "new.csv").write_text("\n".join(["name,smiles", *lines]) + "\n")
    told = []
    for workers in (1, 2):
        out = tmp_path / f"{workers}.csv"
        written = predict(molecule_model, tmp_path / "new.csv", out, workers=workers, id="name", progress=told.append)
        assert (written.rows, written.problems) == (2500, 1)
    one, two = (pd.read_csv(tmp_path / f"{workers}.csv") for workers in (1, 2))
    pd.testing.assert_frame_equal(one, two, atol=1e-6)
    assert one["id"].tolist() == [f"m{number}" for number in range(2500)]
    assert told == [1000, 2000, 2500] * 2


def test_a_folder_of_graphs_with_bad_files_among_them(tmp_path, monkeypatch):
    def ring(number: int, role: str) -> nx.Graph:
        graph = nx.cycle_graph(number)
        nx.set_node_attributes(graph, role, "role")
        return graph

    train = from_networkx([ring(4, "a"), ring(5, "b")] * 3, [0, 1] * 3, node_label="role")
    from ssread.apply.features import Features

    model = untrained(train)
    model.features = Features.of(train, {"node_label": "role"})
    folder = tmp_path / "new"
    folder.mkdir()
    for number in range(6):
        data = nx.node_link_data(ring(3 + number, "ab"[number % 2]), edges="links")
        (folder / f"{number}.json").write_text(json.dumps(data))
    (folder / "2.json").write_text("{broken")
    (folder / "3.json").write_text(json.dumps(nx.node_link_data(nx.cycle_graph(3), edges="links")))
    (folder / "4.json").write_text(json.dumps(nx.node_link_data(ring(3, "new"), edges="links")))
    table = predict(model, folder)
    assert table["id"].tolist() == [f"{number}.json" for number in range(6)]
    assert table["class"].isna().tolist() == [False, False, True, True, True, False]
    assert "cannot be read as" in table["problem"][2]
    assert "has no value for 'role'" in table["problem"][3]
    assert "'role=new', which no graph of the training set had" in table["problem"][4]


@pytest.mark.parametrize(
    ("options", "out", "sentence"),
    [
        ({"colour": 1}, "out.csv", "There is no option 'colour'"),
        ({"on_error": "skip"}, "out.csv", "There is no option 'on_error'"),
        ({"smiles": "other"}, "out.csv", "has no column 'other'"),
        ({"workers": 0}, "out.csv", "workers must be 1 or more"),
        ({}, "out.xlsx", "ends in .csv or .parquet"),
        ({}, "missing.csv/out.csv", "cannot be written"),
    ],
)
def test_wrong_options_get_a_sentence_and_leave_no_file(molecule_model, tmp_path, options, out, sentence):
    path = write_assay(tmp_path / "assay.csv")
    (tmp_path / "missing.csv").write_text("a file, not a folder")
    with pytest.raises(InputError, match=sentence):
        predict(molecule_model, path, tmp_path / out, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["assay.csv", "missing.csv"]
