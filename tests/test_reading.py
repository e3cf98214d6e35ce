"""The result of a readout: shapes that agree, one definition of the loss, printing for free."""

from dataclasses import replace

import pytest
import torch

from ssread import GlobalReadout, SSRead

D, K, INDEX = 4, 3, torch.tensor([0, 2, 0, 2, 2, 0, 2])


@pytest.mark.parametrize("dim", [-2, 0])
@pytest.mark.parametrize("readout", [SSRead(D, K), GlobalReadout(D)], ids=["ssread", "global"])
def test_shapes_agree_for_any_number_of_dimensions(readout, dim):
    x = torch.randn(2, 7, D)
    reading = readout.read(x.movedim(-2, dim), INDEX, dim_size=4, dim=dim)
    nodes, graphs = ([2, 7], [2, 4]) if dim == -2 else ([7, 2], [4, 2])
    assert [*reading.vectors.shape] == [*graphs, readout.out_channels]
    assert [*reading.positions.shape] == nodes
    assert [*reading.alignment_costs().shape] == graphs
    if isinstance(readout, SSRead):
        assert [*reading.node_costs.shape] == nodes
        assert [*reading.costs.shape] == [*nodes, K]
    alone = [readout.read(part, INDEX, dim_size=4) for part in x]
    for name in ("vectors", "positions", "node_costs", "costs"):
        if getattr(reading, name) is not None:
            expected = torch.stack([getattr(part, name) for part in alone], dim=0 if dim == -2 else 1)
            torch.testing.assert_close(getattr(reading, name), expected)
    losses = torch.stack([part.alignment_loss() for part in alone])
    torch.testing.assert_close(reading.alignment_loss(), losses.mean())


def test_costs_agree_with_each_other():
    reading = SSRead(D, K, gamma=0.0).read(torch.randn(7, D), INDEX, dim_size=4)
    torch.testing.assert_close(reading.costs.min(dim=-1).values, reading.node_costs)
    assert torch.equal(reading.costs.argmin(dim=-1), reading.positions)
    expected = torch.zeros(4).index_add(0, INDEX, reading.node_costs)
    torch.testing.assert_close(reading.alignment_costs(), expected)
    torch.testing.assert_close(reading.alignment_loss(), expected.mean())


def test_a_global_readout_aligns_nothing():
    reading = GlobalReadout(D).read(torch.randn(7, D), INDEX, dim_size=4)
    assert reading.node_costs is None
    assert reading.costs is None
    assert not reading.positions.any()
    assert reading.alignment_costs().tolist() == [0, 0, 0, 0]
    assert reading.alignment_loss() == 0


@pytest.mark.parametrize("readout", [SSRead(D, K), GlobalReadout(D)], ids=["ssread", "global"])
def test_dropped_graphs_no_longer_count(readout):
    x = torch.randn(7, D)
    reading = readout.read(x, INDEX, dim_size=4)
    first = reading.map_graphs(lambda values: values[:2])
    alone = readout.read(x[INDEX < 2], INDEX[INDEX < 2], dim_size=2)
    torch.testing.assert_close(first.vectors, alone.vectors)
    torch.testing.assert_close(first.alignment_costs(), alone.alignment_costs())
    torch.testing.assert_close(first.alignment_loss(), alone.alignment_loss())
    torch.testing.assert_close(first.map_graphs(lambda v: v[:1]).alignment_loss(), reading.alignment_costs()[0])
    assert torch.equal(first.positions, reading.positions)  # of all nodes, as before


def test_graphs_can_be_added_up():
    reading = SSRead(D, K).read(torch.randn(7, D), INDEX, dim_size=4)
    pairs = reading.map_graphs(lambda values: values.unflatten(0, (2, 2)).sum(dim=0))
    torch.testing.assert_close(pairs.vectors, reading.vectors[:2] + reading.vectors[2:])
    torch.testing.assert_close(pairs.alignment_loss(), reading.alignment_loss() * 2)


def test_printing_computes_nothing():
    def fail() -> torch.Tensor:
        raise AssertionError("costs were computed")

    reading = replace(SSRead(16, 4).read(torch.randn(5, 16)), compute_costs=fail)
    assert repr(reading) == "Reading(vectors=[1, 64], positions=[5], costs=[5, 4])"
    lead = SSRead(16, 4).read(torch.randn(2, 5, 16))
    assert repr(lead) == "Reading(vectors=[2, 1, 64], positions=[2, 5], costs=[2, 5, 4])"
    assert repr(GlobalReadout(16).read(torch.randn(5, 16))) == "Reading(vectors=[1, 16], positions=[5])"


def test_costs_are_computed_once():
    reading = SSRead(D, K).read(torch.randn(7, D))
    assert reading.costs is reading.costs
