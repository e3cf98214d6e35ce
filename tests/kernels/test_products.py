import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import vmap

pytest.importorskip("triton", reason="Triton is not installed")

from ssread.kernels.products import linear

WIDTHS = st.sampled_from([1, 7, 16, 37, 128, 130])


def draw(seed, *shapes, where):
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=g).to(where) for shape in shapes]


@settings(max_examples=8 if torch.cuda.is_available() else 30, deadline=None)  # a GPU compiles for every shape
@given(seed=st.integers(0, 2**20), rows=st.integers(0, 300), entering=WIDTHS, leaving=WIDTHS, bias=st.booleans())
def test_products_and_their_gradients_equal_plain_torch(where, seed, rows, entering, leaving, bias):
    shapes = ((rows, entering), (leaving, entering), (leaving,), (rows, leaving))
    x, weight, b, grad = draw(seed, *shapes, where=where)
    inputs = [x, weight, b] if bias else [x, weight]
    ours = [tensor.clone().requires_grad_() for tensor in inputs]
    theirs = [tensor.double().requires_grad_() for tensor in inputs]
    out, expected = linear(*ours), torch.nn.functional.linear(*theirs)
    out.backward(grad)
    expected.backward(grad.double())
    torch.testing.assert_close(out.double(), expected, atol=1e-4, rtol=1e-5)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one.grad.double(), other.grad, atol=2e-4, rtol=1e-5)


def test_a_stack_equals_single_calls(where):
    x, weight, b = draw(0, (3, 50, 20), (3, 24, 20), (3, 24), where=where)
    together = vmap(linear)(x, weight, b)
    shared = vmap(linear, (None, 0, None))(x[0], weight, b[0])
    for i in range(3):
        assert torch.equal(together[i], linear(x[i], weight[i], b[i]))
        assert torch.equal(shared[i], linear(x[0], weight[i], b[0]))


def test_nan_stays_in_its_row(where):
    x, weight = draw(0, (100, 20), (24, 20), where=where)
    x[70, 3] = float("nan")
    out = linear(x, weight)
    assert out[70].isnan().all()
    assert not torch.cat([out[:70], out[71:]]).isnan().any()


def test_as_exact_as_torchs_float32(where):
    """In Triton's interpreter it is a plain float32 product, on a GPU the sum of three in TF32."""
    x, weight = draw(0, (1000, 128), (128, 128), where=where)
    exact = x.double() @ weight.double().T
    ours, torchs = ((y - exact).abs().max() for y in (linear(x, weight), x @ weight.T))
    assert ours < 2 * torchs
