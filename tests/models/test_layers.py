import pytest
import torch
from helpers.small_graphs import EDGE_FEATURES, random_batch
from hypothesis import given
from hypothesis import strategies as st

from ssread.models.graphs import Graphs
from ssread.models.layers import BatchNorm, Dropout, EdgeMessages, GraphNorm, WarmBatchNorm, head


@given(st.integers(2, 12), st.integers(0, 5), st.integers(0, 2**31))
def test_norm_with_a_mask_equals_torchs_on_the_real_rows(real, padding, seed):
    torch.manual_seed(seed)
    ours, torchs = BatchNorm(3).double(), torch.nn.BatchNorm1d(3).double()
    with torch.no_grad():
        for norm in (ours, torchs):
            norm.weight.copy_(torch.tensor([1.0, 2.0, -1.0]))
            norm.bias.copy_(torch.tensor([0.0, 3.0, 1.0]))
    x = torch.randn(real + padding, 3, dtype=torch.float64, requires_grad=True)
    order = torch.randperm(real + padding)
    mask = (order < real).to(x.dtype).unsqueeze(1)
    kept = x.detach()[order < real].requires_grad_()
    out, expected = ours(x, mask)[order < real], torchs(kept)
    torch.testing.assert_close(out, expected)
    out.pow(3).sum().backward()
    expected.pow(3).sum().backward()
    torch.testing.assert_close(x.grad[order < real], kept.grad)
    assert (x.grad[order >= real] == 0).all()
    torch.testing.assert_close(ours.state_dict(), torchs.state_dict())
    ours.eval(), torchs.eval()
    torch.testing.assert_close(ours(x, mask)[order < real], torchs(kept))


def test_norm_without_a_mask_equals_torchs():
    ours, torchs = BatchNorm(3), torch.nn.BatchNorm1d(3)
    x = torch.randn(5, 3)
    assert torch.equal(ours(x), torchs(x))
    torch.testing.assert_close(ours.state_dict(), torchs.state_dict())


def test_a_warm_norm_starts_at_the_first_batch_with_a_mask_and_without():
    plain, masked = WarmBatchNorm(3), WarmBatchNorm(3)
    for step in range(12):
        x = 5 + 3 * torch.randn(7, 3)
        torch.testing.assert_close(plain(x), masked(x, torch.ones(7, 1)))
        torch.testing.assert_close(plain.state_dict(), masked.state_dict())
        if step == 0:
            torch.testing.assert_close(plain.running_var, x.var(dim=0))


@pytest.mark.parametrize("kind", [BatchNorm, WarmBatchNorm])
@pytest.mark.parametrize("rows", [0, 1])
def test_norm_of_no_rows_or_one(kind, rows):
    norm = kind(3)
    out = norm(torch.randn(rows, 3))
    assert torch.equal(out, torch.zeros(rows, 3))
    assert all(buffer.isfinite().all() for buffer in norm.buffers())


@pytest.mark.parametrize("masked", [False, True])
def test_a_channel_that_is_the_same_for_all_nodes_is_normalised_to_zero_in_evaluation(masked):
    """Although its value moves from step to step, and the running mean is behind."""
    norm, torchs = WarmBatchNorm(2), torch.nn.BatchNorm1d(2)
    mask = torch.ones(6, 1) if masked else None
    for step in range(1, 301):
        x = torch.stack([torch.full((6,), 3 + step / 100), torch.randn(6)], dim=1)
        norm.train(), torchs.train()
        norm(x, mask).sum().backward(), torchs(x)
        norm.eval(), torchs.eval()
        assert torch.equal(norm(x, mask)[:, 0], torch.zeros(6)), step
    torch.testing.assert_close(norm(x, mask)[:, 1], torchs(x)[:, 1])
    assert torchs(x)[:, 0].abs().min() > 10  # what is the matter with torch's


@pytest.mark.parametrize("edge_channels", [0, EDGE_FEATURES])
def test_messages_edge_by_edge(edge_channels):
    batch = random_batch()
    graphs = Graphs.of(*batch)
    messages = EdgeMessages(4, edge_channels).double()
    x = torch.randn(graphs.num_nodes, 4, dtype=torch.float64)
    scale, bias = torch.rand(graphs.num_nodes, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    expected = torch.zeros_like(x)
    for edge, (source, target) in enumerate(batch.edge_index.T.tolist()):
        e = messages.edge(batch.edge_attr[edge]) if edge_channels else messages.constant
        expected[target] += scale[source] * scale[target] * (x[source] + bias + e).relu()
    torch.testing.assert_close(messages(x, graphs, bias, scale), expected)
    root, factor = torch.randn(4, dtype=torch.float64), torch.tensor(1.5, dtype=torch.float64)
    rooted = expected + (x + bias + root).relu() * scale.square().unsqueeze(-1)
    torch.testing.assert_close(messages(x, graphs, bias, scale, root=root), rooted)
    torch.testing.assert_close(messages(x, graphs, bias, scale, factor=factor), expected + 1.5 * x)
    assert repr(messages) == f"EdgeMessages(edge_channels={edge_channels})"


@pytest.mark.parametrize(("layers", "widths"), [(1, [(12, 3)]), (2, [(12, 8), (8, 3)]), (3, [(12, 8), (8, 4), (4, 3)])])
def test_heads_of_table_two(layers, widths):
    linear = [m for m in head(12, 3, 8, layers, dropout=0.5).modules() if isinstance(m, torch.nn.Linear)]
    assert [(m.in_features, m.out_features) for m in linear] == widths


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_dropout_drops_its_share_and_keeps_the_mean(p):
    layer, x = Dropout(p), torch.ones(999, 101, requires_grad=True)
    out = layer(x)
    assert (out == 0).float().mean().item() == pytest.approx(p, abs=0.01)
    assert out.mean().item() == pytest.approx(1, abs=0.05)
    assert len(out.unique()) == 2
    out.sum().backward()
    assert torch.equal(x.grad, out)
    assert torch.equal(layer.eval()(x), x)


def test_dropout_follows_the_seed():
    layer, x = Dropout(0.5), torch.ones(7, 3)
    torch.manual_seed(1)
    first = layer(x)
    assert not torch.equal(layer(x), first)
    torch.manual_seed(1)
    assert torch.equal(layer(x), first)
    assert torch.equal(Dropout(0.0)(x), x)
    assert Dropout(1.0)(x).abs().sum() == 0
    assert Dropout(0.5)(torch.ones(0, 3)).shape == (0, 3)


@given(st.integers(0, 2**20), st.floats(1, 100), st.integers(8, 20))
def test_normalised_graph_vectors_do_not_depend_on_their_scale(seed, scale, graphs):
    """Neither do they on padding; in evaluation the map is affine, so that sums stay sums."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(graphs, 4, generator=generator, dtype=torch.float64) + 1
    norm = GraphNorm(4).double()
    plain = norm(vectors)
    expected = (vectors - vectors.mean(dim=0)) / (vectors.var(dim=0, correction=0) + norm.norm.eps).sqrt()
    torch.testing.assert_close(plain, expected)
    torch.testing.assert_close(GraphNorm(4).double()(scale * vectors), expected, atol=1e-3, rtol=1e-3)
    padded = torch.cat([vectors, 7 * torch.ones(2, 4, dtype=torch.float64)])
    real = torch.tensor([True] * graphs + [False] * 2)
    torch.testing.assert_close(GraphNorm(4).double()(padded, real)[:graphs], plain)
    norm.eval()
    one, other = vectors[:1], vectors[1:2]
    torch.testing.assert_close(norm(one) + norm(other) - norm(torch.zeros_like(one)), norm(one + other))


@given(st.integers(0, 2**20), st.integers(1, 25))
def test_running_statistics_start_at_the_first_batch(seed, batches):
    """The mean of the first ten batches, and from then on a tenth of every further one."""
    generator = torch.Generator().manual_seed(seed)
    norm, mean, var = GraphNorm(3).double(), torch.zeros(3), torch.ones(3)
    for number in range(1, batches + 1):
        vectors = 50 + 10 * torch.randn(8, 3, generator=generator, dtype=torch.float64)
        norm(vectors)
        weight = max(0.1, 1 / number)
        mean, var = (1 - weight) * mean + weight * vectors.mean(dim=0), (1 - weight) * var + weight * vectors.var(dim=0)
    torch.testing.assert_close(norm.norm.running_mean, mean)
    torch.testing.assert_close(norm.norm.running_var, var)
