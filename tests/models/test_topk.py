import math

import pytest
import torch
from helpers.small_graphs import FEATURES, random_batch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv
from torch_geometric.nn import SAGPooling as PyGSAGPooling
from torch_geometric.nn import TopKPooling as PyGTopKPooling

from ssread import InputError
from ssread.models.gcn_conv import propagation
from ssread.models.graphs import Graphs
from ssread.models.topk import SAGPooling, TopKPooling, keep_best

sizes = st.lists(st.integers(0, 7), min_size=1, max_size=5).map(tuple)
ratios = st.sampled_from([0.1, 0.5, 0.7, 0.8, 0.9, 1.0])


@given(sizes, ratios, st.integers(0, 2**31))
def test_the_best_are_kept_graph_by_graph(sizes, ratio, seed):
    torch.manual_seed(seed)
    graphs = Graphs.of(*random_batch(sizes, dtype=torch.float32))
    scores, kept = torch.randn(graphs.num_nodes), (torch.rand(graphs.num_nodes) < 0.7).float()
    result = keep_best(scores, kept, graphs, ratio)
    for graph in range(len(sizes)):
        nodes = [n for n in range(graphs.num_nodes) if graphs.batch[n] == graph and kept[n]]
        best = sorted(nodes, key=lambda n: -scores[n])[: math.ceil(round(ratio * len(nodes), 6))]
        assert {n for n in range(graphs.num_nodes) if graphs.batch[n] == graph and result[n]} == set(best)


@pytest.mark.parametrize("ratio", [0.5, 0.7, 0.8, 0.9])
def test_the_share_is_rounded_up_like_pyg(ratio):
    for n in (*range(1, 130), 1000, 5748):
        graphs = Graphs.of(torch.zeros(n, 1), torch.zeros(2, 0, dtype=torch.long))
        expected = math.ceil(round(ratio * n, 6))
        assert keep_best(torch.rand(n), torch.ones(n), graphs, ratio).sum() == expected


@given(st.integers(0, 2**31), ratios)
def test_two_topk_poolings_equal_pygs(seed, ratio):
    torch.manual_seed(seed)
    graphs = Graphs.of(*random_batch((6, 1, 9, 3)))
    ours = [TopKPooling(5, ratio).double() for _ in range(2)]
    pygs = [PyGTopKPooling(5, min(ratio, 0.999999)).double() for _ in range(2)]  # PyG reads 1.0 as one node
    x, kept = graphs.x, torch.ones(graphs.num_nodes, dtype=torch.float64)
    small, edges, batch, nodes = graphs.x, graphs.edge_index, graphs.batch, torch.arange(graphs.num_nodes)
    for mine, theirs in zip(ours, pygs, strict=True):
        theirs.select.load_state_dict(mine.state_dict())
        x, kept = mine(x, kept, graphs)
        small, edges, _, batch, perm, _ = theirs(small, edges, batch=batch)
        nodes = nodes[perm]
        _check(x, kept, small, nodes)


@settings(max_examples=25, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.integers(0, 2**31), ratios)
def test_two_sag_poolings_equal_pygs(seed, ratio):
    torch.manual_seed(seed)
    batch = random_batch((6, 1, 9, 3))
    some = torch.rand(batch.edge_index.size(1)) < 0.5  # two nodes joined in both directions would have equal scores
    graphs = Graphs.of(batch.x, batch.edge_index[:, some], batch.batch)
    ours = [SAGPooling(5, ratio).double() for _ in range(2)]
    pygs = [PyGSAGPooling(5, min(ratio, 0.999999), GNN=GCNConv).double() for _ in range(2)]
    x, kept = graphs.x, torch.ones(graphs.num_nodes, dtype=torch.float64)
    small, edges, batch, nodes = graphs.x, graphs.edge_index, graphs.batch, torch.arange(graphs.num_nodes)
    for mine, theirs in zip(ours, pygs, strict=True):
        theirs.gnn.load_state_dict(mine.gnn.state_dict())
        torch.nn.init.ones_(theirs.select.weight)  # PyG has a second weight there, of which only the sign matters
        matrix = propagation(graphs, kept)
        assume(_all_differ(mine.gnn(x, matrix), kept, graphs))  # nodes with the same neighbours have equal scores
        x, kept = mine(x, kept, graphs, matrix)
        small, edges, _, batch, perm, _ = theirs(small, edges, batch=batch)
        nodes = nodes[perm]
        _check(x, kept, small, nodes)


def test_a_projection_of_zero_gives_scores_of_zero():
    """Weight decay can make it zero if all node vectors are zero."""
    pool, graphs = TopKPooling(FEATURES, 0.5), random_batch((6, 1), dtype=torch.float32)
    torch.nn.init.zeros_(pool.weight)
    x, _ = pool(graphs.x, torch.ones(7), Graphs.of(*graphs))
    x.sum().backward()
    assert x.eq(0).all()
    assert pool.weight.grad.isfinite().all()


def _all_differ(scores: torch.Tensor, kept: torch.Tensor, graphs: Graphs) -> bool:
    compared = (graphs.batch.unsqueeze(1) == graphs.batch) & (kept.unsqueeze(1) * kept > 0)
    equal = (scores - scores.T).abs() < 1e-9
    return int((compared & equal).sum()) == int(kept.sum())  # every node equals only itself


def _check(x: torch.Tensor, kept: torch.Tensor, small: torch.Tensor, nodes: torch.Tensor) -> None:
    assert kept.nonzero().squeeze(1).tolist() == sorted(nodes.tolist())
    torch.testing.assert_close(x[nodes], small)
    assert (x[kept == 0] == 0).all()


@pytest.mark.parametrize("ratio", [0.0, -0.5, 1.5, float("nan")])
def test_ratios_out_of_range_are_refused(ratio):
    with pytest.raises(InputError, match="above 0 and at most 1"):
        TopKPooling(4, ratio)
    assert repr(TopKPooling(4, 0.5)) == "TopKPooling(4, ratio=0.5)"
    assert repr(SAGPooling(4, 0.5)) == "SAGPooling(4, ratio=0.5)"
