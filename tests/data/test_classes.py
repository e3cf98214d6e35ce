"""Class indices from labels as people write them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ssread.data.classes import encode_classes, is_missing
from ssread.errors import InputError

numbers = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False)


@given(st.lists(st.text() | numbers | st.booleans(), min_size=1, max_size=40))
@example(["", 0.0, -0.0])
def test_equal_labels_share_a_class_and_names_are_unique(labels: list) -> None:
    y, names = encode_classes(labels, "here")
    assert len(set(names)) == len(names) == y.max() + 1
    for label, index in zip(labels, y.tolist(), strict=True):
        assert all(y[n] == index for n, other in enumerate(labels) if other == label and type(other) is type(label))
        if isinstance(label, str) and index and all(isinstance(other, str) for other in labels):
            assert names[index] == label.strip() or float(names[index]) == float(label)


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=40))
def test_numbers_are_ordered_as_numbers_however_they_are_written(labels: list[int]) -> None:
    names = tuple(map(str, sorted(set(labels))))
    for written in (labels, list(map(str, labels)), list(map(float, labels)), [f" {label}.0" for label in labels]):
        y, found = encode_classes(written, "here")
        assert found == names
        assert [int(names[index]) for index in y] == labels


def test_missing_and_strange_labels() -> None:
    assert [label for label in (None, "", " ", "NaN", float("nan"), 0, False, "none") if not is_missing(label)] == [
        0,
        False,
        "none",
    ]
    with pytest.raises(InputError, match="here: labels must be texts or numbers, not dict"):
        encode_classes([{}], "here")
    with pytest.raises(InputError, match="100 different values, such as 0: that is a quantity"):
        encode_classes(range(100), "here")
