import pytest
import torch
from helpers.small_graphs import FEATURES, random_batch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import SAGEConv as PyGSAGEConv
from torch_geometric.nn import dense_diff_pool
from torch_geometric.utils import to_dense_adj, to_dense_batch

from ssread import InputError
from ssread.models.diffpool import DiffPool, SAGEConv, diff_pool, num_clusters
from ssread.models.graphs import Graphs

sizes = st.lists(st.integers(0, 8), min_size=1, max_size=5).map(tuple)


def test_the_layer_equals_pygs():
    graphs = Graphs.of(*random_batch())
    degree = torch.bincount(graphs.target, minlength=graphs.num_nodes).clamp(min=1).double().unsqueeze(1)
    ours, pygs = SAGEConv(FEATURES, 3).double(), PyGSAGEConv(FEATURES, 3).double()
    pygs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(graphs.x, graphs, degree), pygs(graphs.x, graphs.edge_index))


@given(sizes, st.integers(1, 4), st.integers(0, 2**31))
def test_equals_pygs_dense_pooling_graph_by_graph(sizes, clusters, seed):
    torch.manual_seed(seed)
    batch = random_batch(sizes)
    some = torch.rand(batch.edge_index.size(1)) < 0.7  # also edges in one direction only
    graphs = Graphs.of(batch.x, batch.edge_index[:, some], batch.batch, batch_size=len(sizes))
    logits = torch.randn(graphs.num_nodes, clusters, dtype=torch.float64)
    pooled = diff_pool(graphs.x, logits, graphs)
    for graph, size in enumerate(sizes):
        mine = graphs.batch == graph
        edges = graphs.edge_index[:, mine[graphs.source]] - (mine.nonzero()[0] if size else 0)
        adjacency = torch.zeros(size, size, dtype=torch.float64)
        adjacency[edges[0], edges[1]] = 1
        if size == 0:
            assert all((part[graph] == 0).all() for part in pooled[:-1])  # the last is per node
            continue
        x, adj, link, entropy = dense_diff_pool(graphs.x[mine], adjacency, logits[mine])
        torch.testing.assert_close(pooled.x[graph], x[0])
        torch.testing.assert_close(pooled.adjacency[graph], adj[0])
        torch.testing.assert_close(pooled.link_loss[graph], link, rtol=1e-6, atol=1e-9)
        torch.testing.assert_close(pooled.entropy_loss[graph], entropy)


def test_equals_pygs_dense_pooling_of_the_whole_batch():
    graphs = Graphs.of(*random_batch((6, 1, 9, 3)))
    logits = torch.randn(graphs.num_nodes, 3, dtype=torch.float64)
    x, mask = to_dense_batch(graphs.x, graphs.batch)
    s, _ = to_dense_batch(logits, graphs.batch)
    adjacency = to_dense_adj(graphs.edge_index, graphs.batch).double()
    pooled = diff_pool(graphs.x, logits, graphs)
    expected_x, expected_adjacency, link, _ = dense_diff_pool(x, adjacency, s, mask)
    torch.testing.assert_close(pooled.x, expected_x)
    torch.testing.assert_close(pooled.adjacency, expected_adjacency)
    # PyG takes one norm over the whole batch and divides by its padded size; ours are one per graph.
    nodes = torch.tensor([6.0, 1.0, 9.0, 3.0], dtype=torch.float64)
    torch.testing.assert_close((pooled.link_loss * nodes.square()).square().sum().sqrt() / adjacency.numel(), link)


def test_gradients():
    graphs = Graphs.of(*random_batch((4, 0, 1, 3)))
    logits = torch.randn(graphs.num_nodes, 2, dtype=torch.float64, requires_grad=True)
    x = graphs.x.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, logits: tuple(diff_pool(x, logits, graphs)), (x, logits))


def test_hard_clusters_that_explain_every_edge_cost_nothing():
    # Two nodes, each with a self-loop, each in its own cluster: A = S S^T, where the norm has no gradient.
    graphs = Graphs.of(torch.ones(2, 1), torch.tensor([[0, 1], [0, 1]]))
    logits = torch.tensor([[200.0, -200.0], [-200.0, 200.0]], requires_grad=True)
    pooled = diff_pool(graphs.x, logits, graphs)
    assert pooled.link_loss.item() == 0
    (pooled.link_loss + pooled.entropy_loss).sum().backward()
    assert logits.grad.isfinite().all()


def test_a_large_graph_among_small_ones_needs_no_square_matrix():
    # 20,000 nodes: an N x N matrix would take 1.6 GB, padding all graphs to the largest 100 times what is needed.
    nodes = torch.tensor([20_000] + [10] * 100)
    batch = torch.arange(101).repeat_interleave(nodes)
    ring = torch.arange(len(batch))
    graphs = Graphs.of(torch.randn(len(batch), FEATURES), torch.stack([ring, ring]), batch, batch_size=101)
    encoding = DiffPool(FEATURES, 8, num_clusters=4)(graphs)
    assert encoding.x.shape == (101 * 4, 8)
    assert encoding.x.isfinite().all()


def test_clusters_of_a_dataset():
    assert [num_clusters(n) for n in (0, 1, 10, 11, 28, 111, 620, 5748)] == [1, 1, 1, 2, 3, 12, 62, 100]
    with pytest.raises(InputError, match="num_clusters of 1 or more"):
        DiffPool(FEATURES, num_clusters=0)
