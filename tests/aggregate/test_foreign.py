import pytest
import torch
from torch_geometric.nn import MLP
from torch_geometric.nn import aggr as pyg

from ssread.aggregate import Foreign


def test_finds_the_width_and_leaves_the_mode():
    theirs = pyg.DeepSetsAggregation(MLP([4, 8], norm=None), MLP([8, 3], dropout=0.5, norm=None))
    assert Foreign(theirs, 4).out_channels == 3
    assert theirs.training
    assert Foreign(theirs.eval(), 4).out_channels == 3
    assert not theirs.training


def test_unsorted_nodes_and_empty_groups_for_aggregations_that_refuse_them():
    theirs = pyg.LSTMAggregation(4, 5)
    x, index = torch.randn(6, 4), torch.tensor([3, 1, 3, 3, 1, 3])
    with pytest.raises(ValueError, match="not sorted"):
        theirs(x, index, dim_size=5)
    out = Foreign(theirs, 4)(x, index, dim_size=5)
    expected = theirs(x[[1, 4, 0, 2, 3, 5]], torch.tensor([0, 0, 1, 1, 1, 1]))
    torch.testing.assert_close(out, torch.zeros(5, 5).index_copy(0, torch.tensor([1, 3]), expected))
