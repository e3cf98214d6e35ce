import pytest
import torch
from torch_geometric.nn import aggr as pyg

from ssread import GlobalReadout, InputError
from ssread.aggregate import NAMES


@pytest.mark.parametrize("aggr", NAMES)
def test_is_the_aggregation_of_all_nodes(aggr):
    readout, index = GlobalReadout(4, aggr), torch.tensor([0, 2, 0, 2, 2])
    for x in (torch.randn(5, 4), torch.randn(2, 5, 4)):
        out = readout(x, index, dim_size=4)
        assert torch.equal(out, readout.aggr(x, index, dim_size=4))
        assert torch.equal(out, readout.read(x, index, dim_size=4).vectors)


def test_agrees_with_pyg():
    x, index = torch.randn(2, 3, 7, 4), torch.arange(7) % 2
    torch.testing.assert_close(GlobalReadout(4)(x, index, dim_size=3), pyg.SumAggregation()(x, index, dim_size=3))


def test_reset_parameters_draws_new_ones():
    readout, x = GlobalReadout(4, "set2set"), torch.randn(5, 4)
    before = readout(x)
    readout.reset_parameters()
    assert not torch.equal(readout(x), before)


def test_repr():
    assert repr(GlobalReadout(16, ["max", "mean"])) == "GlobalReadout(16, aggr=Max(16, 16) + Mean(16, 16))"
    assert repr(GlobalReadout(16, pyg.MedianAggregation())) == "GlobalReadout(16, aggr=MedianAggregation())"


def test_wrong_arguments_get_a_sentence():
    with pytest.raises(InputError, match="in_channels must be 1 or more, but 0 was given"):
        GlobalReadout(0)
    with pytest.raises(InputError, match="no aggregation 'average'"):
        GlobalReadout(4, "average")
