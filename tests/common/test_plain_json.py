"""JSON without NaN, and the canonical form that keys are hashed from."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.common.plain_json import canonical_json, indented_json, without_nan
from ssread.errors import InputError

finite = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
scalars = finite | st.text(max_size=5)


def nested(leaves: st.SearchStrategy) -> st.SearchStrategy:
    return st.recursive(
        leaves, lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=3), part, max_size=4)
    )


@given(nested(scalars))
def test_canonical_json_keeps_the_value(value):
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(max_size=3), nested(scalars), min_size=2, max_size=5), st.randoms())
def test_the_order_of_keys_does_not_matter(value, random):
    items = list(value.items())
    random.shuffle(items)
    assert canonical_json(dict(items)) == canonical_json(value)


@given(st.integers(-(2**53), 2**53), st.lists(finite, max_size=4))
def test_the_spelling_of_numbers_and_lists_does_not_matter(number, values):
    assert canonical_json(number) == canonical_json(float(number)) == canonical_json(np.int64(number))
    assert canonical_json(number) == canonical_json(np.float64(number))
    assert canonical_json(values) == canonical_json(tuple(values))


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {1, 2}])
def test_settings_without_a_canonical_form_are_named(value):
    with pytest.raises(InputError, match=r"Settings must be strings, finite numbers.*'gamma'"):
        canonical_json({"gamma": [value]})


@given(nested(scalars | st.sampled_from([math.nan, math.inf, -math.inf])))
def test_indented_json_is_strict_json_with_null_for_nan(value):
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text = indented_json(value)
    assert text.endswith("\n")
    assert json.loads(text, parse_constant=refuse) == without_nan(value)


@given(nested(scalars))
def test_values_without_nan_stay_as_they_are(value):
    assert without_nan(value) == value
