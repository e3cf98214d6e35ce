"""Features of whole graphs in a model: what is standardised how, and what a wild or a missing value does."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.errors import InputError
from ssread.models import make_model
from ssread.models.graph_features import LARGEST, GraphFeatures, center_and_spread

NUMBERS = st.one_of(st.floats(width=32), st.just(float("nan")))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20))
def test_whatever_the_features_the_model_sees_small_finite_numbers(rows):
    values = torch.tensor(rows)
    values[values.isinf()] = torch.nan  # a GraphSet has none
    layer = GraphFeatures(2, 3, 4)
    center, spread = center_and_spread(values)
    layer.center.copy_(center)
    layer.spread.copy_(spread)
    seen = layer.standardised(values)
    assert seen.abs().max() <= LARGEST
    assert (seen[values.isnan()] == 0).all()
    assert layer(values).isfinite().all()


def test_known_values_have_mean_0_and_deviation_1():
    values = torch.tensor([[1.0, 1e20], [2.0, 2e20], [6.0, 3e20], [torch.nan, torch.nan]])
    layer = GraphFeatures(2, 1, 4)
    layer.center[:], layer.spread[:] = center_and_spread(values)
    seen = layer.standardised(values)
    torch.testing.assert_close(seen[:3].mean(dim=0), torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(seen[:3].square().mean(dim=0), torch.ones(2))
    assert not seen[3].any()


def test_a_model_says_which_features_it_needs():
    model = make_model("gcn", 3, 2, graph_channels=4).eval()
    x, edge_index = torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(InputError, match="built for 4 features of whole graphs, but graph_attr is missing"):
        model(x, edge_index)
    with pytest.raises(InputError, match="graph_attr has 5"):
        model(x, edge_index, graph_attr=torch.ones(1, 5))
    with pytest.raises(InputError, match=r"graph_attr has the shape \[2, 4\], but there are 1 graphs"):
        model(x, edge_index, graph_attr=torch.ones(2, 4))
    assert model(x, edge_index, graph_attr=torch.ones(1, 4)).shape == (1, 2)
    assert make_model(**model.hyperparameters).graph_features.channels == 4
