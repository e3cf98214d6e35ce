import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.run_results import make_result
from hypothesis import given
from hypothesis import strategies as st

from ssread import InputError
from ssread.common.markdown import markdown_table
from ssread.evaluate import DatasetId, Store, export, score
from ssread.evaluate.results_export import results_by_cell
from ssread.train.runs import Training

AWKWARD = 'my "50 %" set, C&A_{x} | <b>é</b>\\x'


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two cells of a set with an awkward name, one of them with a failed run, and one that differs in a setting."""
    with Store(tmp_path / "results.db") as opened:
        for seed in range(2):
            for fold in range(3):
                failed = "The loss was not a number in epoch 3." if (seed, fold) == (1, 2) else ""
                dataset = DatasetId(AWKWARD, "0" * 64)
                opened.add(dataset, make_result(seed, fold, failed), Training(), "cpu")
                opened.add(dataset, make_result(seed, fold, readout="global"), Training(), "cpu")
                opened.add(dataset, make_result(seed, fold, gamma=0.1), Training(epochs=7), "cpu")
        yield opened


def test_csv_has_every_training_with_all_its_settings(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "runs.csv")
    found = pd.read_csv(tmp_path / "runs.csv", keep_default_na=False, na_values=[""])
    assert len(found) == len(store) == 18
    assert set(found["dataset"]) == {AWKWARD}
    assert [json.loads(text)["epochs"] for text in found["training"]].count(7) == 6
    np.testing.assert_allclose(found["test_accuracy"], store.table()["test_accuracy"], rtol=1e-15)


def test_cells_are_means_over_seeds_of_means_over_folds(store: Store) -> None:
    cells = results_by_cell(store.table())
    assert cells[["readout", "K", "settings", "seeds", "folds", "runs", "failed"]].to_numpy().tolist() == [
        ["global", 1, "", 2, 10, 6, 0],
        ["ssread", 4, "", 2, 10, 5, 1],
        ["ssread", 4, "epochs=7, gamma=0.1", 2, 10, 6, 0],
    ]
    whole = [np.mean([score(make_result(seed, fold)) for fold in range(3)]) for seed in range(2)]
    assert cells["accuracy"][0] == pytest.approx(100 * np.mean(whole))
    assert cells["sd"][0] == pytest.approx(100 * np.std(whole, ddof=1))


def test_markdown_and_latex_are_escaped(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "results.md")
    export(store, tmp_path / "results.tex")
    lines = (tmp_path / "results.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 + 3
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {14}  # 13 columns, whatever the name holds
    assert r"\<b>é\</b>" in lines[2]
    latex = (tmp_path / "results.tex").read_text(encoding="utf-8")
    assert r"50 \%" in latex
    assert r"C\&A\_\{x\}" in latex
    assert latex.count(r"\\") >= 4


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=4))
def test_any_text_stays_in_its_place_in_a_markdown_table(rows: list[list[str]]) -> None:
    lines = markdown_table(["a", "b"], rows).split("\n")
    assert lines[-1] == ""
    assert len(lines) == len(rows) + 3
    for line in lines[:-1]:
        assert len(re.sub(r"\\.", "", line).split("|")) == 4


def test_an_empty_store_can_be_exported(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as empty:
        for ending in ("csv", "md", "tex"):
            export(empty, tmp_path / f"empty.{ending}")
    headings = next(csv.reader(io.StringIO((tmp_path / "empty.csv").read_text())))
    assert headings[:2] == ["key", "dataset"]


def test_places_that_cannot_be_written_are_named(store: Store, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"table\.xlsx cannot be written: its extension must be one of \.csv, \.md, \.tex"
    ):
        export(store, tmp_path / "table.xlsx")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv cannot be written: it is a folder"):
        export(store, tmp_path / "folder.csv")
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]  # no half-written file is left
