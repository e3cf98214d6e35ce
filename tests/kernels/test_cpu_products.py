"""Products by oneDNN, tried wherever torch has them, also where they are not the faster way."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from ssread.kernels import cpu_products
from ssread.models.layers import Linear

sizes = st.integers(1, 70)
around_blocks = st.sampled_from([255, 256, 257, 600])


def works() -> bool:
    try:
        return cpu_products.Linear.apply(torch.ones(1, 1), torch.ones(1, 1), None).item() == 1
    except (AttributeError, NotImplementedError, RuntimeError):
        return False


pytestmark = pytest.mark.skipif(not works(), reason="this torch has no products by oneDNN")


@given(sizes | around_blocks, sizes, sizes, st.booleans(), st.integers(0, 2**31))
def test_products_and_gradients_are_those_of_torch(rows, inputs, outputs, with_bias, seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(rows, inputs), (outputs, inputs), (outputs,)][: 3 if with_bias else 2]
    given = [torch.randn(*shape, generator=generator, requires_grad=True) for shape in shapes]
    ours = cpu_products.Linear.apply(*given, *[None] * (not with_bias))
    expected = F.linear(*given)
    torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)
    upstream = torch.randn(ours.shape, generator=generator)
    gradients = (torch.autograd.grad(total, given, upstream) for total in (ours, expected))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_what_is_not_stored_row_by_row():
    x, weight = torch.randn(8, 6).T, torch.randn(8, 3).T
    x.requires_grad_()
    ours = cpu_products.Linear.apply(x, weight, None)
    torch.testing.assert_close(ours, F.linear(x, weight))
    ours.sum().backward()  # the gradient of a sum is one number, expanded
    torch.testing.assert_close(x.grad, weight.sum(dim=0).expand(6, 8))


def test_layers_use_them_where_they_are_faster(monkeypatch):
    layer, x = Linear(5, 4), torch.randn(7, 5)
    monkeypatch.setattr(cpu_products, "_is_faster", lambda: True)
    assert "LinearBackward" in type(layer(x).grad_fn).__name__
    torch.testing.assert_close(layer(x), F.linear(x, layer.weight, layer.bias))
    vmapped = torch.func.vmap(layer)(x.unsqueeze(0)).squeeze(0)
    torch.testing.assert_close(vmapped, layer(x))
    factors = torch.func.vmap(lambda factor: factor * layer(x))(torch.tensor([2.0]))
    torch.testing.assert_close(factors[0], 2 * layer(x))
    assert Linear(5, 4).double()(x.double()).dtype == torch.float64
    assert layer(x[:0]).shape == (0, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16


def test_a_torch_without_them_multiplies_by_itself(monkeypatch):
    def missing(*_):
        raise AttributeError("'_OpNamespace' 'mkldnn' object has no attribute '_linear_pointwise'")

    monkeypatch.setattr(cpu_products, "_product", missing)
    monkeypatch.setattr(cpu_products, "_processor", lambda: "vendor_id : AuthenticAMD")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    cpu_products._is_faster.cache_clear()
    try:
        assert not cpu_products._is_faster()
        assert Linear(5, 4)(torch.randn(7, 5)).shape == (7, 4)
    finally:
        cpu_products._is_faster.cache_clear()
