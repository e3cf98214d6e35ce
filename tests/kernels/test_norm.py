import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import vmap

pytest.importorskip("triton", reason="Triton is not installed")

from ssread.kernels import stacking
from ssread.kernels.norm import norm_relu_dropout

EPS = 1e-5


def plain(x, mask, weight, bias, relu):
    rows = mask.sum().clamp(min=1)
    mean = (x * mask[:, None]).sum(dim=0) / rows
    squares = ((x - mean).square() * mask[:, None]).sum(dim=0)
    y = (x - mean) / (squares / rows + EPS).sqrt() * weight + bias
    return y.relu() if relu else y, mean, squares / (rows - 1).clamp(min=1)


def arguments(seed, rows, real, d, where, dtype=torch.float32):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, d, generator=g) * 3 + 100 * torch.randn(d, generator=g)
    mask = (torch.arange(rows) < real).float()
    parts = (x, mask, torch.randn(d, generator=g), torch.randn(d, generator=g), torch.randn(rows, d, generator=g))
    x, mask, weight, bias, grad = (part.to(where, dtype) for part in parts)
    return x.requires_grad_(), mask, weight.requires_grad_(), bias.requires_grad_(), grad


@settings(max_examples=8 if torch.cuda.is_available() else 25, deadline=None)  # a GPU compiles for every shape
@given(
    seed=st.integers(0, 2**20),
    rows=st.integers(0, 150),
    padding=st.integers(0, 10),
    d=st.sampled_from([1, 3, 16, 128, 200]),
    relu=st.booleans(),
    many=st.sampled_from([0, stacking.MANY]),
)
def test_values_statistics_and_gradients_equal_plain_torch(where, seed, rows, padding, d, relu, many):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stacking, "MANY", many)  # many tiles per program, or one
        compare_with_plain(where, seed, rows, padding, d, relu)


def compare_with_plain(where, seed, rows, padding, d, relu):
    real = max(rows - padding, 0)
    x, mask, weight, bias, grad = arguments(seed, rows, real, d, where)
    y, mean, unbiased = norm_relu_dropout(x, mask, weight, bias, EPS, relu, 0.0)
    y.backward(grad)
    x2, mask2, weight2, bias2, grad2 = arguments(seed, rows, real, d, where, torch.float64)
    y2, mean2, unbiased2 = plain(x2, mask2, weight2, bias2, relu)
    y2.backward(grad2)
    far = (y2.detach().abs() > 1e-3) | (not relu)  # rounding may put an entry on either side of a relu
    torch.testing.assert_close(y.double(), y2, atol=3e-3, rtol=1e-3)
    torch.testing.assert_close((mean.double(), unbiased.double()), (mean2, unbiased2), atol=1e-3, rtol=1e-3)
    if bool(far.all()) and real > 1:
        torch.testing.assert_close(x.grad.double(), x2.grad, atol=1e-2, rtol=1e-2)
        torch.testing.assert_close(weight.grad.double(), weight2.grad, atol=2e-2, rtol=1e-2)
        torch.testing.assert_close(bias.grad.double(), bias2.grad, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("relu", [True, False])
def test_dropout_drops_its_share_and_the_same_entries_backward(where, relu):
    torch.manual_seed(0)
    x, mask, weight, bias, grad = arguments(0, 300, 300, 32, where)
    y, _, _ = norm_relu_dropout(x, mask, weight, bias, EPS, relu, 0.3)
    plain, _, _ = norm_relu_dropout(x.detach(), mask, weight.detach(), bias.detach(), EPS, relu, 0.0)
    kept = (y != 0) | (plain == 0)
    assert abs(1 - kept[plain != 0].float().mean().item() - 0.3) < 0.03
    torch.testing.assert_close(y[kept], plain[kept] / 0.7)
    y.backward(grad)
    direct = torch.where((y != 0) & kept, grad / 0.7, 0)
    torch.testing.assert_close(bias.grad, direct.sum(dim=0), atol=1e-3, rtol=1e-3)


def test_a_stack_equals_single_calls_and_every_model_has_its_own_dropout(where):
    stacks = [torch.stack(part) for part in zip(*(arguments(s, 40, 30, 8, where)[:4] for s in range(3)), strict=True)]
    out = vmap(lambda *a: norm_relu_dropout(*a, EPS, True, 0.0)[0])(*stacks)
    for i in range(3):
        assert torch.equal(out[i], norm_relu_dropout(*(part[i] for part in stacks), EPS, True, 0.0)[0])
    same = [part[:1].expand(3, *part.shape[1:]) for part in stacks]
    dropped = vmap(lambda *a: norm_relu_dropout(*a, EPS, False, 0.5)[0], randomness="different")(*same)
    assert not torch.equal(dropped[0] == 0, dropped[1] == 0)
