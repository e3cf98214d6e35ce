"""Rows that cannot be used are listed, all of them in a file."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.data.skipped import SkippedRow, check_on_error, list_rows, list_skipped
from ssread.errors import BadRowsError, InputError

texts = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=80)


@given(st.lists(texts, max_size=9))
def test_a_sentence_shows_a_few_rows_and_counts_the_others(cells: list[str]) -> None:
    rows = [SkippedRow(n, f"line {n}", text, "a reason") for n, text in enumerate(cells)]
    told = list_rows(rows)
    assert told.count("a reason") >= min(len(rows), 3)
    assert told.endswith(f"and {len(rows) - 3} more") == (len(rows) > 3)


def test_all_rows_are_in_the_file_and_an_earlier_file_goes(tmp_path: Path) -> None:
    rows = [SkippedRow(n, f"line {n + 2}", text, "a reason") for n, text in enumerate(['a,"b"', "c\nd", "=e", "f"])]
    with list_skipped(tmp_path / "out.parquet") as skipped:
        skipped.add(rows[:1])
        skipped.add(rows[1:])
    assert (skipped.count, skipped.first) == (4, rows[:3])
    assert str(skipped).endswith(f"; and 1 more. Full list: {tmp_path / 'out.skipped.csv'}")
    table = pd.read_csv(tmp_path / "out.skipped.csv")
    assert table.columns.tolist() == ["where", "text", "reason"]
    assert table["text"].tolist() == [row.text for row in rows]
    with pytest.raises(InputError, match="odd"), list_skipped(tmp_path / "out.parquet"):
        raise InputError("odd")
    assert len(list(tmp_path.iterdir())) == 1
    with list_skipped(tmp_path / "out.parquet"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_advice_is_that_of_python() -> None:
    assert str(BadRowsError("2 rows.")) == "2 rows. Correct them, or leave them out with on_error='skip'."
    with pytest.raises(InputError, match="on_error='stop' is not an option: choose 'raise' or 'skip'"):
        check_on_error("stop")
