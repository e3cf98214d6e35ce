import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import vmap

pytest.importorskip("triton", reason="Triton is not installed")

from ssread import functional, segment
from ssread.kernels.read import align, reduce

SIZES = {"seed": st.integers(0, 2**20), "nodes": st.integers(0, 60), "d": st.sampled_from([1, 3, 16, 40, 160])}


def draw(seed, nodes, d, where):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(nodes, d, generator=g).to(where), g


def unit(P):
    return P / P.norm(dim=-1, keepdim=True)


@settings(max_examples=8 if torch.cuda.is_available() else 30, deadline=None)  # a GPU compiles for every shape
@given(**SIZES, K=st.sampled_from([1, 2, 5, 16, 17]), gamma=st.sampled_from([0.0, 0.01, 0.5]))
def test_positions_costs_and_prototype_gradients_equal_plain_torch(where, seed, nodes, d, K, gamma):
    H, g = draw(seed, nodes, d, where)
    if nodes > 2:
        H[1] = 0  # no direction
    P = torch.randn(K, d, generator=g).to(where)
    grad = torch.randn(nodes, generator=g).to(where)
    ours = P.clone().requires_grad_()
    positions, soft = align(H, unit(ours), gamma)
    soft.backward(grad)
    theirs = P.double().requires_grad_()
    costs = functional.cosine_cost(H.double(), theirs)
    expected = functional.soft_min(costs, gamma)
    expected.backward(grad.double())
    torch.testing.assert_close(soft.double(), expected, atol=1e-5, rtol=1e-5)
    chosen = costs.gather(1, positions.unsqueeze(1)).squeeze(1)
    torch.testing.assert_close(chosen, costs.min(dim=1).values, atol=1e-6, rtol=0)  # among equals either may win
    second = costs.topk(min(2, K), dim=1, largest=False).values
    if gamma > 0 or bool(((second[:, -1] - second[:, 0]) > 1e-5).all()):
        torch.testing.assert_close(ours.grad.double(), theirs.grad, atol=2e-3, rtol=1e-2)


@settings(max_examples=8 if torch.cuda.is_available() else 30, deadline=None)  # a GPU compiles for every shape
@given(
    **SIZES,
    K=st.sampled_from([1, 3, 8]),
    how=st.sampled_from(["sum", "mean", "max"]),
    graphs=st.integers(1, 6),
    behind=st.integers(0, 40),
    share_ignored=st.sampled_from([0, 0.3]),
)
def test_reductions_and_their_gradients_equal_plain_torch(where, seed, nodes, d, K, how, graphs, behind, share_ignored):
    """Rows after those of the last graph, or of no graph, change nothing, and their gradient is zero."""
    x, g = draw(seed, nodes, d, where)
    x = (x * 2).round() / 2 + 0.25  # equal entries, but no zeros: torch would share their gradient with the empty group
    index = torch.randint(graphs, (nodes,), generator=g).sort().values.to(where)
    start = torch.searchsorted(index, torch.arange(graphs + 1, device=where))
    positions = torch.randint(K, (nodes,), generator=g).to(where)
    ignored = (torch.rand(nodes, generator=g) < share_ignored).to(where)
    grad = torch.randn(graphs * K, d, generator=g).to(where)
    more, _ = draw(seed + 1, behind, d, where)
    ours, theirs = torch.cat([x, more]).requires_grad_(), x.double().requires_grad_()
    all_positions = torch.cat([positions, positions.new_zeros(behind)])
    all_graphs = torch.cat([torch.where(ignored, graphs, index), index.new_zeros(behind)])
    out = reduce(ours, start, all_graphs, None if K == 1 else all_positions, K, how)
    out.backward(grad)
    assert not ours.grad[nodes:].any()
    group = torch.where(ignored, graphs * K, index * K + (0 if K == 1 else positions))
    expected = getattr(segment, f"reduce_{how}")(theirs, group, graphs * K + 1)[:-1]
    expected.backward(grad.double())
    torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours.grad[:nodes].double(), theirs.grad, atol=1e-5, rtol=1e-5)


def test_a_stack_equals_single_calls(where):
    H = torch.stack([draw(s, 30, 8, where)[0] for s in range(3)])
    P = unit(torch.stack([draw(9 + s, 4, 8, where)[0] for s in range(3)]))
    start = torch.tensor([0, 10, 10, 30], device=where)
    index = torch.repeat_interleave(start.diff())
    positions, costs = vmap(lambda h, p: align(h, p, 0.01))(H, P)
    sums = vmap(lambda h, k: reduce(h, start, index, k, 4, "mean"))(H, positions)
    for i in range(3):
        one, cost = align(H[i], P[i], 0.01)
        assert torch.equal(positions[i], one)
        assert torch.equal(costs[i], cost)
        assert torch.equal(sums[i], reduce(H[i], start, index, one, 4, "mean"))


@pytest.mark.parametrize("how", ["sum", "mean", "max"])
def test_nan_is_propagated(where, how):
    H, _ = draw(0, 20, 4, where)
    H[3, 1] = float("nan")
    positions, costs = align(H, unit(draw(1, 3, 4, where)[0]), 0.01)
    assert costs[3].isnan()
    assert not costs[4:].isnan().any()
    assert positions.min() >= 0
    assert positions.max() < 3
    start = torch.tensor([0, 10, 20], device=where)
    out = reduce(H, start, torch.repeat_interleave(start.diff()), None, 1, how)
    assert out[0, 1].isnan()
    assert not out[1].isnan().any()
