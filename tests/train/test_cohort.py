import dataclasses

import pytest
import torch
from helpers.planted_runs import SHORT, assert_same, cohort_of, runs

from ssread.data import GraphSet, load
from ssread.models.architectures import ARCHITECTURES
from ssread.train import Run, cohort, train
from ssread.train.batch_plans import full_plan, large_batches_together
from ssread.train.cohort import Cohort
from ssread.train.single import Single


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return load("planted", num_graphs=90, seed=3)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_a_run_in_a_cohort_equals_the_run_alone(graphs, name, readout, device, monkeypatch):
    """Curves, choice of epoch and test probabilities, with runs that stop at different epochs."""
    monkeypatch.setattr(cohort, "FEW", 0 if readout == "ssread" else 8)  # a room for every size of batch, or for all
    which = runs(name=name, readout=readout)
    x = torch.randn(len(graphs.x), 5)  # a constant channel after a batch norm is a 0 that rounding puts on either side
    graphs = dataclasses.replace(graphs, x=x, node_feature_names=tuple("abcde"))
    together = cohort_of(graphs, which, SHORT, device)
    assert len({result.epochs for result in together}) > 1 or name != "gcn"
    for run, result in zip(which, together, strict=True):
        assert_same(result, train(graphs, [run], SHORT)[0], exact=False)


@pytest.mark.usefixtures("double")
def test_positions_from_the_structure_are_those_of_every_run_in_a_cohort(graphs, device):
    which = runs(name="gcn", readout="ssread", position_hops=1)
    x = torch.randn(len(graphs.x), 5)
    graphs = dataclasses.replace(graphs, x=x, node_feature_names=tuple("abcde"))
    for run, result in zip(which, cohort_of(graphs, which, SHORT, device), strict=True):
        assert_same(result, train(graphs, [run], SHORT)[0], exact=False)


@pytest.mark.usefixtures("double")
def test_a_model_that_sits_steps_out_goes_on_like_a_single_one(graphs, device):
    """Its weights, statistics, moments and step counter stand still meanwhile, from the very first step on."""
    graphs = dataclasses.replace(graphs, x=torch.randn(len(graphs.x), 5), node_feature_names=tuple("abcde"))
    which = runs(2)
    batches = torch.arange(64).view(4, 16)
    nothing = torch.full((16,), -1)
    own = [[nothing, batches[0], nothing, batches[1], batches[2]], [*batches, batches[0]]]
    stack = Cohort(graphs, which, SHORT, device)
    stack.train_epoch(torch.stack([torch.stack(pair) for pair in zip(*own, strict=True)]))
    for model, (run, steps) in enumerate(zip(which, own, strict=True)):
        single = Single(graphs, run, SHORT)
        single.train_epoch(torch.stack(steps).unsqueeze(1))
        for name, value in single.state().items():
            torch.testing.assert_close(stack.state()[name][model].cpu(), value[0], atol=1e-12, rtol=1e-10, msg=name)


def test_every_batch_has_room_and_not_much_more():
    graphs = load("planted", num_graphs=120, nodes=(13, 200), seed=0)
    which = [Run({"name": "gcn", "hidden_channels": 4}, seed=seed, fold=0) for seed in range(cohort.FEW)]
    stack = Cohort(graphs, which, SHORT, "cpu")
    generators = [torch.Generator().manual_seed(run.seed) for run in which]
    for epoch in range(3):
        plan = large_batches_together(full_plan([torch.arange(120)] * len(which), generators, 16), graphs, epoch)
        rooms = stack.make_room(plan)
        for ids, room in zip(plan, rooms, strict=True):
            needed = graphs.bounds(ids)
            assert needed.num_nodes <= room.num_nodes <= cohort.GRID * needed.num_nodes + 16
            assert needed.num_edges <= room.num_edges
            assert room.num_nodes % 16 == 0
    assert len({room.num_nodes for room in rooms}) > 1
