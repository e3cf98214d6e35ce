"""The columns of a comparison, as text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.evaluate import compare
from ssread.paper.comparison_columns import HEADINGS, comparison_columns, mean_and_sd

SCORES = st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=2, max_size=2)


@given(SCORES, SCORES)
def test_every_heading_has_a_column_in_percent(before, after):
    comparison = compare(before, after)
    columns = dict(zip(HEADINGS, comparison_columns(comparison), strict=True))
    assert columns["pairs"] == "4"
    assert float(columns["GRead"].split(" ")[0]) == pytest.approx(100 * comparison.baseline.mean, abs=0.0051)
    assert float(columns["SSRead"].split(" ")[0]) == pytest.approx(100 * comparison.candidate.mean, abs=0.0051)
    assert float(columns["difference"]) == pytest.approx(100 * comparison.difference, abs=0.0051)


def test_a_missing_comparison_has_as_many_columns():
    assert comparison_columns(None) == ["-", "missing", "missing", "missing", "-", "-"]
    assert comparison_columns(None, pairs="3 of 8")[0] == "3 of 8"
    assert len(comparison_columns(None)) == len(HEADINGS)


def test_trainings_that_all_failed_say_so():
    failed = compare([[math.nan, math.nan]], [[0.8, 0.8]])
    assert mean_and_sd(failed.baseline) == "failed"
    assert mean_and_sd(failed.candidate) == "80.00 (0.00)"
