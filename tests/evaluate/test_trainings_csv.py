"""Trainings read from CSV files: what is exported comes back, what was changed does not, wrong files get a sentence."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from helpers.run_results import DATASET, make_result, results
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ssread.errors import InputError
from ssread.evaluate import Store, export
from ssread.evaluate.trainings_csv import KINDS, checked_trainings, read_trainings
from ssread.models.architectures import ARCHITECTURES
from ssread.train.recipes import RECIPES
from ssread.train.runs import OBJECTIVES, RunResult, Training

RESULTS = Path(__file__).parents[2] / "results"
EXPORTS = [*sorted(RESULTS.glob("fair/table3/*.csv")), *sorted(RESULTS.glob("paper/*/runs.csv"))]


def exported(folder: Path, *several: RunResult, training: Training | None = None) -> Path:
    """A CSV file of these results."""
    with Store(folder / "results.db") as store:
        for result in several:
            store.add(DATASET, result, training or Training(), "cpu")
        export(store, folder / "runs.csv")
    return folder / "runs.csv"


def changed(path: Path, column: str, value: object) -> Path:
    """The same file with another value in the first row."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table.loc[0, column] = str(value)
    table.to_csv(path, index=False)
    return path


@settings(max_examples=20)
@given(st.lists(results, max_size=4), st.sampled_from(sorted(RECIPES)))
def test_what_is_exported_comes_back(tmp_path_factory, several, recipe):
    path = exported(tmp_path_factory.mktemp("csv"), *several, training=RECIPES[recipe].training)
    rows, left_out = checked_trainings(path)
    with Store(path.with_name("results.db")) as store:
        pd.testing.assert_frame_equal(
            pd.DataFrame(rows, columns=list(KINDS)).astype(store.table().dtypes), store.table()
        )
    assert left_out == 0


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: str(path.relative_to(RESULTS)))
def test_the_trainings_in_the_repository_are_usable_unless_their_numerics_are_outdated(path):
    def is_current(text: str) -> bool:
        run = json.loads(text)
        numerics = [ARCHITECTURES[run["model"]["name"]].numerics, OBJECTIVES[run.get("learn", "supervised")]]
        return run.get("numerics", [1, 1]) == numerics

    rows, left_out = checked_trainings(path)
    texts = list(read_trainings([path])["run"])
    assert [row["run"] for row in rows] == [text for text in texts if is_current(text)]
    assert len(rows) + left_out == len(texts) > 0


def test_settings_that_were_added_later_have_their_defaults(tmp_path):
    path = exported(tmp_path, make_result())
    early = {name: getattr(Training(), name) for name in ("batch_size", "epochs", "learning_rate", "patience")}
    text = json.dumps({**early, "weight_decay": 1e-4}, separators=(",", ":"))
    (row,), left_out = checked_trainings(changed(path, "training", text))
    assert (row["training"], left_out) == (text, 0)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("key", "0" * 64),
        ("key", ""),
        ("dataset", "PROTEINS"),
        ("fingerprint", "1" * 64),
        ("run", '{"fold":1,"model":{"name":"gcn"},"num_folds":10,"seed":0}'),
        ("run", '{"fold":0,"model":{"name":"of another version"},"num_folds":10,"seed":0}'),
        ("run", '{"model":{"name":["gcn"]},"fold":0,"num_folds":10,"seed":0}'),
        ("run", "{"),
        ("run", "[" * 100_000),
        ("training", '{"epochs":501}'),
        ("training", '{"of another version":1}'),
        ("training", "null"),
        ("training", ""),
    ],
)
def test_a_row_whose_key_is_not_that_of_its_settings_is_left_out(column, value, tmp_path):
    path = changed(exported(tmp_path, make_result(0), make_result(1)), column, value)
    rows, left_out = checked_trainings(path)
    assert ([row["seed"] for row in rows], left_out) == ([1], 1)


@pytest.mark.parametrize(
    "column", ["arch", "readout", "aggr", "num_positions", "seed", "fold", "num_folds", "selection"]
)
def test_columns_that_follow_from_the_settings_are_those_of_the_settings(column, tmp_path):
    path = exported(tmp_path, make_result())
    (right,), _ = checked_trainings(path)
    assert checked_trainings(changed(path, column, 77)) == ([right], 0)


def test_results_from_before_a_change_of_the_numerics_are_left_out(monkeypatch, tmp_path):
    path = exported(tmp_path, make_result(0), make_result(0, name="gin"))
    monkeypatch.setitem(ARCHITECTURES, "gcn", replace(ARCHITECTURES["gcn"], numerics=2))
    rows, left_out = checked_trainings(path)
    assert ([row["arch"] for row in rows], left_out) == (["gin"], 1)


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("test_accuracy", 84.3, "test_accuracy is 84.3, not between 0 and 1"),
        ("valid_accuracy", -0.1, "valid_accuracy is -0.1, not between 0 and 1"),
        ("valid_accuracy", "inf", "valid_accuracy is inf, not between 0 and 1"),
        ("test_accuracy", "", "test_accuracy is empty, though the training did not fail"),
        ("seconds", "", "seconds is nan"),
        ("best_epoch", 99, "best_epoch is 99 of "),
    ],
)
def test_numbers_that_no_training_has_get_a_sentence(column, value, sentence, tmp_path):
    path = changed(exported(tmp_path, make_result(0), make_result(1)), column, value)
    with pytest.raises(InputError, match=rf"Row 1 of .*runs\.csv is damaged \({sentence}.*\): export .* again"):
        checked_trainings(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty: export the trainings again with ssread results -o runs.csv"),
        ("a,b\n1,2\n", "has no column 'key': it is not an export of trainings; export"),
        ("SQLite format 3\0\udcff\udcfe", "cannot be read as CSV"),
        ('key,"\n', "cannot be read as CSV"),
        ("key\na\nb,c\n", r"cannot be read as CSV \(.*saw 2\): export"),
        (
            ",".join(KINDS) + "\n" + ",".join("x" for _ in KINDS) + "\n",
            "'num_positions' of .* contains values that are not numbers",
        ),
        (
            ",".join(KINDS) + "\n" + ",".join("9" * 30 for _ in KINDS) + "\n",
            "'num_positions' of .* contains values that are not numbers",
        ),
        (",".join(KINDS) + "\n" + "x\n", "'num_positions' of .* contains values that are not numbers"),
    ],
)
def test_other_files_get_a_sentence(text, sentence, tmp_path):
    (tmp_path / "runs.csv").write_text(text, errors="surrogateescape")
    with pytest.raises(InputError, match=sentence):
        read_trainings([tmp_path / "runs.csv"])
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_trainings([tmp_path])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.integers(0, 2**20), byte=st.integers(0, 255))
def test_a_damaged_file_is_an_error_or_gives_no_other_training(tmp_path, where, byte):
    path = tmp_path / "runs.csv"
    if not path.exists():
        exported(tmp_path, *map(make_result, range(3)))
    whole = {row["key"]: row["run"] for row in checked_trainings(path)[0]}
    content = bytearray(path.read_bytes())
    content[where % len(content)] = byte
    (tmp_path / "damaged.csv").write_bytes(content)
    with contextlib.suppress(InputError):
        rows, _ = checked_trainings(tmp_path / "damaged.csv")
        assert {row["key"]: row["run"] for row in rows}.items() <= whole.items()
