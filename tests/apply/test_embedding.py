"""Graph vectors of new graphs, as an array and as files."""

import numpy as np
import pandas as pd
import pytest
import torch
from helpers.small_models import AROMATIC, SMILES, for_task, untrained, write_assay

from ssread.apply import chunks, embed, predict
from ssread.errors import InputError


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_the_vectors_of_the_members_are_concatenated(task):
    data = for_task(task, 10)
    model = untrained(data, members=2)
    expected = torch.cat([member.embed(data.batch(slice(None))) for member in model.models], dim=1)
    np.testing.assert_allclose(embed(model, data), expected, atol=1e-5)


@pytest.mark.parametrize("ending", ["npy", "parquet", "csv"])
def test_files_hold_a_row_for_every_row(tmp_path, monkeypatch, ending):
    pytest.importorskip("rdkit")
    from ssread.data import from_smiles

    monkeypatch.setattr(chunks, "CHUNK_ROWS", 3)
    model = untrained(from_smiles(SMILES, AROMATIC))
    texts = [*SMILES[:7], "nonsense", *SMILES[7:9]]
    out = tmp_path / f"vectors.{ending}"
    written = embed(model, texts, out, workers=1)
    assert (written.path, written.rows, written.problems) == (out, 10, 1)
    if ending == "npy":
        found = np.load(out)
    else:
        table = pd.read_parquet(out) if ending == "parquet" else pd.read_csv(out)
        assert table["smiles"].tolist() == texts
        assert table["problem"].notna().tolist() == [row == 7 for row in range(10)]
        found = table[[column for column in table.columns if column.startswith("v")]].to_numpy()
    assert found.shape == (10, 24)
    assert np.isnan(found[7]).all()
    np.testing.assert_allclose(np.delete(found, 7, axis=0), embed(model, SMILES[:9]), atol=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([out.name, "vectors.skipped.csv"])


@pytest.mark.parametrize("use", [embed, predict])
def test_the_data_are_not_replaced(use, tmp_path):
    path = write_assay(tmp_path / "new.csv")
    before = path.read_bytes()
    with pytest.raises(InputError, match="which would replace them"):
        use(untrained(for_task("classification", 4)), path, path)
    assert path.read_bytes() == before


def test_another_ending_gets_a_sentence(tmp_path):
    data = for_task("classification", 4)
    with pytest.raises(InputError, match=r"ends in .csv or .parquet or .npy"):
        embed(untrained(data), data, tmp_path / "vectors.txt")
