"""Tables with a row for every row of the input, and the files they are written to."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.apply.chunks import Rows
from ssread.apply.output_tables import Part, check_ending, table_of, with_progress, write_parts
from ssread.errors import InputError


def rows_of(problems: list[bool], texts: list[str] | None = None) -> Rows:
    ids = [str(row) for row in range(len(problems))]
    return Rows(ids, texts, {row: f"bad {row}" for row, bad in enumerate(problems) if bad}, None)


@given(st.lists(st.booleans(), max_size=12))
def test_values_of_usable_rows_end_in_their_rows(problems):
    values = np.arange(problems.count(False), dtype=np.float32)
    table = table_of(rows_of(problems), {"value": (values, pyarrow.float32())}).to_pydict()
    expected = iter(values.tolist())
    assert table["id"] == [str(row) for row in range(len(problems))]
    assert table["value"] == [None if bad else next(expected) for bad in problems]
    assert table["problem"] == [f"bad {row}" if bad else None for row, bad in enumerate(problems)]


def test_columns_keep_their_types_where_no_row_is_usable():
    columns = {"class": (None, pyarrow.string()), "p": (None, pyarrow.float32())}
    table = table_of(rows_of([True, True], ["x", "y"]), columns)
    assert table.column_names == ["id", "smiles", "class", "p", "problem"]
    assert table.schema.field("p").type == pyarrow.float32()
    assert table.column("p").null_count == 2


def parts(*sizes: int) -> list[Part]:
    every = [rows_of([row == 0 for row in range(size)]) for size in sizes]
    return [
        Part(table_of(rows, {"outside": (["far"] * (len(rows.ids) - 1), pyarrow.string())}), rows.skipped)
        for rows in every
    ]


def test_the_callback_gets_the_number_of_rows_so_far():
    calls: list[int] = []
    assert [len(part.table) for part in with_progress(parts(3, 1, 2), calls.append)] == [3, 1, 2]
    assert calls == [3, 4, 6]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_become_one_file(tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    written = write_parts(parts(3, 2), path)
    assert (written.path, written.rows, written.problems, written.outside) == (path, 5, 2, 3)
    table = pd.read_csv(path, dtype=str) if ending == "csv" else pd.read_parquet(path)
    assert table["id"].tolist() == ["0", "1", "2", "0", "1"]
    assert pd.read_csv(tmp_path / "out.skipped.csv")["reason"].tolist() == ["bad 0", "bad 0"]
    assert len(list(tmp_path.iterdir())) == 2


def test_the_columns_of_the_input_come_first_and_a_clash_is_marked():
    names = ["name", "class", "problem", "id", "name", "p (input)", "p"]
    inputs = pyarrow.Table.from_arrays([pyarrow.array([number]) for number in range(len(names))], names=names)
    rows = dataclasses.replace(rows_of([False], ["CCO"]), inputs=inputs)
    table = table_of(rows, {"class": (["a"], pyarrow.string()), "p": ([0.5], pyarrow.float32())})
    assert table.to_pylist() == [
        {
            "name": 0,
            "class (input)": 1,
            "problem (input)": 2,
            "id": 3,
            "name (input)": 4,
            "p (input)": 5,
            "p (input) (input)": 6,
            "smiles": "CCO",
            "class": "a",
            "p": 0.5,
            "problem": None,
        }
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_error_in_the_middle_leaves_the_earlier_file(tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    path.write_text("earlier")

    def failing():
        yield from parts(2)
        raise InputError("the third row")

    with pytest.raises(InputError, match="the third row"):
        write_parts(failing(), path)
    assert path.read_text() == "earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_another_ending_gets_a_sentence():
    check_ending(Path("OUT.CSV"))
    with pytest.raises(InputError, match=r"out.xlsx cannot be written: choose a name that ends in .csv or .parquet"):
        check_ending(Path("out.xlsx"))
