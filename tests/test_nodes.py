import pytest
import torch
from torch.func import vmap

from ssread import InputError
from ssread.nodes import Nodes

X, INDEX, PTR = torch.randn(5, 4), torch.tensor([0, 0, 2, 2, 2]), torch.tensor([0, 2, 2, 5])


def nodes(x=X, index=None, ptr=None, dim_size=None, dim=-2, in_channels=4) -> Nodes:
    return Nodes(x, index, ptr, dim_size, dim, in_channels)


def test_every_description_of_the_graphs_gives_the_same_rows():
    for given in (
        nodes(index=INDEX),
        nodes(ptr=PTR),
        nodes(index=INDEX, ptr=PTR),
        nodes(index=INDEX.int(), dim_size=3),
        nodes(ptr=PTR.int(), dim_size=3, dim=0),
    ):
        assert torch.equal(given.x, X)
        assert torch.equal(given.index, INDEX)
        assert given.index.dtype == torch.long
        assert given.num_graphs == 3
    everything = nodes()
    assert (everything.index.tolist(), everything.num_graphs) == ([0] * 5, 1)
    assert nodes(X[:0]).num_graphs == 1
    assert nodes(X[:0], INDEX[:0]).num_graphs == 0


@pytest.mark.parametrize("dim", [-2, 0, 1, -4])
def test_leading_dimensions_become_graphs_and_come_back(dim):
    x = torch.randn(2, 3, 5, 4)
    given = nodes(x.movedim(-2, dim), INDEX, dim_size=4, dim=dim)
    assert given.x.shape == (30, 4)
    assert given.num_graphs == 24
    assert torch.equal(given.shape_nodes(given.x), x.movedim(-2, dim))
    assert torch.equal(given.shape_nodes(given.x[:, 0]), x.movedim(-2, dim)[..., 0])
    number = given.shape_graphs(torch.arange(24)).movedim(dim if dim >= 0 else dim + 1, -1)
    assert torch.equal(number, torch.arange(24).view(2, 3, 4))


@pytest.mark.parametrize("dim", [-2, 0])
def test_sums_per_graph_have_the_callers_shape(dim):
    x = torch.randn(2, 5, 4).movedim(-2, dim)
    values = x[..., 0]
    total = nodes(x, INDEX, dim_size=4, dim=dim).sum_per_graph(values)
    by_node, by_graph = (t if dim == -2 else t.T for t in (values, total))
    for lead in range(2):
        torch.testing.assert_close(by_graph[lead], nodes(index=INDEX, dim_size=4).sum_per_graph(by_node[lead]))
        expected = [by_node[lead, :2].sum(), 0, by_node[lead, 2:].sum(), 0]
        torch.testing.assert_close(by_graph[lead], torch.tensor(expected))


def test_vmapped_over_descriptions_of_the_graphs():
    pointers = torch.tensor([[0, 2, 2, 5], [0, 0, 1, 5]])
    assert vmap(lambda ptr: nodes(ptr=ptr).index)(pointers).tolist() == [[0, 0, 2, 2, 2], [1, 2, 2, 2, 2]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: nodes(in_channels=5), r"node vectors of 5 channels, \[N, 5\], not \[5, 4\]"),
        (lambda: nodes(X[0]), r"node vectors of 4 channels, \[N, 4\], not \[4\]"),
        (lambda: nodes(dim=-1), "dim must name a dimension of x before the last, but -1 was given"),
        (lambda: nodes(dim=1), "dim must name a dimension of x before the last, but 1 was given"),
        (lambda: nodes(dim=2), "dim must name a dimension of x before the last, but 2 was given"),
        (lambda: nodes(index=INDEX[:3]), r"index must name the graph of each of 5 nodes, but has shape \[3\]"),
        (lambda: nodes(index=INDEX, dim_size=1), "index holds graph 2, but there are 1 graphs"),
        (lambda: nodes(index=INDEX - 1, dim_size=2), "index holds graph -1, but there are 2 graphs"),
        (lambda: nodes(index=INDEX.float()), "index must hold whole numbers, but is torch.float32"),
        (lambda: nodes(index=INDEX > 0), "index must hold whole numbers, but is torch.bool"),
        (lambda: nodes(ptr=torch.tensor([0, 6])), "ptr must rise from 0 to the number of nodes, 5"),
        (lambda: nodes(ptr=torch.tensor([0, 3, 2, 5])), "ptr must rise from 0 to the number of nodes, 5"),
        (lambda: nodes(ptr=torch.tensor([], dtype=torch.long)), r"one number per graph and one more, \[B \+ 1\]"),
        (lambda: nodes(ptr=torch.tensor([0, 5]), dim_size=3), "ptr describes 1 graphs, but dim_size is 3"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
