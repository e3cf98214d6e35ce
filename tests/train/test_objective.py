import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.train.objective import balanced_weights, mean


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_balanced_weights_give_every_class_that_occurs_the_same_total(labels):
    y = torch.tensor(labels)
    weights = balanced_weights(y, 6)
    totals = torch.zeros(6).index_add(0, y, weights[y])
    occurring = y.unique()
    torch.testing.assert_close(totals[occurring], torch.full((len(occurring),), len(y) / len(occurring)))
    assert float(weights[y].mean()) == pytest.approx(1, rel=1e-5)
    assert weights[5] == 0


def test_padding_does_not_count_in_a_mean():
    values = torch.tensor([1.0, 3.0, 100.0])
    assert mean(values, torch.tensor([1.0, 1.0, 0.0])) == mean(values[:2], None) == 2


def test_the_mean_over_padding_alone_is_0():
    assert mean(torch.tensor([5.0]), torch.zeros(1)) == 0
