"""What every aggregation owes to PyG: index or ptr, any number of dimensions, empty groups, compilers."""

import pytest
import torch
from helpers.aggregations import EVERY, OURS, build, grid
from hypothesis import given
from hypothesis import strategies as st
from torch.export import Dim
from torch.func import vmap
from torch_geometric.nn import SimpleConv

from ssread import InputError
from ssread.aggregate import Sum

PTR = torch.tensor([0, 2, 2, 6, 7, 7])  # the second group and the last are empty
INDEX = torch.tensor([0, 0, 2, 2, 2, 2, 3])


def vectors(*lead: int, nodes: int = 7) -> torch.Tensor:
    return torch.randn(*lead, nodes, 4, dtype=torch.float64)


@pytest.mark.parametrize("name", EVERY)
def test_index_equals_ptr(name):
    phi, x = build(name), vectors()
    out = phi(x, INDEX, dim_size=5)
    assert out.shape == (5, phi.out_channels)
    torch.testing.assert_close(phi(x, ptr=PTR), out, rtol=0, atol=0)
    torch.testing.assert_close(phi(x, ptr=PTR, dim_size=5), out, rtol=0, atol=0)
    torch.testing.assert_close(phi(x, INDEX, PTR), out, rtol=0, atol=0)
    torch.testing.assert_close(phi(x, INDEX), out[:4], rtol=0, atol=0)  # as many groups as occur
    torch.testing.assert_close(phi(x, INDEX.int(), dim_size=5), out, rtol=0, atol=0)


@pytest.mark.parametrize("name", EVERY)
def test_without_groups_all_nodes_form_one(name):
    phi, x = build(name), vectors()
    torch.testing.assert_close(phi(x), phi(x, torch.zeros(7, dtype=torch.long), dim_size=1))


@pytest.mark.parametrize("name", EVERY)
def test_empty_groups_are_zero(name):
    phi = build(name)
    out = phi(vectors(), INDEX, dim_size=5)
    assert out[[1, 4]].abs().max() == 0
    assert bool(torch.isfinite(out).all())
    assert out[2].abs().max() > 0
    nothing = phi(vectors(nodes=0), torch.zeros(0, dtype=torch.long), dim_size=2)
    assert nothing.tolist() == [[0.0] * phi.out_channels] * 2
    assert phi(vectors(nodes=0), torch.zeros(0, dtype=torch.long)).shape == (0, phi.out_channels)


@pytest.mark.parametrize("name", OURS)
@given(st.integers(0, 8), st.integers(0, 2**31))
def test_order_of_nodes_does_not_matter_even_with_ties(name, nodes, seed):
    phi, x = build(name), grid(seed, nodes, 4)
    index, order = torch.arange(nodes) % 2, torch.randperm(nodes, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(phi(x, index, dim_size=2), phi(x[order], index[order], dim_size=2))


@pytest.mark.parametrize("name", EVERY)
def test_leading_dimensions_are_aggregated_one_by_one(name):
    phi, x = build(name), vectors(2, 3)
    out = phi(x, INDEX, dim_size=5)
    assert out.shape == (2, 3, 5, phi.out_channels)
    for i in range(2):
        torch.testing.assert_close(phi(x[i], INDEX, dim_size=5), out[i])
        for j in range(3):
            torch.testing.assert_close(phi(x[i, j], INDEX, dim_size=5), out[i, j])
    torch.testing.assert_close(phi(x, ptr=PTR), out)
    assert phi(vectors(0), INDEX, dim_size=5).shape == (0, 5, phi.out_channels)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("dim", [0, 1, -3])
def test_nodes_in_any_dimension_but_the_last(name, dim):
    phi, x = build(name), vectors(3, 2)
    out = phi(x.movedim(-2, dim), INDEX, dim_size=5, dim=dim)
    torch.testing.assert_close(out, phi(x, INDEX, dim_size=5).movedim(-2, dim))


@pytest.mark.parametrize("name", OURS)
def test_gradients(name):
    phi, x = build(name), vectors(2, nodes=5).requires_grad_()
    index = torch.tensor([0, 2, 0, 2, 2])
    parameters = tuple(phi.parameters())
    assert torch.autograd.gradcheck(lambda x, *_: phi(x, index, dim_size=3), (x, *parameters))


@pytest.mark.parametrize("name", OURS)
def test_vmapped_over_nodes_and_over_groups(name):
    phi, x, index = build(name), vectors(3), torch.randint(4, (3, 7))
    for dims in ((0, None), (None, 0), (0, 0)):
        given_x, given_index = x if dims[0] == 0 else x[0], index if dims[1] == 0 else index[0]
        together = vmap(lambda x, index: phi(x, index, dim_size=4), dims)(given_x, given_index)
        for r in range(3):
            alone = phi(x[r if dims[0] == 0 else 0], index[r if dims[1] == 0 else 0], dim_size=4)
            torch.testing.assert_close(together[r], alone)


@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("lead", [(), (2,)], ids=["2-D", "3-D"])
def test_compiles_without_a_break(name, lead):
    phi = build(name)
    for how in ("index", "ptr"):
        torch.compiler.reset()
        compiled = torch.compile(phi, fullgraph=True, backend="aot_eager")
        for nodes, ptr in ((7, PTR), (12, torch.tensor([0, 4, 5, 8, 8, 12]))):
            x, index = vectors(*lead, nodes=nodes), torch.arange(5).repeat_interleave(ptr.diff())
            groups = {"index": index, "dim_size": 5} if how == "index" else {"ptr": ptr}
            torch.testing.assert_close(compiled(x, **groups), phi(x, **groups))


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("lead", [(), (2,)], ids=["2-D", "3-D"])
@pytest.mark.parametrize("how", ["index", "ptr"])
def test_exports_for_any_number_of_nodes(name, lead, how):
    phi, nodes = build(name), Dim("nodes")
    groups = {"index": INDEX, "dim_size": 5} if how == "index" else {"ptr": PTR}
    sizes = {"x": {len(lead): nodes}, **({"index": {0: nodes}, "dim_size": None} if how == "index" else {"ptr": None})}
    exported = torch.export.export(phi, (vectors(*lead),), groups, dynamic_shapes=sizes).module()
    more = {"index": torch.arange(12) % 5, "dim_size": 5} if how == "index" else {"ptr": PTR + (PTR > 2) * 5}
    for x, groups in ((vectors(*lead), groups), (vectors(*lead, nodes=12), more)):  # noqa: B020
        torch.testing.assert_close(exported(x, **groups), phi(x, **groups))


@pytest.mark.parametrize("name", EVERY)
def test_works_in_message_passing(name):
    phi, x = build(name), vectors()
    edge_index = torch.tensor([[0, 1, 2, 6, 5], [1, 0, 1, 3, 3]])
    expected = phi(x[edge_index[0]], edge_index[1], dim_size=7)
    torch.testing.assert_close(SimpleConv(aggr=phi)(x, edge_index), expected)


def test_reprs():
    reprs = {name: repr(build(name)) for name in EVERY}
    assert reprs["sum"] == "Sum(4, 4)"
    assert reprs["max"] == "Max(4, 4)"
    assert reprs["mean"] == "Mean(4, 4)"
    assert reprs["attention"] == "Attention(4, 4)"
    assert reprs["set2set"] == "Set2Set(4, 8)"
    assert reprs["sort"] == "Sort(4, 4)"
    assert reprs["max+sort"] == "Max(4, 4) + Sort(4, 4)"
    assert reprs["mean+median"] == "Mean(4, 4) + MedianAggregation()"
    assert reprs["lstm"] == "LSTMAggregation(4, 5)"


@pytest.mark.parametrize("name", ["attention", "set2set", "sort", "max+sort", "lstm"])
def test_reset_parameters_draws_new_ones(name):
    phi = build(name)
    before = [p.clone() for p in phi.parameters()]
    phi.reset_parameters()
    assert all(not torch.equal(a, b) for a, b in zip(before, phi.parameters(), strict=True))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Sum(5)(vectors()), r"node vectors of 5 channels, \[N, 5\], not \[7, 4\]"),
        (lambda: Sum(4)(vectors()[0]), "invalid dimension '-2'"),  # PyG's own check comes first
        (lambda: Sum(4)(vectors(), INDEX, dim=-1), "dim must name a dimension of x before the last, but -1 was given"),
        (lambda: Sum(4)(vectors(), INDEX[:3], dim_size=5), "the graph of each of 7 nodes"),
        (lambda: Sum(4)(vectors(), INDEX, dim_size=2), "index holds graph 3, but there are 2 graphs"),
        (lambda: Sum(4)(vectors(), ptr=PTR, dim_size=2), "expected '5'"),
        (lambda: Sum(4)(vectors(), ptr=PTR + 1), "ptr must rise from 0 to the number of nodes, 7"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_our_errors_are_input_errors():
    with pytest.raises(InputError):
        Sum(5)(vectors())
