import contextlib
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.run_results import DATASET, assert_same, make_result, results
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ssread import InputError
from ssread.evaluate import Store, export, run_key, score
from ssread.train.runs import RunResult, Training

TRAINING = Training()


def key_of(result: RunResult) -> str:
    return run_key(DATASET, result.run, TRAINING)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store(tmp_path / "new folder" / "results.db") as opened:
        yield opened


@given(results)
def test_a_result_comes_back_as_it_was_added(tmp_path_factory: pytest.TempPathFactory, result: RunResult) -> None:
    key = key_of(result)
    with Store(tmp_path_factory.mktemp("store") / "results.db") as store:
        store.add(DATASET, result, TRAINING, "cpu")
        assert_same(store.results([key])[key], result)


def test_of_two_results_for_a_training_the_first_stays(store: Store) -> None:
    first, second = make_result(1), make_result(1)
    object.__setattr__(second, "seconds", 99.0)
    assert store.add(DATASET, first, TRAINING, "cpu")
    assert not store.add(DATASET, second, TRAINING, "cuda")
    assert len(store) == 1
    assert_same(store.results([key_of(first)])[key_of(first)], first)


@given(present=st.sets(st.integers(0, 30)), asked=st.sets(st.integers(0, 30)))
def test_only_what_is_there_is_there(
    tmp_path_factory: pytest.TempPathFactory, present: set[int], asked: set[int]
) -> None:
    with Store(tmp_path_factory.mktemp("store") / "results.db") as store:
        for seed in present:
            store.add(DATASET, make_result(seed), TRAINING, "cpu")
        keys = {key_of(make_result(seed)): seed for seed in asked}
        found = {key for key, seed in keys.items() if seed in present}
        assert store.has(keys) == store.results(keys).keys() == found


def test_many_keys_at_once(store: Store) -> None:
    store.add(DATASET, make_result(), TRAINING, "cpu")
    keys = [str(number) for number in range(100_000)]  # more than a statement may have variables
    assert store.has([*keys, key_of(make_result())]) == {key_of(make_result())}


def test_the_table_has_a_row_per_training_whatever_their_order(tmp_path: Path) -> None:
    runs = [make_result(seed, fold, readout=r) for seed in (0, 1) for fold in (0, 1) for r in ("global", "ssread")]
    runs.append(make_result(5, failed="The loss was not a number in epoch 3."))
    tables = []
    for number, order in enumerate((runs, runs[::-1])):
        with Store(tmp_path / f"{number}.db") as store:
            for result in order:
                store.add(DATASET, result, TRAINING, "cpu")
            tables.append(store.table())
    assert tables[0].equals(tables[1])
    table = tables[0].set_index("key")
    assert len(table) == 9
    for result in runs:
        row = table.loc[key_of(result)]
        assert (row["seed"], row["fold"], row["failed"]) == (result.run.seed, result.run.fold, result.failed)
        np.testing.assert_equal(row["test_accuracy"], score(result))
        assert row["num_positions"] == (1 if row["readout"] == "global" else 4)
        assert (row["dataset"], row["arch"], row["aggr"], row["device"]) == ("MUTAG", "gcn", "sum", "cpu")
        assert row[["ssread", "torch", "torch_geometric", "python", "selection"]].map(len).min() > 0


def test_an_empty_store_has_an_empty_table(store: Store) -> None:
    assert store.table().empty
    assert repr(store).endswith("results.db', 0 runs)")


# -- files that cannot be used ---------------------------------------------------------------------------


def test_a_store_of_a_newer_version_is_refused_and_left_alone(store: Store) -> None:
    store.add(DATASET, make_result(), TRAINING, "cpu")
    sqlite3.connect(store.path).execute("PRAGMA user_version = 7")
    with pytest.raises(InputError, match=r"newer version of ssread \(format 7, this one reads 1\)"):
        Store(store.path)


def test_another_program_s_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE runs (x)")
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"theirs\.db is the SQLite file of another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_text_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to look like one " * 100)
    with pytest.raises(InputError, match=r"notes\.txt is not a results store"):
        Store(path)
    assert path.read_text().startswith("not a database")


def test_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder: give a file in it"):
        Store(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be created"):
        Store(tmp_path / "file" / "results.db")


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "results.db").touch()
    assert len(Store(tmp_path / "results.db")) == 0


def test_a_full_disk_is_named_and_loses_nothing(store: Store) -> None:
    store.add(DATASET, make_result(), TRAINING, "cpu")
    size = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {size + 1}")  # SQLite's own error, as on a full disk
    with pytest.raises(InputError, match=r"The disk is full: .*Earlier ones are safe"):
        all(store.add(DATASET, make_result(seed), TRAINING, "cpu") for seed in range(1, 50))
    store._connection.execute("PRAGMA max_page_count = 100000")
    assert store.add(DATASET, make_result(49), TRAINING, "cpu")
    assert len(store.results(store.table()["key"])) == len(store)


def test_a_lock_held_for_long_is_named(store: Store) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store(store.path, timeout=0.2) as waiting, pytest.raises(InputError, match=r"locked .* for 0.2 seconds"):
        waiting.add(DATASET, make_result(), TRAINING, "cpu")
    assert len(store) == 0  # reading is still possible


def test_a_damaged_row_is_named(store: Store) -> None:
    store.add(DATASET, make_result(), TRAINING, "cpu")
    key = key_of(make_result())
    for column, value in (("predictions", b"PK\x03\x04 no zip"), ("run", "{"), ("run", '{"model": 3}')):
        store._connection.execute(f"UPDATE runs SET {column} = ?", [value])
        with pytest.raises(InputError, match=f"The run {key} in .* is damaged"):
            store.results([key])


def test_a_pickle_in_a_row_is_not_opened(store: Store) -> None:
    result = make_result()
    object.__setattr__(result, "test_targets", np.array([print], dtype=object))
    object.__setattr__(result, "failed", "stored only to be refused")
    store.add(DATASET, result, TRAINING, "cpu")
    with pytest.raises(InputError, match=r"is damaged.*allow_pickle=False"):
        store.results([key_of(result)])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.integers(0, 2**20), byte=st.integers(0, 255))
def test_a_damaged_file_is_an_error_or_reads_as_it_was_never_a_crash(tmp_path: Path, where: int, byte: int) -> None:
    path = tmp_path / "sound.db"
    if not path.exists():
        with Store(path) as store:
            for seed in range(3):
                store.add(DATASET, make_result(seed), TRAINING, "cpu")
    content = bytearray(path.read_bytes())
    content[where % len(content)] = byte
    damaged = tmp_path / "damaged.db"
    for leftover in tmp_path.glob("damaged.db*"):
        leftover.unlink()
    damaged.write_bytes(content)
    with contextlib.suppress(InputError), Store(damaged) as store:
        store.results(store.table()["key"])


def test_results_of_another_machine_are_taken_over_once(store: Store, tmp_path: Path) -> None:
    ours, both, theirs = make_result(1), make_result(2), make_result(3)
    with Store(tmp_path / "other.sqlite") as other:
        for result in (both, theirs):
            other.add(DATASET, result, TRAINING, "cuda")
    for result in (ours, both):
        store.add(DATASET, result, TRAINING, "cpu")
    assert store.merge(tmp_path / "other.sqlite") == (1, 0)
    assert store.merge(tmp_path / "other.sqlite") == (0, 0)
    assert dict(zip(store.table()["seed"], store.table()["device"], strict=True)) == {1: "cpu", 2: "cpu", 3: "cuda"}
    assert_same(store.results([key_of(theirs)])[key_of(theirs)], theirs)


@settings(max_examples=20)
@given(st.lists(results, max_size=4))
def test_a_store_filled_from_a_csv_file_has_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, several: list[RunResult]
) -> None:
    """It lacks predictions and curves, and gets them from the store that the file was exported from."""
    folder = tmp_path_factory.mktemp("store")
    with Store(folder / "whole.db") as whole, Store(folder / "filled.db") as filled:
        for result in several:
            whole.add(DATASET, result, TRAINING, "cuda")
        export(whole, folder / "runs.csv")
        assert filled.merge(folder / "runs.csv") == (len(whole), 0)
        assert filled.merge(folder / "runs.csv") == (0, 0)
        pd.testing.assert_frame_equal(filled.table(), whole.table())
        keys = whole.table()["key"]
        for key, stored in filled.results(keys).items():
            (full,) = whole.results([key]).values()
            assert (stored.complete, full.complete, stored.run, stored.failed) == (False, True, full.run, full.failed)
            np.testing.assert_equal((score(stored), stored.valid_score), (score(full), full.valid_score))
            assert stored.curves == {}
        assert filled.has(keys) == set(keys)
        assert filled.has(keys, complete=True) == set(keys[whole.table()["failed"] != ""])
        assert filled.merge(folder / "whole.db") == (len(whole), 0)
        assert whole.merge(folder / "runs.csv") == whole.merge(folder / "filled.db") == (0, 0)
        assert filled.has(keys, complete=True) == set(keys)
        for key, stored in filled.results(keys).items():
            assert_same(stored, whole.results([key])[key])


def test_a_training_from_a_csv_file_stays_one_and_is_replaced_by_a_real_one(store: Store, tmp_path: Path) -> None:
    key, full = key_of(make_result()), make_result()
    store.add(DATASET, full, TRAINING, "cuda")
    export(store, tmp_path / "runs.csv")
    with Store(tmp_path / "filled.db") as filled, Store(tmp_path / "copied.db") as copied:
        filled.merge(tmp_path / "runs.csv")
        copied.add(DATASET, filled.results([key])[key], TRAINING, "cuda")
        assert not copied.results([key])[key].complete
        assert copied.table()["test_accuracy"].item() == score(full)
        assert not copied.add(DATASET, filled.results([key])[key], TRAINING, "cpu")
        assert copied.add(DATASET, full, TRAINING, "cpu")
        assert not copied.add(DATASET, full, TRAINING, "cuda")
        assert_same(copied.results([key])[key], full)
        assert copied.table()["device"].item() == "cpu"


def test_a_csv_file_is_taken_over_all_or_nothing(store: Store, tmp_path: Path) -> None:
    with Store(tmp_path / "other.db") as other:
        for seed in range(50):
            other.add(DATASET, make_result(seed), TRAINING, "cpu")
        export(other, tmp_path / "runs.csv")
    size = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {size + 1}")  # as on a full disk
    with pytest.raises(InputError, match="The disk is full"):
        store.merge(tmp_path / "runs.csv")
    store._connection.execute("PRAGMA max_page_count = 100000")
    text = (tmp_path / "runs.csv").read_text()
    (tmp_path / "damaged.csv").write_text(text.replace(f",{score(make_result(49))!r},", ",84.3,"))
    with pytest.raises(InputError, match=r"Row \d+ of .*damaged.csv is damaged"):
        store.merge(tmp_path / "damaged.csv")
    assert len(store) == 0
    assert store.merge(tmp_path / "runs.csv") == (50, 0)


def test_what_is_no_results_file_is_not_taken_over(store: Store, tmp_path: Path) -> None:
    for name in ("nowhere.sqlite", "nowhere.csv"):
        with pytest.raises(InputError, match=f"There is no results file .*{name}"):
            store.merge(tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv is a folder: give the results file in it"):
        store.merge(tmp_path / "folder.csv")
    (tmp_path / "table.CSV").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is not an export of trainings"):
        store.merge(tmp_path / "table.CSV")
    (tmp_path / "text.sqlite").write_text("not SQLite at all, but long enough to be looked at as a file of it" * 9)
    with pytest.raises(InputError, match="is not a results store"):
        store.merge(tmp_path / "text.sqlite")
    assert len(store) == 0
