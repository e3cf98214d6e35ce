import pytest
import torch
from torch_geometric.nn import SSReadAggregation


@pytest.mark.parametrize('aggr', ['sum', 'mean', 'max', 'std', 'softmax'])
def test_ssread_aggregation(aggr):
    x = torch.randn(6, 16)
    index = torch.tensor([0, 0, 1, 1, 1, 3])
    ptr = torch.tensor([0, 2, 5, 5, 6])

    aggr = SSReadAggregation(16, num_positions=4, aggr=aggr)
    aggr.reset_parameters()
    assert str(aggr) == (f'SSReadAggregation(16, num_positions=4, '
                         f'aggr={aggr.aggr})')

    out = aggr(x, index)
    assert out.size() == (4, 64)
    assert out[2].abs().max() == 0  # The third set has no elements.
    assert torch.allclose(out, aggr(x, ptr=ptr))

    perm = torch.randperm(x.size(0))
    assert torch.allclose(out, aggr(x[perm], index[perm]), atol=1e-6)


def test_ssread_aggregation_positions():
    x = torch.randn(6, 16)
    index = torch.tensor([0, 0, 1, 1, 1, 3])

    aggr = SSReadAggregation(16, num_positions=4)
    position = aggr.align(x)
    expected = torch.zeros(4, 4, 16)
    for i in range(x.size(0)):
        expected[index[i], position[i]] += x[i]
    assert torch.allclose(aggr(x, index), expected.view(4, 64), atol=1e-6)

    aggr = SSReadAggregation(16, num_positions=1)
    assert torch.allclose(aggr(x, index)[0], x[:2].sum(dim=0), atol=1e-6)


def test_ssread_aggregation_alignment_loss():
    x = torch.randn(6, 16, requires_grad=True)
    index = torch.tensor([0, 0, 1, 1, 1, 3])

    aggr = SSReadAggregation(16, num_positions=4)
    out, loss = aggr(x, index, return_alignment_loss=True)

    # The alignment loss reaches the prototypes only:
    loss.backward()
    assert x.grad is None
    assert aggr.prototypes.grad.abs().max() > 0

    # The output reaches the elements only:
    aggr.prototypes.grad = None
    out.sum().backward()
    assert torch.allclose(x.grad, torch.ones_like(x))
    assert aggr.prototypes.grad is None
