import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import load
from ssread.errors import InputError
from ssread.models import model_for
from ssread.train.infograph import InfoGraph, jensen_shannon_loss


def slow_loss(nodes, graphs, index):
    """The original's estimator pair by pair: E_neg - E_pos."""
    positive = [math.log(2) - F.softplus(-n @ graphs[g]).item() for n, g in zip(nodes, index.tolist(), strict=True)]
    negative = [
        F.softplus(-n @ other).item() + (n @ other).item() - math.log(2)
        for n, g in zip(nodes, index.tolist(), strict=True)
        for number, other in enumerate(graphs)
        if number != g
    ]
    return sum(negative) / len(negative) - sum(positive) / len(positive)


@given(st.integers(2, 5), st.integers(1, 12), st.integers(0, 2**32))
def test_equals_the_estimator_pair_by_pair_and_keeps_its_bound(num_graphs, num_nodes, seed):
    torch.manual_seed(seed)
    nodes, graphs = torch.randn(num_nodes, 3, dtype=torch.float64), torch.randn(num_graphs, 3, dtype=torch.float64)
    index = torch.randint(num_graphs, (num_nodes,))
    loss = jensen_shannon_loss(nodes, graphs, index)
    assert loss.item() == pytest.approx(slow_loss(nodes, graphs, index))
    assert loss.item() >= -2 * math.log(2)


def test_small_cases_by_hand():
    index = torch.tensor([0, 0, 1])
    assert jensen_shannon_loss(torch.zeros(3, 2), torch.ones(2, 2), index).item() == pytest.approx(0)
    axes = 40 * torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
    assert jensen_shannon_loss(axes[index], axes, index).item() == pytest.approx(-2 * math.log(2)), "all told apart"


@given(st.integers(0, 2**32))
def test_padding_counts_nowhere(seed):
    torch.manual_seed(seed)
    nodes, graphs, index = torch.randn(7, 3), torch.randn(3, 3), torch.randint(3, (7,))
    padded = jensen_shannon_loss(
        torch.cat([nodes, torch.randn(4, 3)]),
        torch.cat([graphs, torch.randn(2, 3)]),
        torch.cat([index, torch.full((4,), 5)]),
        torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0]),
    )
    torch.testing.assert_close(padded, jensen_shannon_loss(nodes, graphs, index))


def test_a_batch_of_one_graph_gets_a_sentence():
    with pytest.raises(InputError, match="A batch of one graph has no negatives"):
        jensen_shannon_loss(torch.ones(2, 2), torch.ones(1, 2), torch.zeros(2, dtype=torch.long))


def test_nodes_keep_the_outputs_of_all_layers_where_asked():
    graphs = load("planted", num_graphs=6, seed=0)
    model = model_for(graphs, name="gin", hidden_channels=8, num_layers=3, dropout=0.0, jumping=True)
    assert model.encoder.out_channels == 24
    encoding = model.encoder(graphs.batch(slice(None)))
    assert encoding.x.size(1) == 24
    last = model_for(graphs, name="gin", hidden_channels=8, num_layers=3, dropout=0.0)
    last.encoder.load_state_dict(model.encoder.state_dict())
    torch.testing.assert_close(encoding.x[:, 16:], last.encoder.train()(graphs.batch(slice(None))).x)
    assert InfoGraph(model).local.shortcut.in_features == 24
