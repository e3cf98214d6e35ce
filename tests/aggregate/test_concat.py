import torch

from ssread.aggregate import Concat, Max, Set2Set


def test_results_stand_side_by_side():
    largest, attention = Max(4), Set2Set(4)
    both = Concat([largest, attention])
    assert (both.in_channels, both.out_channels) == (4, 12)
    x, index = torch.randn(6, 4), torch.tensor([1, 0, 1, 1, 0, 1])
    expected = torch.cat([largest(x, index, dim_size=3), attention(x, index, dim_size=3)], dim=-1)
    assert torch.equal(both(x, index, dim_size=3), expected)
