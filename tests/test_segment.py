import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.func import grad, vmap

from ssread import segment

REDUCE = {
    segment.reduce_sum: lambda rows: rows.sum(0),
    segment.reduce_mean: lambda rows: rows.mean(0),
    segment.reduce_max: lambda rows: rows.amax(0),
}


@given(st.integers(0, 9), st.integers(1, 4), st.integers(0, 2**31))
def test_groups_are_reduced_one_by_one(rows, groups, seed):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(rows, 3, generator=generator, dtype=torch.float64)
    index = torch.randint(groups, (rows,), generator=generator)
    assert segment.count(index, groups).tolist() == [(index == g).sum() for g in range(groups)]
    for reduce, plain in REDUCE.items():
        out = reduce(values, index, groups)
        for g in range(groups):
            mine = values[index == g]
            torch.testing.assert_close(out[g], plain(mine) if len(mine) else torch.zeros_like(out[g]))
    weights = segment.softmax(values, index, groups)
    for g in range(groups):
        torch.testing.assert_close(weights[index == g], values[index == g].softmax(0))


@pytest.mark.parametrize("reduce", [*REDUCE, segment.softmax])
def test_gradients(reduce):
    index = torch.tensor([2, 0, 0, 2, 2])
    values = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda values: reduce(values, index, 4), (values,))


def test_half_precision_is_summed_in_float32(device):
    ones = torch.ones(1000, 1, dtype=torch.bfloat16, device=device)
    index = torch.zeros(1000, dtype=torch.long, device=device)
    assert segment.reduce_sum(ones, index, 1).item() == 1000  # bfloat16 alone stops counting at 256
    assert segment.reduce_sum(ones, index, 1).dtype == torch.bfloat16


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 2**31))
def test_selected_rows_and_their_gradients_equal_those_of_plain_code(rows, wanted, seed):
    """For one model and for a stack, where some rows are wanted nowhere and some wanted ones are zeros."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(2, rows, 3, generator=generator, dtype=torch.float64)
    at = torch.stack([torch.randperm(rows + wanted, generator=generator)[:wanted].clamp(max=rows) for _ in range(2)])
    back = torch.full((2, rows + 1), wanted)
    back = back.scatter(1, at, torch.arange(wanted).expand(2, -1))[:, :rows]
    weight = torch.randn(2, wanted, 3, generator=generator, dtype=torch.float64)

    def total(values, at, back, weight):
        return (segment.select(values, at, back) * weight).sum()

    gradients = vmap(grad(total))(values, at, back, weight)
    for number in range(2):
        expected = torch.zeros(wanted, 3, dtype=torch.float64)
        of_values = torch.zeros(rows, 3, dtype=torch.float64)
        for row, source in enumerate(at[number].tolist()):
            if source < rows:
                expected[row], of_values[source] = values[number, source], weight[number, row]
        assert torch.equal(segment.select(values[number], at[number], back[number]), expected)
        assert torch.equal(gradients[number], of_values)
    assert torch.equal(vmap(segment.select)(values, at, back)[1], segment.select(values[1], at[1], back[1]))


@given(st.integers(0, 9), st.integers(1, 4), st.integers(0, 2**31))
def test_rows_are_ranked_within_their_group(rows, groups, seed):
    generator = torch.Generator().manual_seed(seed)
    index = torch.randint(groups, (rows,), generator=generator)
    scores = torch.randint(3, (rows,), generator=generator).float()  # with equal ones
    plain, best_first = segment.rank(index, groups), segment.rank(index, groups, by=scores)
    for g in range(groups):
        mine = (index == g).nonzero().squeeze(1).tolist()
        assert [int(plain[n]) for n in mine] == list(range(len(mine)))
        assert sorted(mine, key=lambda n: best_first[n]) == sorted(mine, key=lambda n: -scores[n])


@given(st.integers(0, 40), st.integers(1, 4), st.integers(0, 2**31))
def test_outer_products_group_by_group(rows, groups, seed):
    generator = torch.Generator().manual_seed(seed)
    left = torch.randn(rows, 2, generator=generator, dtype=torch.float64)
    right = torch.randn(rows, 3, generator=generator, dtype=torch.float64)
    index = (torch.randint(groups**2, (rows,), generator=generator).sqrt()).long()  # groups of unequal size
    out = segment.outer(left, right, index, groups)
    for g in range(groups):
        torch.testing.assert_close(out[g], left[index == g].T @ right[index == g])


@pytest.mark.parametrize(("values_dim", "index_dim"), [(0, None), (None, 0), (0, 0)])
def test_vmapped_over_values_or_groups(values_dim, index_dim):
    values, index = torch.randn(3, 8, 2), torch.randint(4, (3, 8))
    one_values, one_index = (
        (lambda r: values[r if values_dim == 0 else 0]),
        (lambda r: index[r if index_dim == 0 else 0]),
    )
    inputs = values if values_dim == 0 else values[0], index if index_dim == 0 else index[0]
    for function in (lambda v, i: segment.reduce_sum(v, i, 4), lambda v, i: segment.take(v[:4], i)):
        together = vmap(function, (values_dim, index_dim))(*inputs)
        torch.testing.assert_close(together, torch.stack([function(one_values(r), one_index(r)) for r in range(3)]))


def test_values_are_concrete_unless_a_transform_or_a_compiler_holds_them():
    x, seen = torch.randn(3), []

    def look(batched: torch.Tensor) -> torch.Tensor:
        seen.append((segment.is_concrete(x), segment.is_concrete(batched), segment.is_concrete(x, None, batched)))
        return batched.sum()

    assert segment.is_concrete(x, None)
    vmap(look)(torch.randn(2, 3))
    grad(look)(x)
    vmap(grad(look))(torch.randn(2, 3))
    assert seen == [(True, False, False)] * 3
    compiled = torch.compile(lambda x: x + segment.is_concrete(x), backend="eager", fullgraph=True)
    assert torch.equal(compiled(x), x)
