import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import aggr as pyg

from ssread import InputError
from ssread.aggregate import NAMES, Set2Set, Sort, make_aggregation

FOREIGN = {
    "lstm": lambda: pyg.LSTMAggregation(4, 5),  # demands a sorted index
    "median": lambda: pyg.MedianAggregation(),
    "variance": lambda: pyg.VarAggregation(),
    "multi": lambda: pyg.MultiAggregation(["sum", "std"]),
}
EVERY = [*NAMES, *FOREIGN, "several"]


def build(name: str, channels: int = 4) -> torch.nn.Module:
    if name == "several":
        return make_aggregation(["max", "mean", pyg.SumAggregation()], channels).double()
    return make_aggregation(FOREIGN[name]() if name in FOREIGN else name, channels).double()


def grid(seed: int, nodes: int, channels: int) -> torch.Tensor:
    """Vectors of few distinct entries, so that ties abound."""
    return torch.randint(-1, 2, (nodes, channels), generator=torch.Generator().manual_seed(seed)).double()


@pytest.mark.parametrize("name", EVERY)
def test_knows_its_width_and_leaves_empty_groups_at_zero(name):
    phi = build(name)
    out = phi(torch.randn(5, 4, dtype=torch.float64), torch.tensor([3, 1, 3, 3, 1]), dim_size=5)
    assert out.shape == (5, phi.out_channels)
    assert out[[0, 2, 4]].abs().max() == 0
    assert bool(torch.isfinite(out).all())
    assert out[3].abs().max() > 0


@pytest.mark.parametrize("name", EVERY)
def test_no_nodes_at_all(name):
    phi = build(name)
    out = phi(torch.zeros(0, 4, dtype=torch.float64), torch.zeros(0, dtype=torch.long), dim_size=2)
    assert out.tolist() == [[0.0] * phi.out_channels] * 2


@pytest.mark.parametrize("name", [*NAMES, "several"])
@given(st.integers(0, 8), st.integers(0, 2**31))
def test_order_of_nodes_does_not_matter_even_with_ties(name, nodes, seed):
    phi, x = build(name), grid(seed, nodes, 4)
    index, order = torch.arange(nodes) % 2, torch.randperm(nodes, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(phi(x, index, dim_size=2), phi(x[order], index[order], dim_size=2))


@pytest.mark.parametrize("name", NAMES)
def test_gradients(name):
    phi, x = build(name), torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    index = torch.tensor([0, 2, 0, 2, 2, 0])
    parameters = tuple(phi.parameters())
    assert torch.autograd.gradcheck(lambda x, *_: phi(x, index, dim_size=3), (x, *parameters))


@given(st.integers(0, 8), st.integers(1, Sort.CHANNELS_COMPARED), st.integers(1, 6), st.integers(0, 2**31))
def test_sort_is_lexicographic_from_the_last_channel(nodes, channels, k, seed):
    x, index = grid(seed, nodes, channels), torch.arange(nodes) % 2
    out = Sort(channels, k=k).sort(x, index, 3)
    for group in range(3):
        rows = sorted((row[::-1] for row in x[index == group].tolist()), reverse=True)
        expected = [row[::-1] for row in rows] + [[0.0] * channels] * k
        assert out[group].tolist() == expected[:k]


@given(st.integers(1, 9), st.integers(0, 2**31))
def test_sort_of_wide_vectors_is_exactly_the_same_for_every_order_of_nodes(nodes, seed):
    x = grid(seed, nodes, 12)
    x[:, -Sort.CHANNELS_COMPARED :] = 0  # every tie goes past the channels compared one by one
    order = torch.randperm(nodes, generator=torch.Generator().manual_seed(seed))
    index = torch.zeros(nodes, dtype=torch.long)
    sort = Sort(12, k=5)
    assert torch.equal(sort.sort(x, index, 1), sort.sort(x[order], index, 1))


def test_sort_agrees_with_pyg():
    x, index = torch.randn(20, 6), torch.arange(20) // 7
    expected = pyg.SortAggregation(k=8)(x, index).view(3, 8, 6)
    torch.testing.assert_close(Sort(6, k=8).sort(x, index, 3), expected)


def test_sort_is_a_convolution_along_the_sorted_nodes():
    phi, x, index = Sort(6, k=8), torch.randn(20, 6), torch.arange(20) // 7
    expected = phi.convolution(phi.sort(x, index, 3).transpose(1, 2)).flatten(1)
    torch.testing.assert_close(phi(x, index, dim_size=3), expected)


def test_set2set_agrees_with_pyg():
    ours, theirs = Set2Set(4, processing_steps=3), pyg.Set2Set(4, processing_steps=3)
    theirs.lstm.load_state_dict({f"{name}_l0": value for name, value in ours.cell.state_dict().items()})
    x, index = torch.randn(10, 4), torch.tensor([0, 1] * 5)
    torch.testing.assert_close(ours(x, index, dim_size=2), theirs(x, index, dim_size=2))


def test_attention_agrees_with_pyg():
    ours = make_aggregation("attention", 4)
    x, index = torch.randn(10, 4), torch.tensor([0, 1] * 5)
    expected = pyg.AttentionalAggregation(ours.gate)(x, index, dim_size=3)
    torch.testing.assert_close(ours(x, index, dim_size=3), expected)


@pytest.mark.parametrize("name", ["sum", "max", "mean"])
def test_plain_ones_agree_with_pyg(name):
    theirs = {"sum": pyg.SumAggregation(), "max": pyg.MaxAggregation(), "mean": pyg.MeanAggregation()}[name]
    x, index = torch.randn(10, 4), torch.tensor([3, 1] * 5)
    torch.testing.assert_close(make_aggregation(name, 4)(x, index, dim_size=5), theirs(x, index, dim_size=5))


def test_reset_parameters_draws_new_ones():
    for name in ("attention", "set2set", "sort"):
        phi = make_aggregation([name], 4)
        before = [p.clone() for p in phi.parameters()]
        phi.reset_parameters()
        assert all(not torch.equal(a, b) for a, b in zip(before, phi.parameters(), strict=True))


@pytest.mark.parametrize(
    ("aggr", "kwargs", "sentence"),
    [
        ("median", {}, "no aggregation 'median'. Choose one of sum, max, mean, attention, set2set, sort"),
        ("sort", {"size": 3}, "sort has no argument 'size'; it takes k"),
        ("sum", {"k": 3}, "sum has no argument 'k'; it takes none"),
        ("sort", {"k": 0}, "k must be 1 or more, but 0 was given"),
        ("set2set", {"processing_steps": 0}, "processing_steps of 1 or more"),
        ([], {}, "at least one entry"),
        (["sum"], {"k": 3}, "no further arguments"),
        (pyg.SumAggregation(), {"k": 3}, "no further arguments"),
        (Sort(3), {}, "was built for 3 channels, but 4 are asked for"),
        (3, {}, "must be a name, a PyG Aggregation or a list of these, not 3"),
    ],
)
def test_wrong_arguments_get_a_sentence(aggr, kwargs, sentence):
    with pytest.raises(InputError, match=sentence.replace(".", r"\.")):
        make_aggregation(aggr, 4, **kwargs)
