import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.train.costs import costs, mean_and_scale

CELL = st.sampled_from([0.0, 1.0, math.nan])


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=6), st.booleans(), st.integers(0, 2**31 - 1))
def test_labels_cost_what_a_loop_over_the_known_ones_gives(rows, balanced, seed) -> None:
    generator = torch.Generator().manual_seed(seed)
    y, scores = torch.tensor(rows), torch.randn(len(rows), 3, generator=generator)
    weights = torch.rand(2, 3, generator=generator) if balanced else None
    found = costs("multilabel", scores, y, class_weights=weights)
    for number, row in enumerate(rows):
        total = 0.0
        for column, label in enumerate(row):
            if not math.isnan(label):
                p = float(torch.sigmoid(scores[number, column]))
                weight = 1.0 if weights is None else float(weights[int(label), column])
                total -= weight * math.log(p if label == 1 else 1 - p)
        assert float(found[number]) == pytest.approx(total / 3, abs=1e-5)


def test_unknown_targets_get_no_gradient() -> None:
    for task in ("multilabel", "regression"):
        scores = torch.zeros(2, 2, requires_grad=True)
        y = torch.tensor([[1.0, math.nan], [math.nan, math.nan]])
        costs(task, scores, y, torch.ones(2)).sum().backward()
        assert scores.grad.isfinite().all()
        assert (scores.grad != 0).tolist() == [[True, False], [False, False]]


@given(st.floats(-1e3, 1e3), st.floats(1e-2, 1e3))
def test_the_cost_of_numbers_does_not_depend_on_their_unit(shift, factor) -> None:
    y = torch.tensor([[1.0], [2.0], [4.0]], dtype=torch.float64)
    predicted = y + torch.tensor([[0.1], [-0.2], [0.3]], dtype=torch.float64)
    plain = costs("regression", predicted, y, mean_and_scale(y)[1])
    other = costs("regression", predicted * factor + shift, y * factor + shift, mean_and_scale(y * factor + shift)[1])
    torch.testing.assert_close(plain, other)
