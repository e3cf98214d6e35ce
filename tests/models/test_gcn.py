import torch
from helpers.small_graphs import EDGE_FEATURES, FEATURES, random_batch
from torch_geometric.nn import GCNConv

from ssread.models.gcn import GCN, EdgeAwareGCNConv
from ssread.models.graphs import Graphs


def degrees(graphs: Graphs) -> torch.Tensor:
    return torch.bincount(graphs.target, minlength=graphs.num_nodes).add(1).to(graphs.x.dtype).unsqueeze(1)


def test_the_layer_equals_the_formula_node_by_node():
    graphs = Graphs.of(*random_batch())
    conv = EdgeAwareGCNConv(4, EDGE_FEATURES).double()
    h = torch.randn(graphs.num_nodes, 4, dtype=torch.float64)
    x, d = conv.lin(h), degrees(graphs)
    expected = (x + conv.root).relu() / d
    for edge, (j, i) in enumerate(graphs.edge_index.T.tolist()):
        e = conv.messages.edge(graphs.edge_attr[edge])
        expected[i] = expected[i] + (x[j] + e).relu() / (d[i] * d[j]).sqrt()
    torch.testing.assert_close(conv(h, graphs), expected)


def test_an_encoder_before_the_layer_is_part_of_its_product():
    graphs = Graphs.of(*random_batch())
    conv, encoder = EdgeAwareGCNConv(4, EDGE_FEATURES).double(), torch.nn.Linear(FEATURES, 4).double()
    together, apart = conv(graphs.x, graphs, encoder), conv(encoder(graphs.x), graphs)
    torch.testing.assert_close(together, apart)
    upstream, weights = torch.randn_like(apart), [*conv.parameters(), *encoder.parameters()]
    for one, other in zip(*(torch.autograd.grad(h, weights, upstream) for h in (together, apart)), strict=True):
        torch.testing.assert_close(one, other)


def test_without_the_relu_the_layer_equals_pygs():
    # With positive vectors and no edge or root vectors the relu does nothing, which leaves Equation 1.
    graphs = Graphs.of(*random_batch())
    ours, pygs = EdgeAwareGCNConv(4).double(), GCNConv(4, 4, bias=False).double()
    with torch.no_grad():
        ours.lin.weight.copy_(ours.lin.weight.abs())
        for parameter in (ours.lin.bias, ours.root, ours.messages.constant):
            parameter.zero_()
        pygs.lin.weight.copy_(ours.lin.weight)
    h = torch.rand(graphs.num_nodes, 4, dtype=torch.float64)
    torch.testing.assert_close(ours(h, graphs), pygs(h, graphs.edge_index))


def test_constant_edge_features_equal_the_learnt_constant():
    batch = random_batch()
    ones = torch.ones(batch.edge_index.size(1), 1, dtype=torch.float64)
    without, with_ones = GCN(FEATURES, 8).double().eval(), GCN(FEATURES, 8, edge_channels=1).double().eval()
    state = {key: value for key, value in without.state_dict().items() if "constant" not in key}
    for layer, conv in enumerate(without.convs):
        state[f"convs.{layer}.messages.edge.weight"] = torch.zeros(8, 1)
        state[f"convs.{layer}.messages.edge.bias"] = conv.messages.constant
    with_ones.load_state_dict(state)
    torch.testing.assert_close(with_ones(*batch[:3], ones).x, without(*batch[:3]).x)
