"""The readout as a layer: Theorem 1, batches, gradient routing, wrong input."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given
from hypothesis import strategies as st
from torch_geometric.nn import aggr as pyg

from ssread import GlobalReadout, InputError, SSRead
from ssread.aggregate import NAMES
from ssread.functional import cosine_cost, soft_ssa

D = 4
PHIS = [*NAMES, "max+mean"]
batches = st.tuples(st.integers(0, 10), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**31))


def phi(name: str) -> str | list[str]:
    return name.split("+") if "+" in name else name


def draw(batch: tuple[int, int, int, int], aggr: str) -> tuple[SSRead, torch.Tensor, torch.Tensor, int]:
    """A readout and a batch of graphs with nodes in any order; nodes between two positions are left out."""
    nodes, graphs, positions, seed = batch
    torch.manual_seed(seed)
    readout = SSRead(D, positions, phi(aggr)).double()
    x, index = torch.randn(nodes, D, dtype=torch.float64), torch.randint(graphs, (nodes,))
    if positions > 1 and nodes > 0:
        best, second = cosine_cost(x, readout.prototypes).topk(2, largest=False).values.T
        assume(bool((second - best > 1e-9).all()))
    return readout, x, index, graphs


@pytest.mark.parametrize("aggr", PHIS)
@given(batches)
def test_theorem_1_permutation_invariance(aggr, batch):
    readout, x, index, graphs = draw(batch, aggr)
    order = torch.randperm(len(x))
    out = readout(x, index, dim_size=graphs)
    torch.testing.assert_close(readout(x[order], index[order], dim_size=graphs), out)
    by_graph = index.argsort(stable=True)  # sorted equals unsorted, index equals ptr
    ptr = torch.cat([torch.zeros(1, dtype=torch.long), torch.bincount(index, minlength=graphs).cumsum(0)])
    torch.testing.assert_close(readout(x[by_graph], ptr=ptr), out)
    torch.testing.assert_close(readout(x[by_graph], index[by_graph], ptr=ptr), out)


@pytest.mark.parametrize("aggr", PHIS)
@given(batches)
def test_a_batch_equals_its_graphs_one_by_one(aggr, batch):
    readout, x, index, graphs = draw(batch, aggr)
    reading = readout.read(x, index, dim_size=graphs + 1)  # the last graph is always empty
    assert reading.vectors.shape == (graphs + 1, readout.out_channels)
    for graph in range(graphs + 1):
        alone = readout.read(x[index == graph])
        torch.testing.assert_close(reading.vectors[graph], alone.vectors[0])
        torch.testing.assert_close(reading.alignment_costs()[graph], alone.alignment_loss())
        assert torch.equal(reading.positions[index == graph], alone.positions)
    assert reading.vectors[-1].abs().max() == 0


@pytest.mark.parametrize("aggr", PHIS)
@given(batches)
def test_every_position_is_the_global_readout_of_its_nodes(aggr, batch):
    readout, x, index, graphs = draw(batch, aggr)
    out = readout(x, index, dim_size=graphs).view(graphs, readout.num_positions, -1)
    positions = readout.align(x)
    for k in range(readout.num_positions):
        mine = positions == k
        torch.testing.assert_close(out[:, k], readout.per_position(x[mine], index[mine], dim_size=graphs))
        taken = torch.bincount(index[mine], minlength=graphs) > 0
        assert out[~taken, k].abs().sum() == 0


@pytest.mark.parametrize("aggr", PHIS)
def test_one_position_is_the_global_readout(aggr):
    readout, everything = SSRead(D, 1, phi(aggr)), GlobalReadout(D, phi(aggr))
    everything.load_state_dict(readout.per_position.state_dict())
    x, index = torch.randn(9, D), torch.tensor([2, 0, 0, 2, 2, 0, 2, 0, 0])
    assert torch.equal(readout(x, index, dim_size=4), everything(x, index, dim_size=4))
    assert readout.out_channels == everything.out_channels
    assert everything.read(x, index, dim_size=4).alignment_loss() == 0


@given(batches)
def test_equation_6_is_the_mean_cost_of_a_graph(batch):
    readout, x, index, graphs = draw(batch, "sum")
    expected = soft_ssa(x, readout.prototypes, readout.gamma, index, graphs).mean()
    torch.testing.assert_close(readout.alignment_loss(x, index, graphs), expected)
    torch.testing.assert_close(readout.read(x, index, dim_size=graphs).alignment_loss(), expected)


@pytest.mark.parametrize("aggr", PHIS)
def test_zero_graphs(aggr):
    readout = SSRead(D, 3, phi(aggr))
    reading = readout.read(torch.zeros(0, D), torch.zeros(0, dtype=torch.long))
    assert reading.vectors.shape == (0, readout.out_channels)
    assert reading.alignment_loss() == 0
    assert readout.usage(torch.zeros(0, D)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("aggr", PHIS)
@pytest.mark.parametrize("dim", [-2, 0, 1])
def test_leading_dimensions_are_read_one_by_one(aggr, dim):
    readout, x, index = SSRead(D, 3, phi(aggr)), torch.randn(2, 3, 7, D), torch.arange(7) % 2
    out = readout(x.movedim(-2, dim), index, dim_size=3, dim=dim).movedim(dim, -2)
    assert out.shape == (2, 3, 3, readout.out_channels)
    for i in range(2):
        for j in range(3):
            torch.testing.assert_close(out[i, j], readout(x[i, j], index, dim_size=3))


def test_algorithm_1_routes_the_gradients(device):
    """L_class must leave the prototypes alone, L_align everything else, and one backward must do for both."""
    encoder = torch.nn.Linear(D, D).to(device)
    readout, head = SSRead(D, 3, "attention").to(device), torch.nn.Linear(3 * D, 2).to(device)
    others = [*encoder.parameters(), *readout.per_position.parameters(), *head.parameters()]
    x, index, y = torch.randn(9, D, device=device), torch.arange(9, device=device) // 4, torch.tensor([0, 1, 0])

    def losses() -> tuple[torch.Tensor, torch.Tensor]:
        reading = readout.read(encoder(x), index, dim_size=3)
        return F.cross_entropy(head(reading.vectors), y.to(device)), reading.alignment_loss()

    def grads(loss: torch.Tensor) -> list[torch.Tensor | None]:
        return list(torch.autograd.grad(loss, [readout.prototypes, *others], allow_unused=True))

    classification, alignment = grads(losses()[0]), grads(losses()[1])
    assert classification[0] is None
    assert all(g is not None and g.abs().max() > 0 for g in classification[1:])
    assert alignment[0] is not None
    assert alignment[0].abs().max() > 0
    assert all(g is None for g in alignment[1:])
    joint = grads(sum(losses()))
    for one, two in zip(joint, [alignment[0], *classification[1:]], strict=True):
        torch.testing.assert_close(one, two)


def test_alignment_loss_may_reach_the_nodes():
    readout, x = SSRead(D, 3), torch.randn(5, D, requires_grad=True)
    assert torch.autograd.grad(readout.alignment_loss(x), x, allow_unused=True) == (None,)
    (alone,) = torch.autograd.grad(readout.alignment_loss(x, reach_nodes=True), x)
    (joint,) = torch.autograd.grad(readout.read(x, reach_nodes=True).alignment_loss(), x)
    assert alone.abs().max() > 0
    torch.testing.assert_close(alone, joint)


def test_prototypes_learn_positions_that_no_label_told():
    """Two well separated directions of nodes: the loss alone must give each a prototype of its own."""
    directions = F.normalize(torch.randn(2, 16), dim=-1)
    kind = torch.arange(200) % 2
    x = directions[kind] + 0.1 * torch.randn(200, 16)
    readout = SSRead(16, 2)
    optimizer = torch.optim.Adam(readout.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        readout.alignment_loss(x, kind).backward()
        optimizer.step()
    positions = readout.align(x)
    assert torch.equal(positions, kind) or torch.equal(positions, 1 - kind)
    assert readout.usage(x).tolist() == [0.5, 0.5]


def test_init_prototypes_takes_far_directions():
    corners = torch.eye(4).repeat(5, 1) * torch.rand(20, 1)  # four directions at many lengths
    readout = SSRead(4, 4)
    readout.init_prototypes(torch.cat([corners, torch.zeros(3, 4)]))
    assert sorted(readout.align(torch.eye(4)).tolist()) == [0, 1, 2, 3]
    first = readout.prototypes.clone()
    torch.manual_seed(7)
    readout.init_prototypes(corners)
    torch.manual_seed(7)
    again = SSRead(4, 4)
    torch.manual_seed(7)
    again.init_prototypes(corners)
    assert torch.equal(again.prototypes, readout.prototypes)
    assert first.shape == again.prototypes.shape


def test_usage_shows_dead_positions():
    readout = SSRead(2, 3)
    with torch.no_grad():
        readout.prototypes.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
    usage = readout.usage(torch.tensor([[5.0, 0.1], [2.0, 0.0], [0.1, 1.0], [1.0, 0.0]]))
    assert usage.tolist() == [0.75, 0.25, 0]


def test_copies_and_state_dicts_carry_everything():
    readout, x = SSRead(D, 3, ["sort", "set2set"]), torch.randn(8, D)
    other = SSRead(D, 3, ["sort", "set2set"])
    assert not torch.equal(other(x), readout(x))
    other.load_state_dict(readout.state_dict())
    assert torch.equal(other(x), readout(x))
    clone = copy.deepcopy(readout)
    readout.reset_parameters()
    assert torch.equal(clone(x), other(x))
    assert not torch.equal(readout(x), other(x))


def test_reprs_say_what_a_layer_is():
    assert repr(SSRead(16, 4)) == "SSRead(16, num_positions=4, aggr=Sum(16, 16), gamma=0.01)"
    assert repr(SSRead(16, 4, pyg.MedianAggregation())) == (
        "SSRead(16, num_positions=4, aggr=MedianAggregation(), gamma=0.01)"
    )


def test_nan_passes_through_visibly():
    for aggr in NAMES:
        readout, x = SSRead(D, 2, aggr), torch.randn(4, D)
        x[1] = math.nan
        reading = readout.read(x, torch.tensor([0, 0, 1, 1]), dim_size=2)
        assert bool(reading.vectors[0].isnan().any()), aggr
        assert not bool(reading.vectors[1].isnan().any()), aggr
        assert bool(reading.alignment_loss().isnan())


X, INDEX = torch.randn(5, D), torch.tensor([0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: SSRead(D, 0), "num_positions must be 1 or more, but 0 was given"),
        (lambda: SSRead(0, 2), "in_channels must be 1 or more, but 0 was given"),
        (lambda: SSRead(D, 2, gamma=-1), "gamma smooths the alignment loss and must be 0 or more, but -1 was given"),
        (lambda: SSRead(D, 2, "average"), "no aggregation 'average'"),
        (lambda: SSRead(D + 1, 2)(X, INDEX), r"node vectors of 5 channels, \[N, 5\], not \[5, 4\]"),
        (lambda: SSRead(D + 1, 2).align(X), r"node vectors of 5 channels, \[N, 5\], not \[5, 4\]"),
        (lambda: SSRead(D, 2).read(X[0]), r"node vectors of 4 channels, \[N, 4\], not \[4\]"),
        (lambda: SSRead(D, 2)(X, INDEX, dim_size=1), "index holds graph 1, but there are 1 graphs"),
        (lambda: SSRead(D, 2).alignment_loss(X, INDEX, 1), "index holds graph 1, but there are 1 graphs"),
        (lambda: SSRead(D, 6).init_prototypes(X), "6 prototypes need at least as many node vectors"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
