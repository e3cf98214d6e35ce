import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import load
from ssread.errors import InputError
from ssread.models import model_for
from ssread.train.graphcl import GraphCL, contrastive_loss

vectors = st.tuples(st.integers(2, 7), st.integers(1, 5), st.integers(0, 2**32))


def slow_loss(one, other, temperature):
    """Equation 8 term by term, both directions."""

    def cosine(a, b):
        return float(a @ b / (a.norm() * b.norm()))

    losses = []
    for i in range(len(one)):
        terms = []
        for a, b in ((one, other), (other, one)):
            positive = math.exp(cosine(a[i], b[i]) / temperature)
            negatives = sum(math.exp(cosine(a[i], b[j]) / temperature) for j in range(len(one)) if j != i)
            terms.append(-math.log(positive / negatives))
        losses.append(sum(terms) / 2)
    return losses


@given(vectors, st.floats(0.1, 2))
def test_equals_equation_8_term_by_term_and_keeps_its_bounds(sizes, temperature):
    count, width, seed = sizes
    torch.manual_seed(seed)
    one, other = torch.randn(2, count, width, dtype=torch.float64)
    loss = contrastive_loss(one, other, temperature)
    assert loss.tolist() == pytest.approx(slow_loss(one, other, temperature))
    assert (loss - math.log(count - 1)).abs().max() <= 2 / temperature + 1e-9


def test_small_cases_by_hand():
    axes = torch.eye(3)
    assert contrastive_loss(axes, axes, 0.5).tolist() == pytest.approx([math.log(2) - 2] * 3)
    assert contrastive_loss(axes, -axes, 0.5).tolist() == pytest.approx([math.log(2) + 2] * 3)
    same = torch.ones(4, 2)
    assert contrastive_loss(same, same).tolist() == pytest.approx([math.log(3)] * 4)


@given(vectors)
def test_padding_is_nobodys_negative(sizes):
    count, width, seed = sizes
    torch.manual_seed(seed)
    one, other = torch.randn(2, count, width)
    real = torch.tensor([1.0] * count + [0.0] * 2)
    padded = [torch.cat([part, torch.randn(2, width)]) for part in (one, other)]
    torch.testing.assert_close(contrastive_loss(*padded, real=real)[:count], contrastive_loss(one, other))


def test_a_batch_of_one_graph_gets_a_sentence():
    with pytest.raises(InputError, match="A batch of one graph has no negatives"):
        contrastive_loss(torch.ones(1, 2), torch.ones(1, 2))


def test_views_are_aligned_too_and_prototypes_learn_from_nothing_else():
    graphs = load("planted", num_graphs=12, seed=0)
    batch = graphs.batch(slice(None))
    model = model_for(graphs, name="gin", hidden_channels=8, num_layers=2, dropout=0.0, num_positions=3)
    same = GraphCL(model, augmentations=["identity"])
    contrast, alignment = same(None, None, batch)
    assert alignment.item() == pytest.approx(model.run(batch).alignment_loss().item(), rel=1e-4)
    contrast.backward(retain_graph=True)
    assert model.readout.prototypes.grad is None or not model.readout.prototypes.grad.any()
    alignment.backward()
    assert model.readout.prototypes.grad.any()
    _, moved = GraphCL(model, augmentations=["nodes"], ratio=0.9)(None, None, batch)
    assert moved < 0.5 * alignment, "dropped nodes cost nothing"
