import pytest
import torch
from helpers.small_graphs import EDGE_FEATURES, random_batch
from torch import nn
from torch_geometric.nn import GINConv as PyGGINConv
from torch_geometric.nn import GINEConv

from ssread.models.gin import GINConv
from ssread.models.graphs import Graphs


def mlp(conv: GINConv) -> nn.Module:
    return nn.Sequential(conv.enter, conv.norm, nn.ReLU(), conv.leave)


@pytest.mark.parametrize("edge_channels", [0, EDGE_FEATURES])
def test_the_layer_equals_pygs(edge_channels):
    graphs = Graphs.of(*random_batch())
    ours = GINConv(4, edge_channels).double().eval()
    nn.init.constant_(ours.epsilon, 0.3)
    pygs = GINEConv(mlp(ours), eps=0.3, edge_dim=edge_channels or 1).double()
    edge_attr = graphs.edge_attr
    if edge_channels:
        pygs.lin.load_state_dict(ours.messages.edge.state_dict())
    else:  # the constant is the weight of a feature that is always 1
        edge_attr = torch.ones(graphs.edge_index.size(1), 1, dtype=torch.float64)
        pygs.lin.load_state_dict({"weight": ours.messages.constant.unsqueeze(1), "bias": torch.zeros(4)})
    h = torch.randn(graphs.num_nodes, 4, dtype=torch.float64)
    torch.testing.assert_close(ours(h, graphs), pygs(h, graphs.edge_index, edge_attr))


def test_without_the_relu_the_layer_equals_pygs_plain_gin():
    graphs = Graphs.of(*random_batch())
    ours = GINConv(4).double().eval()
    nn.init.zeros_(ours.messages.constant)
    h = torch.rand(graphs.num_nodes, 4, dtype=torch.float64)
    pygs = PyGGINConv(mlp(ours))  # draws new weights
    torch.testing.assert_close(ours(h, graphs), pygs(h, graphs.edge_index))
