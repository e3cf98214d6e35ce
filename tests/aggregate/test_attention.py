import torch
from torch_geometric.nn import aggr as pyg

from ssread.aggregate import Attention


def test_agrees_with_pyg():
    ours = Attention(4)
    x, index = torch.randn(10, 4), torch.tensor([0, 1] * 5)
    expected = pyg.AttentionalAggregation(ours.gate)(x, index, dim_size=3)
    torch.testing.assert_close(ours(x, index, dim_size=3), expected)
