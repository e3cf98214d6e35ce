import pytest
import torch
from torch_geometric.nn import aggr as pyg

from ssread.aggregate import Max, Mean, Sum

PAIRS = [(Sum, pyg.SumAggregation), (Max, pyg.MaxAggregation), (Mean, pyg.MeanAggregation)]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize(("shape", "dim"), [((10, 4), -2), ((2, 10, 4), -2), ((10, 2, 4), 0)])
def test_agrees_with_pyg(ours, theirs, shape, dim):
    x, index, ptr = torch.randn(shape), torch.tensor([3, 1] * 5), torch.tensor([0, 4, 4, 10])
    torch.testing.assert_close(ours(4)(x, index, dim_size=5, dim=dim), theirs()(x, index, dim_size=5, dim=dim))
    if len(shape) == 2:  # for more dimensions PyG's ptr needs torch-scatter
        torch.testing.assert_close(ours(4)(x, ptr=ptr), theirs()(x, ptr=ptr))
