import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread import InputError
from ssread.functional import align, cosine_cost, distant_directions, soft_min, soft_ssa

sizes = {"nodes": st.integers(0, 5), "positions": st.integers(1, 4), "channels": st.integers(1, 6)}
gammas = st.sampled_from([0.0, 1e-3, 0.01, 0.1, 1.0, 10.0])
seeds = st.integers(0, 2**31)


def draw(seed: int, *shapes: tuple[int, ...], dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]


def all_alignment_costs(cost: torch.Tensor) -> torch.Tensor:
    """The total cost of each of the K^N alignments: Equation 4 by its definition."""
    nodes, positions = cost.shape
    alignments = itertools.product(range(positions), repeat=nodes)
    totals = [sum((cost[n, k] for n, k in enumerate(m)), cost.new_zeros(())) for m in alignments]
    return torch.stack(totals)


@given(**sizes, seed=seeds)
def test_cosine_cost_is_the_cosine_distance(nodes, positions, channels, seed):
    H, P = draw(seed, (nodes, channels), (positions, channels))
    expected = [[1 - torch.dot(h, p) / (h.norm() * p.norm()) for p in P] for h in H]
    torch.testing.assert_close(cosine_cost(H, P), torch.tensor(expected, dtype=H.dtype).view(nodes, positions))


@given(**sizes, seed=seeds, scale=st.sampled_from([1e-15, 1.0, 1e15]), dtype=st.sampled_from(["float32", "bfloat16"]))
def test_cosine_cost_stays_in_range_at_any_scale(nodes, positions, channels, seed, scale, dtype):
    H, P = draw(seed, (nodes, channels), (positions, channels))
    H = torch.cat([H, P, -P])  # the ends of the range are where rounding steps over
    H, P = (H * scale).to(getattr(torch, dtype)), P.to(getattr(torch, dtype))
    cost = cosine_cost(H, P)
    assert cost.dtype == torch.float32
    assert bool(((cost >= 0) & (cost <= 2)).all())
    torch.testing.assert_close(cost, cosine_cost(H.double(), P.double()).float(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_zero_vector_costs_one_with_a_finite_gradient(dtype, device):
    H = torch.zeros(2, 3, dtype=dtype, device=device, requires_grad=True)
    P = torch.stack([torch.zeros(3), torch.ones(3)]).to(device, dtype).requires_grad_()
    cost = cosine_cost(H, P)
    assert cost.tolist() == [[1, 1], [1, 1]]
    cost.sum().backward()
    assert H.grad.abs().max() < 10
    assert P.grad.abs().max() < 10


@given(**sizes, seed=seeds)
def test_align_minimises_the_total_cost_over_all_alignments(nodes, positions, channels, seed):
    H, P = draw(seed, (nodes, channels), (positions, channels))
    cost = cosine_cost(H, P)
    hard = cost.gather(1, align(H, P).unsqueeze(1)).sum()
    torch.testing.assert_close(hard, all_alignment_costs(cost).min())
    torch.testing.assert_close(soft_ssa(H, P, gamma=0.0), hard.view(1))


@given(**sizes, seed=seeds, gamma=gammas)
def test_theorem_2_against_the_sum_over_all_alignments(nodes, positions, channels, seed, gamma):
    H, P = draw(seed, (nodes, channels), (positions, channels))
    expected = soft_min(all_alignment_costs(cosine_cost(H, P)), gamma)
    torch.testing.assert_close(soft_ssa(H, P, gamma), expected.view(1))


@given(
    values=st.lists(st.floats(-100, 100), min_size=1, max_size=6), gamma=st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
)
def test_soft_min_is_equation_5(values, gamma):
    low = min(values)
    expected = low
    if gamma > 0:
        expected = low - gamma * math.log(math.fsum(math.exp((low - v) / gamma) for v in values))
    assert soft_min(torch.tensor(values, dtype=torch.float64), gamma).item() == pytest.approx(expected, abs=1e-9)


@given(
    values=st.lists(st.floats(-(2.0**99), 2.0**99, width=32), min_size=1, max_size=6),
    gamma=st.floats(0, 1e6),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.float64]),
)
def test_soft_min_and_its_gradient_are_stable_for_every_gamma(values, gamma, dtype):
    values = torch.tensor(values).to(dtype).requires_grad_()
    out = soft_min(values, gamma)
    (weights,) = torch.autograd.grad(out, values)
    assert bool(torch.isfinite(out))
    slack = 8 * torch.finfo(dtype).eps * (1 + values.abs().max().item() + gamma)
    assert values.min().item() - gamma * math.log(len(values)) - slack <= out.item() <= values.min().item() + slack
    assert bool((weights >= 0).all())
    assert weights.sum().item() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_far_prototypes_receive_a_real_gradient(dtype, device):
    """At cost 1 and gamma 0.01 the plain formula with its epsilon gives 1e-10; the weights must still sum to one."""
    cost = torch.ones(1, 4, dtype=dtype, device=device, requires_grad=True)
    soft_min(cost, gamma=0.01).sum().backward()
    torch.testing.assert_close(cost.grad.float(), torch.full((1, 4), 0.25, device=device), atol=2e-3, rtol=0)


@given(**sizes, seed=seeds)
def test_soft_ssa_of_a_batch_is_that_of_its_graphs(nodes, positions, channels, seed):
    H, P = draw(seed, (nodes, channels), (positions, channels))
    index = torch.randint(3, (nodes,), generator=torch.Generator().manual_seed(seed))
    batch = soft_ssa(H, P, 0.1, index, dim_size=4)
    assert batch.shape == (4,)
    assert batch[3] == 0
    for graph in range(4):
        torch.testing.assert_close(batch[graph : graph + 1], soft_ssa(H[index == graph], P, 0.1))


def test_gradients_of_the_soft_cost():
    H, P = (t.requires_grad_() for t in draw(0, (5, 3), (4, 3)))
    for gamma in (0.0, 0.05, 1.0):
        assert torch.autograd.gradcheck(lambda H, P, gamma=gamma: soft_ssa(H, P, gamma), (H, P))


@pytest.mark.parametrize("gamma", [-0.1, math.nan])
def test_negative_gamma_is_refused(gamma):
    with pytest.raises(InputError, match="gamma smooths the minimum and must be 0 or more"):
        soft_min(torch.ones(2), gamma)


def test_distant_directions_are_unit_vectors_of_different_clusters():
    corners = torch.eye(4).repeat(5, 1) * torch.rand(20, 1)  # four directions at many lengths
    H = torch.cat([corners, torch.zeros(3, 4)])
    torch.manual_seed(7)
    chosen = distant_directions(H, 4)
    torch.testing.assert_close(chosen.sort(dim=0).values[-1], torch.ones(4, dtype=torch.float64))
    torch.testing.assert_close(chosen.norm(dim=1), torch.ones(4, dtype=torch.float64))
    torch.manual_seed(7)
    assert torch.equal(distant_directions(H, 4), chosen)


def test_too_few_directions_are_refused():
    with pytest.raises(
        InputError, match="3 prototypes need at least as many node vectors that are not zero, but there"
    ):
        distant_directions(torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]), 3)
