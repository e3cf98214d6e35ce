"""Intervals by resampling rows and columns: never outside the values, and as wide as an obvious loop finds them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ssread.errors import InputError
from ssread.evaluate.bootstrap import crossed_interval

TABLES = arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.floats(0, 1))


@given(TABLES)
def test_an_interval_of_scores_between_0_and_1_stays_there(values):
    low, high = crossed_interval(values)
    if np.ptp(values) == 0:
        assert math.isnan(low)
        assert math.isnan(high)
    else:
        assert 0 <= values.min() <= low <= high <= values.max() <= 1


@given(TABLES, st.floats(-1, 1))
def test_it_moves_with_the_values(values, shift):
    moved = crossed_interval(values + shift)
    if np.ptp(values + shift) > 0 and np.ptp(values) > 1e-6:
        assert moved == pytest.approx(np.array(crossed_interval(values)) + shift, abs=1e-9)


def test_it_is_that_of_an_obvious_loop():
    generator = np.random.default_rng(3)
    values = generator.uniform(size=(5, 3))
    values[1, 2] = np.nan
    means = []
    for _ in range(3000):
        rows, columns = generator.integers(5, size=5), generator.integers(3, size=3)
        means.append(np.nanmean([values[row, column] for row in rows for column in columns]))
    assert crossed_interval(values) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.03)


def test_a_wider_level_gives_a_wider_interval_and_the_seed_decides():
    values = np.random.default_rng(0).uniform(size=(6, 4))
    narrow, wide = crossed_interval(values, level=0.5), crossed_interval(values, level=0.99)
    assert wide[0] < narrow[0] < values.mean() < narrow[1] < wide[1]
    assert crossed_interval(values, seed=1) == crossed_interval(values, seed=1) != crossed_interval(values)


def test_one_value_has_no_interval_and_a_list_is_no_table():
    assert np.isnan(crossed_interval([[0.5]])).all()
    assert np.isnan(crossed_interval([[0.5, float("nan")]])).all()
    with pytest.raises(InputError, match=r"\[rows, columns\]; found an array of shape \(2,\)"):
        crossed_interval([0.1, 0.2])
