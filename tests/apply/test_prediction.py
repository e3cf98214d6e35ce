"""Predictions: a row for every row, the same whatever else is in the file."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.small_models import AROMATIC, SMILES, for_task, graphs, untrained, write_assay
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.apply import chunks, predict, streaming, trained_model
from ssread.apply.calibration import Calibration
from ssread.apply.reference import Reference
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
    expected = model.predictions(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained_model, "BATCH", size)
        found = model.predictions(data[order])
        alone = model.predictions(data[order[:1]])
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
    assert list(table.columns) == ["id", "class", "p(house)", "p(cycle)", "uncertainty", "outside", "problem"]


def complete(data, members: int = 1, **arguments: object):
    """A model with a calibration and a reference."""
    model = untrained(data, members, **arguments)
    model.calibration = Calibration.fit(data.task, data.y, model.predictions(data))
    model.reference = Reference.of(model, data)
    return model


def test_labels_have_a_value_a_probability_and_a_set_each():
    data = for_task("multilabel")
    model = complete(data, members=2)
    table = predict(model, data, coverage=0.7)
    own = [column.format(name) for name in ("first", "second") for column in ("{}", "p({})", "spread({})", "set({})")]
    assert list(table.columns) == ["id", *own, "distance", *(f"position {k}" for k in range(3)), "outside", "problem"]
    probabilities = model.predictions(data)
    assert table["first"].tolist() == (probabilities[:, 0] > 0.5).int().tolist()
    np.testing.assert_allclose(table["p(second)"], probabilities[:, 1], atol=1e-6)
    every = torch.stack([member(data.batch(slice(None))).sigmoid() for member in model.models])
    np.testing.assert_allclose(table["spread(second)"], every.std(dim=0)[:, 1], atol=1e-5)
    held = ~data.y[:, 1].isnan().numpy()
    right = [str(int(true)) in text for true, text in zip(data.y[held, 1], table["set(second)"][held], strict=True)]
    assert np.mean(right) >= 0.7
    assert set(table["set(second)"]) <= {"", "0", "1", "0; 1"}


def test_numbers_have_a_value_and_an_interval_each():
    data = for_task("regression")
    model = complete(data, readout="global")
    table = predict(model, data, coverage=0.7)
    own = [column.format(name) for name in ("first", "second") for column in ("{}", "low({})", "high({})")]
    assert list(table.columns) == ["id", *own, "distance", "outside", "problem"]
    np.testing.assert_allclose(table[["first", "second"]], model.predictions(data), rtol=1e-5)
    held = ~data.y[:, 0].isnan().numpy()
    inside = (table["low(first)"] - 1e-4 <= data.y[:, 0].numpy()) & (
        data.y[:, 0].numpy() <= table["high(first)"] + 1e-4
    )
    assert inside[held].mean() >= 0.7
    assert list(predict(model, data).columns) == ["id", "first", "second", "distance", "outside", "problem"]


def test_classes_come_calibrated_with_a_set_and_the_distance():
    data = graphs(30)
    model = complete(data, members=2)
    table = predict(model, data, coverage=0.8)
    columns = ["id", "class", "p(house)", "p(cycle)", "uncertainty", "spread", "set", "distance"]
    assert list(table.columns) == [*columns, *(f"position {k}" for k in range(3)), "outside", "problem"]
    np.testing.assert_allclose(table[["p(house)", "p(cycle)"]], model.predictions(data), atol=1e-6)
    true = [data.class_names[number] for number in data.y]
    assert np.mean([name in text.split("; ") for name, text in zip(true, table["set"], strict=True)]) >= 0.8
    assert set(table["set"]) <= {"", "house", "cycle", "house; cycle"}
    assert table["distance"].max() < 0.1  # graphs of training


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_chunks_without_usable_rows_have_the_same_columns(task, tmp_path, monkeypatch):
    pytest.importorskip("rdkit")
    from ssread.data import from_smiles

    monkeypatch.setattr(chunks, "CHUNK_ROWS", 2)
    labels = {"classification": AROMATIC, "multilabel": [(n % 2, n % 3 == 0) for n in range(32)]}
    model = complete(from_smiles(SMILES, labels.get(task, [n / 7 for n in range(32)]), task=task), members=2)
    texts = ["x", "y", "CCO", "CCN", "z", "z"]
    table = predict(model, texts, coverage=0.8)
    assert table["problem"].isna().tolist() == [False, False, True, True, False, False]
    assert table.drop(columns=["id", "smiles", "problem"]).iloc[[0, 1, 4, 5]].isna().all(axis=None)
    predict(model, texts, tmp_path / "out.parquet", coverage=0.8)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), table)


def test_a_label_named_like_another_column_does_not_replace_it():
    data = replace(for_task("regression"), target_names=("id", "position 0"))
    table = predict(untrained(data), data)
    assert table["id"].tolist() == [str(number) for number in range(40)]
    assert table["id (predicted)"].dtype == np.float32
    assert "position 0 (predicted)" in table


@pytest.mark.slow
def test_worker_processes_predict_the_same(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 5)
    monkeypatch.setattr(streaming, "FEW_CHUNKS", 2)
    data = for_task("multilabel")
    model = complete(data)
    here, there = (predict(model, data, coverage=0.7, workers=workers) for workers in (1, 2))
    pd.testing.assert_frame_equal(here, there)


@pytest.mark.parametrize(
    ("coverage", "calibrated", "sentence"),
    [(0.9, False, "has no calibration.*train it again"), (0, True, "between 0 and 1"), (90, True, "between 0 and 1")],
)
def test_a_coverage_that_cannot_be_given_gets_a_sentence(coverage, calibrated, sentence):
    data = graphs(12)
    model = complete(data) if calibrated else untrained(data)
    with pytest.raises(InputError, match=sentence):
        predict(model, data, coverage=coverage)


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
    assert table["problem"].tolist()[3:5] == ["the cell is empty", "it has 3 cells, but the header has 2"]
    assert pd.read_csv(tmp_path / "out.skipped.csv")["where"].tolist() == ["line 3", "line 5", "line 6"]
    alone = predict(molecule_model, ["CCO", "c1ccccc1", "[U]"])
    columns = [column for column in table.columns if column.startswith(("p(", "position", "unc", "spread"))]
    np.testing.assert_allclose(table.loc[[0, 2, 5], columns], alone[columns], atol=1e-5)


def test_strictly_a_row_that_cannot_be_used_raises(molecule_model, tmp_path):
    (tmp_path / "new.csv").write_text("smiles\nCCO\nxyz\n")
    with pytest.raises(InputError, match=r"new\.csv: one row cannot be used: line 3, 'xyz' \(RDKit .*on_error='skip'"):
        predict(molecule_model, tmp_path / "new.csv", tmp_path / "out.csv", on_error="raise")
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]
    assert len(predict(molecule_model, ["CCO"], on_error="raise")) == 1
    with pytest.raises(InputError, match="on_error='stop' is not an option"):
        predict(molecule_model, ["CCO"], on_error="stop")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_the_columns_of_the_input_are_kept(molecule_model, tmp_path, ending):
    table = pd.DataFrame({"name": ["a", "b"], "text": ["CCO", "xyz"], "class": ["x", "y"], "price": ["1.50", ""]})
    path = tmp_path / f"new.{ending}"
    if ending == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    predict(molecule_model, path, tmp_path / "out.csv", smiles="text", id="name")
    found = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert found.columns.tolist()[:7] == ["name", "text", "class (input)", "price", "id", "smiles", "class"]
    assert found.iloc[:, :4].to_numpy().tolist() == table.to_numpy().tolist()


def test_a_data_frame_is_read_by_its_columns_and_keeps_its_index(molecule_model):
    table = pd.DataFrame({"text": ["CCO", None, "c1ccccc1"], "price": [1.5, 2.0, 3.0]}, index=["x", "y", "z"])
    found = predict(molecule_model, table, smiles="text")
    assert found.index.tolist() == found["id"].tolist() == ["x", "y", "z"]
    assert found.columns.tolist()[:4] == ["text", "price", "id", "smiles"]
    assert found["price"].tolist() == [1.5, 2.0, 3.0]
    assert found["problem"].fillna("").tolist() == ["", "the cell is empty", ""]
    columns = ["class", "p(no)", "p(yes)"]
    pd.testing.assert_frame_equal(
        found.loc[["x", "z"], columns].reset_index(drop=True), predict(molecule_model, ["CCO", "c1ccccc1"])[columns]
    )
    with pytest.raises(InputError, match=r"table has no column 'smiles'.*'text', 'price'"):
        predict(molecule_model, table)


def test_names_and_titles_are_the_ids_of_predictions(molecule_model, tmp_path):
    (tmp_path / "new.smi").write_text("CCO ethanol\nCC\n")
    assert predict(molecule_model, tmp_path / "new.smi")["id"].tolist() == ["ethanol", "2"]


def test_a_graph_larger_than_all_training_graphs_is_outside(molecule_model, tmp_path):
    known = replace(molecule_model, summary={"data": {"max_nodes": 9}})
    found = predict(known, ["C" * 9, "xyz", "C" * 3000])
    assert found["outside"].isna().tolist() == [True, True, False]
    assert found["outside"][2] == "3000 nodes, more than the 9 of the largest training graph"
    assert predict(known, ["C" * 3000, "C" * 10], tmp_path / "out.csv").outside == 2
    assert predict(molecule_model, ["C" * 3000])["outside"].isna().all()


@pytest.mark.parametrize(
    ("options", "out", "sentence"),
    [
        ({"colour": 1}, "out.csv", "There is no option 'colour'"),
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


def test_names_and_properties_of_an_sdf_stay_whichever_record_has_them(tmp_path, monkeypatch, molecule_model):
    """Also over chunks whose records have others, and of a record that RDKit cannot read."""
    Chem = pytest.importorskip("rdkit.Chem")
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 2)
    model = molecule_model
    block = {smiles: Chem.MolToMolBlock(Chem.MolFromSmiles(smiles)) for smiles in ("Cc1ccccc1", "NC1CCCCC1")}
    first, second = block.values()
    records = [
        f"toluene{first}> <logP> (1)\n2.7\n\n$$$$\n",
        f"amine{second}> <note>\ntwo\nlines\n\n$$$$\n",
        "broken\n\n\n  9  9 of nonsense\nM  END\n> <logP>\n1.0\n\n$$$$\n",
        f"{second}$$$$\n",
    ]
    (tmp_path / "new.sdf").write_text("".join(records))
    table = predict(model, tmp_path / "new.sdf", workers=1)
    assert list(table.columns[:3]) == ["name", "logP", "note"]
    assert table["name"].fillna("").tolist() == ["toluene", "amine", "broken", ""]
    assert table["logP"].fillna("").tolist() == ["2.7", "", "1.0", ""]
    assert table["note"].fillna("").tolist() == ["", "two\nlines", "", ""]
    assert table["problem"].notna().tolist() == [False, False, True, False]
    assert predict(model, tmp_path / "new.sdf", tmp_path / "out.csv", workers=1).rows == 4
