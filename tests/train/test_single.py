import pytest
import torch
from helpers.planted_runs import runs

from ssread.data import GraphSet, load
from ssread.train import Training
from ssread.train.batch_plans import even_plan
from ssread.train.single import Single

TRAINING = Training(epochs=4, batch_size=8, averaging=0.5)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return load("planted", num_graphs=24, seed=1)


def epochs(engine: Single, numbers: range) -> list[torch.Tensor]:
    losses = []
    for epoch in numbers:
        order = torch.randperm(24, generator=torch.Generator().manual_seed(epoch)).unsqueeze(0)
        losses.append(engine.train_epoch(even_plan(order, TRAINING.batch_size)))
        engine.average(TRAINING.averaging_weight(epoch))
    return losses


def test_a_restored_model_continues_with_the_same_numbers(graphs):
    (run,) = runs(1, dropout=0.5)
    engine = Single(graphs, run, TRAINING)
    epochs(engine, range(1, 4))
    snapshot = engine.snapshot()
    losses, state = epochs(engine, range(4, 7)), engine.state()
    torch.rand(3)  # whatever else draws random numbers in between

    other = Single(graphs, run, TRAINING)
    other.restore(snapshot)
    assert all(torch.equal(*pair) for pair in zip(epochs(other, range(4, 7)), losses, strict=True))
    assert all(torch.equal(other.state()[name], value) for name, value in state.items())


def test_a_snapshot_does_not_change_with_further_training(graphs):
    engine = Single(graphs, runs(1)[0], TRAINING)
    epochs(engine, range(1, 2))
    snapshot = engine.snapshot()
    before = {name: value.clone() for name, value in snapshot.items()}
    epochs(engine, range(2, 3))
    assert all(torch.equal(snapshot[name], value) for name, value in before.items())


def test_averaged_weights_are_evaluated_where_there_are_any(graphs):
    engine, ids = Single(graphs, runs(1)[0], TRAINING), torch.arange(24).unsqueeze(0)
    engine.average(1.0)
    initial = engine.logits(ids)
    engine.train_epoch(even_plan(ids, 8))
    assert torch.equal(engine.logits(ids), initial)
    engine.average(1.0)
    assert not torch.equal(engine.logits(ids), initial)


def test_the_learning_rate_can_be_set_to_0(graphs):
    engine, ids = Single(graphs, runs(1)[0], Training(weight_decay=0.0)), torch.arange(24).unsqueeze(0)
    engine.set_learning_rate(torch.zeros(1))
    before = {name: value.clone() for name, value in engine._model.named_parameters()}
    engine.train_epoch(even_plan(ids, 8))
    assert all(torch.equal(value, before[name]) for name, value in engine._model.named_parameters())
