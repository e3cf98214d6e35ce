import pytest
import torch
from helpers.graph_strategies import graph_sets, small
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCN, global_add_pool

from ssread.data import Bounds, GraphSet, PaddedBatch, planted
from ssread.errors import InputError


@given(graph_sets(), st.data())
def test_a_batch_is_pygs_batch(graphs: GraphSet, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1))
    ours = graphs.batch(ids)
    theirs = Batch.from_data_list([graphs[number] for number in ids])
    for name in ("x", "edge_index", "batch", "ptr", *(["y"] if graphs.y is not None else [])):
        assert torch.equal(getattr(ours, name), getattr(theirs, name)), name
    if graphs.edge_attr is not None:
        assert torch.equal(ours.edge_attr, theirs.edge_attr)
    assert ours.batch_size == ours.num_graphs == len(ids)
    assert ours.num_nodes == theirs.num_nodes
    assert torch.equal(graphs.x[ours.node_ids], ours.x)


def test_an_epoch_is_that_of_pygs_loader(mutag: GraphSet) -> None:
    ours = list(mutag.batches(batch_size=50))
    theirs = list(DataLoader(mutag.to_pyg(), batch_size=50))
    assert len(ours) == len(theirs) == 4
    for one, other in zip(ours, theirs, strict=True):
        for name in ("x", "edge_index", "edge_attr", "batch", "y", "ptr"):
            assert torch.equal(getattr(one, name), getattr(other, name)), name


def test_a_pyg_model_takes_a_batch(mutag: GraphSet) -> None:
    model = GCN(mutag.num_node_features, 8, num_layers=2).eval()
    batch = mutag.batch([5, 3, 8])
    pooled = global_add_pool(model(batch.x, batch.edge_index), batch.batch, batch.batch_size)
    alone = mutag[3]
    assert torch.allclose(pooled[1], model(alone.x, alone.edge_index).sum(0), atol=1e-5)


def test_batches_over_some_graphs_in_random_order() -> None:
    graphs = small()[[0, 1, 2] * 5]
    ids = [1, 4, 9, 3, 14]
    order = torch.cat([b.ids for b in graphs.batches(2, ids, torch.Generator().manual_seed(1))]).tolist()
    assert sorted(order) == sorted(ids)
    again = torch.cat([b.ids for b in graphs.batches(2, ids, torch.Generator().manual_seed(1))]).tolist()
    assert order == again
    assert [b.batch_size for b in graphs.batches(2, ids)] == [2, 2, 1]


def test_an_empty_batch_and_a_trailing_empty_graph() -> None:
    assert small().batch([]).batch_size == 0
    assert small().batch([0, 1]).batch_size == 2
    assert small().batch([0, 1]).ptr.tolist() == [0, 2, 2]
    assert small().batch([-1]).ids.tolist() == [2]
    assert small().batch(slice(1, 3)).ids.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ([3], "There is no graph 3"),
        ([-4], "There is no graph -4"),
        ([[0]], "must be a list of integers"),
        ([0.5], "must be a list of integers"),
        (torch.tensor([True]), "A mask of shape"),
    ],
)
def test_wrong_ids(ids: list[int], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        small().batch(ids)


@st.composite
def sets_with_blocks(draw: st.DrawFn) -> tuple[GraphSet, torch.Tensor]:
    graphs = draw(graph_sets())
    num_models, size = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    row = st.lists(st.integers(-1, len(graphs) - 1), min_size=size, max_size=size)
    ids = draw(st.lists(row, min_size=num_models, max_size=num_models))
    return graphs, torch.tensor(ids)


def assert_padded_equals_single(padded: PaddedBatch, graphs: GraphSet, ids: torch.Tensor, bounds: Bounds) -> None:
    """The block of every model is the ordinary batch of its real graphs, plus padding as documented."""
    num_models, size = ids.shape
    assert padded.batch_size == size + 1
    assert padded.x.shape == (num_models, bounds.num_nodes, graphs.num_node_features)
    assert padded.edge_index.shape == (num_models, 2, bounds.num_edges)
    assert torch.equal(padded.graph_mask, ids >= 0)
    for model in range(num_models):
        real = ids[model] >= 0
        single = graphs.batch(ids[model][real])
        slot = real.nonzero().squeeze(1)
        nodes, edges = single.num_nodes, single.edge_index.size(1)
        assert torch.equal(padded.x[model, :nodes], single.x)
        assert not padded.x[model, nodes:].any()
        assert torch.equal(padded.batch[model, :nodes], slot[single.batch])
        assert (padded.batch[model, nodes:] == size).all()
        assert padded.node_mask[model].tolist() == [True] * nodes + [False] * (bounds.num_nodes - nodes)
        assert not padded.node_mask[model, -1]
        assert torch.equal(padded.edge_index[model, :, :edges], single.edge_index)
        assert (padded.edge_index[model, :, edges:] == bounds.num_nodes - 1).all()
        assert (padded.edge_index[model, 0].diff() >= 0).all()
        counts = torch.bincount(padded.batch[model], minlength=size + 1)
        assert torch.equal(padded.ptr[model].diff(), counts)
        assert torch.equal(padded.node_ids[model, :nodes], single.node_ids)
        if graphs.edge_attr is not None:
            assert torch.equal(padded.edge_attr[model, :edges], single.edge_attr)
            assert not padded.edge_attr[model, edges:].any()
        if graphs.y is not None:
            assert torch.equal(padded.y[model][real], single.y)
            assert (padded.y[model][~real] == -1).all()


@given(sets_with_blocks(), st.integers(0, 3))
def test_a_padded_batch_is_the_batch_of_every_model(given_set: tuple[GraphSet, torch.Tensor], spare: int) -> None:
    graphs, ids = given_set
    needed = graphs.bounds(ids)
    bounds = Bounds(needed.num_nodes + spare, needed.num_edges + spare)
    assert_padded_equals_single(graphs.padded_batch(ids, bounds), graphs, ids, bounds)


@given(sets_with_blocks())
def test_bounds_are_tight_and_smaller_ones_are_refused(given_set: tuple[GraphSet, torch.Tensor]) -> None:
    graphs, ids = given_set
    bounds = graphs.bounds(ids)
    nodes = max(int(graphs.node_counts[row[row >= 0]].sum()) for row in ids)
    edges = max(int(graphs.edge_counts[row[row >= 0]].sum()) for row in ids)
    assert bounds == (nodes + 1, edges)
    with pytest.raises(InputError, match="cannot hold these graphs"):
        graphs.padded_batch(ids, Bounds(nodes, edges))
    if edges:
        with pytest.raises(InputError, match="cannot hold these graphs"):
            graphs.padded_batch(ids, Bounds(nodes + 1, edges - 1))


@given(sets_with_blocks(), st.integers(1, 4))
def test_bounds_of_all_possible_batches_hold_every_batch(
    given_set: tuple[GraphSet, torch.Tensor], batch_size: int
) -> None:
    graphs, members = given_set
    plan = in_batches(members, batch_size)
    bounds = graphs.bounds(plan)
    worst = graphs.bounds(members, batch_size)
    assert worst.num_nodes >= bounds.num_nodes
    assert worst.num_edges >= bounds.num_edges
    for step in plan:
        graphs.padded_batch(step, bounds)


def in_batches(members: torch.Tensor, batch_size: int) -> torch.Tensor:
    """Returns graphs [R, n] as batches [steps, R, batch_size], padded by -1."""
    filled = torch.nn.functional.pad(members, (0, -members.size(1) % batch_size), value=-1)
    return filled.unflatten(1, (-1, batch_size)).transpose(0, 1).contiguous()


def test_a_batch_has_at_least_one_graph() -> None:
    with pytest.raises(InputError, match="batch_size=0"):
        next(small().batches(0))


def test_a_padded_batch_reads_no_value(device: str) -> None:
    """The meta device has no values, so what runs there depends on shapes alone."""
    meta = small().to("meta").padded_batch(torch.zeros(2, 3, dtype=torch.int64, device="meta"), Bounds(9, 12))
    assert meta.x.shape == (2, 9, 2)
    assert meta.edge_index.shape == (2, 2, 12)
    graphs, ids = small().to(device), torch.tensor([[0, -1, 2], [2, 2, 1]], device=device)
    padded = graphs.padded_batch(ids, Bounds(9, 12)).to("cpu")
    assert_padded_equals_single(padded, small(), ids.cpu(), Bounds(9, 12))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_padded_batch_can_be_captured_in_a_cuda_graph() -> None:
    on_cpu = planted(num_graphs=100, feature_noise=0.5)
    graphs = on_cpu.to("cuda")
    plan = in_batches(torch.arange(100, device="cuda").repeat(3, 1), 32)
    bounds, ids = graphs.bounds(plan), plan[0].clone()
    graphs.padded_batch(ids, bounds)
    capture = torch.cuda.CUDAGraph()
    with torch.cuda.graph(capture):
        padded = graphs.padded_batch(ids, bounds)
    for step in plan:
        ids.copy_(step)
        capture.replay()
        assert_padded_equals_single(padded.to("cpu"), on_cpu, step.cpu(), bounds)


def test_repr_shows_shapes() -> None:
    assert repr(small().batch([0])) == (
        "GraphBatch(batch_size=1, x=[2, 2], edge_index=[2, 2], edge_attr=[2, 1], batch=[2], ptr=[2], y=[1], ids=[1], "
        "node_ids=[2])"
    )
