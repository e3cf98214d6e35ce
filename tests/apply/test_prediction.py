"""Predictions: a row for every row, the same whatever else is in the file."""

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.small_models import AROMATIC, SMILES, graphs, untrained, write_assay
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.apply import predict, trained_model
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
