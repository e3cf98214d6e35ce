import torch
from torch_geometric.nn import aggr as pyg

from ssread.aggregate import Set2Set


def test_agrees_with_pyg():
    ours, theirs = Set2Set(4, processing_steps=3), pyg.Set2Set(4, processing_steps=3)
    theirs.lstm.load_state_dict({f"{name}_l0": value for name, value in ours.cell.state_dict().items()})
    x, index = torch.randn(10, 4), torch.tensor([0, 1] * 5)
    torch.testing.assert_close(ours(x, index, dim_size=2), theirs(x, index, dim_size=2))
