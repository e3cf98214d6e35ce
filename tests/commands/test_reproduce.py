"""``ssread reproduce`` as a function: the list of all tables and figures, results of other machines, wrong names."""

import io
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.paper_runs import random_trainings
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from ssread.commands.reproduce import reproduce_item
from ssread.errors import InputError
from ssread.evaluate import Store, export
from ssread.evaluate.experiment import Experiment
from ssread.paper.comparison_tables import TABLE_3, TABLE_4, TABLE_5
from ssread.paper.registry import PAPER

SETTINGS = {"seeds": 2, "folds": 2}


def printed(name: str | None, **options: Any) -> str:
    """What the command prints, as words with single spaces."""
    console = Console(file=io.StringIO(), width=200)
    reproduce_item(name, console=console, **options)
    return " ".join(console.file.getvalue().split())


def test_lists_all_with_how_much_is_done(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        random_trainings(store, Experiment.of({"arch": TABLE_3.arch, "aggr": TABLE_3.aggr, **SETTINGS}))
    output = printed(None, settings=SETTINGS, out=tmp_path)
    assert all(f" {name} {entry.title} " in output for name, entry in PAPER.items())
    assert "table3 GCN with six aggregations 64 448 trainings" in output
    assert "table4 five more classifiers 24 448 trainings" in output
    assert "figure7 sensitivity to K and gamma 24 120 trainings" in output
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_results_of_another_machine_are_added_once(tmp_path):
    with Store(tmp_path / "other.sqlite") as store:
        count = len(random_trainings(store, Experiment.of({"arch": TABLE_3.arch, "aggr": TABLE_3.aggr, **SETTINGS})))
    options = {"add": [tmp_path / "other.sqlite"], "datasets": ["MUTAG"], "settings": SETTINGS, "train": False}
    output = printed("table3", **options, out=tmp_path / "runs")
    assert output.startswith(f"{count} trainings added from ")
    assert "MUTAG gcn sort" in output
    assert "missing" not in output.split("Saved")[0]
    assert printed("table3", **options, out=tmp_path / "runs").startswith("0 trainings added from ")


@pytest.fixture(scope="module")
def one_machine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], dict[str, bytes]]:
    """The results of one machine that trained everything: its store, the keys in it, the tables made from it."""
    folder = tmp_path_factory.mktemp("one")
    with Store(folder / "results.sqlite") as store:
        for number, table in enumerate((TABLE_3, TABLE_4)):
            experiment = Experiment.of({"arch": table.arch, "aggr": table.aggr, **SETTINGS})
            random_trainings(store, experiment, ("MUTAG", "NCI1"), seed=number)
        for number, learn in enumerate(TABLE_5.learn, start=2):
            random_trainings(store, Experiment.of({"learn": learn, **SETTINGS}), ("MUTAG",), seed=number)
        keys = list(store.table()["key"])
    return folder / "results.sqlite", keys, tables(folder)


def tables(out: Path, **options: Any) -> dict[str, bytes]:
    """Everything that is written for Tables III to V without training, byte by byte."""
    for number, name in enumerate(("table3", "table4", "table5")):
        printed(name, settings=SETTINGS, train=False, out=out, **(options if number == 0 else {}))
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.glob("table*/*"))}


@settings(max_examples=5)
@given(share=st.floats(0, 1), both=st.floats(0, 0.5), as_csv=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_two_machines_give_the_same_tables_as_one(one_machine, share, both, as_csv, seed):
    """However the trainings are spread over two machines, also if both did some of them; as a store or as CSV."""
    whole, keys, expected = one_machine
    draws = np.random.default_rng(seed).random((2, len(keys)))
    on_first = (draws[0] < share) | (draws[1] < both)
    on_second = (draws[0] >= share) | (draws[1] < both)
    with tempfile.TemporaryDirectory() as folder:
        for name, kept in (("first", on_first), ("second", on_second)):
            path = Path(folder) / name / "results.sqlite"
            path.parent.mkdir()
            with Store(path) as store:
                store.merge(whole)
            dropped = [key for key, keep in zip(keys, kept, strict=True) if not keep]
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.executemany("DELETE FROM runs WHERE key = ?", [(key,) for key in dropped])
        first, second = (Path(folder) / name for name in ("first", "second"))
        other = second / "results.sqlite"
        if as_csv:
            with Store(other) as store:
                export(store, other := second / "runs.csv")
        assert tables(first, add=[other]) == expected
    assert len(expected) == 9
    assert b"MUTAG" in expected["table5/table5.md"]


def test_csv_files_alone_give_the_same_tables_and_so_do_those_written_from_them(one_machine, tmp_path):
    """Those of the whole store, and those of every table."""
    whole, _, expected = one_machine
    with Store(whole) as store:
        export(store, tmp_path / "all.csv")
    by_table = [whole.parent / name / "runs.csv" for name in ("table3", "table4", "table5")]
    assert tables(tmp_path / "from all", add=[tmp_path / "all.csv"]) == expected
    assert tables(tmp_path / "from each", add=by_table) == expected
    again = [tmp_path / "from each" / path.relative_to(whole.parent) for path in by_table]
    assert tables(tmp_path / "again", add=again) == expected


def test_trainings_that_tables_share_are_taken_from_the_csv_file_of_another_table(one_machine, tmp_path):
    """What Table IV shares with Table III counts as done."""
    csv = one_machine[0].parent / "table3" / "runs.csv"
    output = printed(None, settings=SETTINGS, add=[csv], out=tmp_path)
    assert "table3 GCN with six aggregations 128 448 trainings" in output
    assert "table4 five more classifiers 48 448 trainings" in output


def test_rows_that_are_not_what_they_say_are_left_out_and_counted(one_machine, tmp_path):
    lines = (one_machine[0].parent / "table3" / "runs.csv").read_text().splitlines()
    lines[1:4] = [line.replace("MUTAG", "PROTEINS") for line in lines[1:4]]
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    output = printed("table3", settings=SETTINGS, train=False, add=[tmp_path / "runs.csv"], out=tmp_path / "runs")
    assert output.startswith(f"{len(lines) - 4} trainings added from ")
    assert "runs.csv 3 of its rows are left out: their keys are not those of their settings, because " in output


def test_the_files_are_returned(tmp_path):
    files = reproduce_item("table2", rows=["sagpool"], out=tmp_path, console=Console(file=io.StringIO()))
    assert files == [tmp_path / "table2" / "table2.md"]


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("tabel3", {}, "The paper has no 'tabel3'"),
        ("figure3", {}, "cannot be made: a diagram"),
        ("table3", {"datasets": ["AIDS"]}, "There is no dataset 'AIDS' here"),
        ("table4", {"rows": ["sum"]}, "There is no row 'sum' here. Choose from gin"),
        ("figure7", {"datasets": ["DD"]}, "There is no dataset 'DD' here. Choose from MUTAG, NCI1, IMDB-MULTI"),
        ("table3", {"add": [Path("nowhere.sqlite")]}, "There is no results file nowhere.sqlite"),
        ("table3", {"add": [Path("nowhere.csv")]}, "There is no results file nowhere.csv"),
        ("table3", {"add": [Path(__file__).parent]}, "commands is a folder: give the results file in it"),
        ("table3", {"settings": {"seeds": 0}}, "seeds must be 1 or more"),
        ("table3", {"device": "tpu"}, "There is no device 'tpu'"),
    ],
)
def test_wrong_names_get_a_sentence(name, options, sentence, tmp_path):
    with pytest.raises(InputError, match=sentence):
        printed(name, **options, out=tmp_path)
    assert not list(tmp_path.glob("*/*.md"))
