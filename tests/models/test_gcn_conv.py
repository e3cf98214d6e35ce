import torch
from helpers.small_graphs import random_batch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv as PyGGCNConv
from torch_geometric.utils import subgraph

from ssread.models.gcn_conv import GCNConv, propagation
from ssread.models.graphs import Graphs


def pair() -> tuple[GCNConv, PyGGCNConv]:
    ours, pygs = GCNConv(5, 3).double(), PyGGCNConv(5, 3).double()
    torch.nn.init.normal_(ours.bias)
    pygs.load_state_dict(ours.state_dict())
    return ours, pygs


def test_the_layer_equals_pygs_also_with_self_loops_in_the_data():
    batch = random_batch()
    loops = torch.tensor([[0, 3], [0, 3]])
    graphs = Graphs.of(batch.x, torch.cat([batch.edge_index, loops], dim=1), batch.batch)
    ours, pygs = pair()
    torch.testing.assert_close(ours(graphs.x, propagation(graphs)), pygs(graphs.x, graphs.edge_index))


@given(st.integers(0, 2**31))
def test_dropped_nodes_do_not_matter(seed):
    torch.manual_seed(seed)
    graphs = Graphs.of(*random_batch())
    kept = torch.rand(graphs.num_nodes) < 0.6
    x = graphs.x.clone()
    x[~kept] = 1e6  # any value
    ours, pygs = pair()
    edges, _ = subgraph(kept, graphs.edge_index, relabel_nodes=True, num_nodes=graphs.num_nodes)
    out = ours(x, propagation(graphs, kept.to(x.dtype)))[kept]
    torch.testing.assert_close(out, pygs(graphs.x[kept], edges))
