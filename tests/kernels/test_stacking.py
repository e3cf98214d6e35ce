"""The vmap rule of all kernels: a stack of calls becomes one call, and its output a stack again."""

from typing import ClassVar

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.func import vmap

from ssread.kernels import stacking
from ssread.kernels.stacking import fold, power_of_2, tiles_of, unfold


class RowSums(torch.autograd.Function):
    """A stacked operation like those of the kernels: [R, N, d] and a factor [R, d] to sums [R, d]."""

    calls: ClassVar[list[tuple[int, ...]]] = []

    @staticmethod
    def forward(x, factor, power):
        RowSums.calls.append(tuple(x.shape))
        return (x.pow(power) * factor.unsqueeze(1)).sum(dim=1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, *inputs):
        return unfold(info.batch_size, RowSums.apply(*fold(info.batch_size, in_dims, inputs))), 0


@given(
    batch_size=st.integers(1, 4),
    stack=st.integers(1, 3),
    x_dim=st.sampled_from([None, 0, 1, 2, 3]),
    factor_dim=st.sampled_from([None, 0, 1, 2]),
    seed=st.integers(0, 2**20),
)
def test_one_call_for_the_stack_equals_a_call_for_each(batch_size, stack, x_dim, factor_dim, seed):
    torch.manual_seed(seed)
    xs, factors = torch.randn(batch_size, stack, 5, 2), torch.randn(batch_size, stack, 2)
    if x_dim is None and factor_dim is None:
        x_dim = 0
    x = xs[0] if x_dim is None else xs.movedim(0, x_dim)
    factor = factors[0] if factor_dim is None else factors.movedim(0, factor_dim)
    RowSums.calls.clear()
    together = vmap(lambda x, factor: RowSums.apply(x, factor, 2), in_dims=(x_dim, factor_dim))(x, factor)
    assert RowSums.calls == [(batch_size * stack, 5, 2)]
    for i in range(batch_size):
        alone = RowSums.apply(xs[0 if x_dim is None else i], factors[0 if factor_dim is None else i], 2)
        assert torch.equal(together[i], alone)


@given(st.integers(1, 2**20))
def test_the_power_of_two_is_the_smallest_that_suffices(number):
    power = power_of_2(number)
    assert power // 2 < number <= power
    assert power.bit_count() == 1


def test_programs_share_tiles_only_where_there_are_many():
    assert [tiles_of(programs) for programs in (1, stacking.MANY, stacking.MANY + 1)] == [1, 1, stacking.TILES]
