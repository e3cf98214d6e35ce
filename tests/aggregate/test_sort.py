import torch
from helpers.aggregations import grid
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import aggr as pyg

from ssread.aggregate import Sort


@given(st.integers(0, 8), st.integers(1, Sort.CHANNELS_COMPARED), st.integers(1, 6), st.integers(0, 2**31))
def test_order_is_lexicographic_from_the_last_channel(nodes, channels, k, seed):
    x, index = grid(seed, nodes, channels), torch.arange(nodes) % 2
    out = Sort(channels, k=k).sort(x, index, 3)
    for group in range(3):
        rows = sorted((row[::-1] for row in x[index == group].tolist()), reverse=True)
        expected = [row[::-1] for row in rows] + [[0.0] * channels] * k
        assert out[group].tolist() == expected[:k]


@given(st.integers(1, 9), st.integers(0, 2**31))
def test_order_of_wide_vectors_is_exactly_the_same_for_every_order_of_nodes(nodes, seed):
    x = grid(seed, nodes, 12)
    x[:, -Sort.CHANNELS_COMPARED :] = 0  # every tie goes past the channels compared one by one
    order = torch.randperm(nodes, generator=torch.Generator().manual_seed(seed))
    index = torch.zeros(nodes, dtype=torch.long)
    sort = Sort(12, k=5)
    assert torch.equal(sort.sort(x, index, 1), sort.sort(x[order], index, 1))


def test_order_agrees_with_pyg():
    x, index = torch.randn(20, 6), torch.arange(20) // 7
    expected = pyg.SortAggregation(k=8)(x, index).view(3, 8, 6)
    torch.testing.assert_close(Sort(6, k=8).sort(x, index, 3), expected)


def test_output_is_a_convolution_along_the_sorted_nodes():
    phi, x, index = Sort(6, k=8), torch.randn(20, 6), torch.arange(20) // 7
    expected = phi.convolution(phi.sort(x, index, 3).transpose(1, 2)).flatten(1)
    torch.testing.assert_close(phi(x, index, dim_size=3), expected)
