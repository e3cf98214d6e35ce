import dataclasses

import numpy as np
import pytest
import torch

from ssread.data import GraphSet, load
from ssread.errors import InputError
from ssread.train import Run, RunResult, Training, cohort, engine, train
from ssread.train.batch_plans import full_plan, in_step
from ssread.train.cohort import Cohort
from ssread.train.engine import Single
from ssread.train.fit import _fold, fit

SHORT = Training(epochs=6, patience=3, batch_size=16)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return load("planted", num_graphs=90, seed=3)


def runs(folds: int = 4, **model: object) -> list[Run]:
    arguments = {"name": "gcn", "hidden_channels": 12, "num_positions": 3, "dropout": 0.0, **model}
    return [Run(arguments, seed=fold % 2, fold=fold, num_folds=5) for fold in range(folds)]


def cohort_of(graphs: GraphSet, which: list[Run], training: Training, device: str = "cpu") -> list[RunResult]:
    return fit(Cohort(graphs, which, training, device), graphs, which, [_fold(graphs, run) for run in which], training)


def assert_same(one: RunResult, other: RunResult, exact: bool = True) -> None:
    assert (one.run, one.best_epoch, one.epochs) == (other.run, other.best_epoch, other.epochs)
    tolerance = 0 if exact else 1e-6
    for name in one.curves:
        np.testing.assert_allclose(one.curves[name], other.curves[name], atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(one.test_probabilities, other.test_probabilities, atol=tolerance, rtol=tolerance)
    np.testing.assert_array_equal(one.test_ids, other.test_ids)


@pytest.fixture
def double():
    """Rounding may put a node on the other side of two positions, and a different path from there on is no mistake."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", ["gcn", "gin", "dgcnn", "diffpool", "sagpool", "gunet", "structure_blind"])
@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_a_run_in_a_cohort_equals_the_run_alone(graphs, name, readout, device, monkeypatch):
    """Curves, choice of epoch and test probabilities, with runs that stop at different passes."""
    if name != "gcn":
        # A bias before a batch norm has no gradient but rounding, which Adam turns into steps of full length.
        for module in (engine, cohort):
            monkeypatch.setattr(module, "adam", lambda parameters, _: torch.optim.SGD(parameters, lr=0.002))
    monkeypatch.setattr(cohort, "FEW", 0 if readout == "ssread" else 8)  # a room for every size of batch, or for all
    which = runs(name=name, readout=readout)
    x = torch.randn(len(graphs.x), 5)  # a constant channel after a batch norm is a 0 that rounding puts on either side
    graphs = dataclasses.replace(graphs, x=x, node_feature_names=tuple("abcde"))
    together = cohort_of(graphs, which, SHORT, device)
    assert len({result.epochs for result in together}) > 1 or name != "gcn"
    for run, result in zip(which, together, strict=True):
        assert_same(result, train(graphs, [run], SHORT)[0], exact=False)


def test_every_batch_has_room_and_not_much_more():
    graphs = load("planted", num_graphs=120, nodes=(13, 200), seed=0)
    which = [Run({"name": "gcn", "hidden_channels": 4}, seed=seed, fold=0) for seed in range(cohort.FEW)]
    engine_of = Cohort(graphs, which, SHORT, "cpu")
    generators = [torch.Generator().manual_seed(run.seed) for run in which]
    for epoch in range(3):
        plan = in_step(full_plan([torch.arange(120)] * len(which), generators, 16), graphs, epoch)
        rooms = engine_of._make_room(plan)
        for ids, room in zip(plan, rooms, strict=True):
            needed = graphs.bounds(ids)
            assert needed.num_nodes <= room.num_nodes <= cohort.GRID * needed.num_nodes + 16
            assert needed.num_edges <= room.num_edges
            assert room.num_nodes % 16 == 0
    assert len({room.num_nodes for room in rooms}) > 1


def test_replicas_without_a_last_batch_stand_still(graphs):
    """64 graphs make four batches of 16, 65 make five: in the fifth the first model must not move."""
    which, members = runs(2), [torch.arange(64), torch.arange(65)]
    engine_of = Cohort(graphs, which, SHORT, "cpu")
    engine_of.one_pass(torch.stack([part[:16] for part in members]).unsqueeze(0))
    before = cohort.state()
    engine_of.one_pass(torch.tensor([[[-1], [64]]]))
    after = cohort.state()
    moved = [name for name in before if not torch.equal(before[name][1], after[name][1])]
    assert moved
    assert all(torch.equal(before[name][0], after[name][0]) for name in before)


def test_the_same_seeds_give_the_same_numbers_with_dropout_too(graphs):
    which = runs(2, dropout=0.5)
    for one, other in zip(train(graphs, which, SHORT), train(graphs, which[::-1], SHORT)[::-1], strict=True):
        assert_same(one, other)


def test_the_best_epoch_is_chosen_on_validation_data_and_patience_counts_from_it(graphs):
    for result in train(graphs, runs(dropout=0.5), Training(epochs=40, patience=4, batch_size=16)):
        pairs = list(zip(result.curves["valid_accuracy"], [-x for x in result.curves["valid_loss"]], strict=True))
        best = max(range(len(pairs)), key=lambda epoch: (pairs[epoch], -epoch))
        assert result.best_epoch == best + 1
        assert (result.valid_accuracy, -result.valid_loss) == pytest.approx(pairs[best])
        assert result.epochs == min(result.best_epoch + 4, 40) == len(pairs)


def test_test_labels_decide_nothing(graphs):
    """Whatever the labels of the test part, training, choice and predictions are the same."""
    run = runs(1)[0]
    fold = _fold(graphs, run)
    y = graphs.y.clone()
    y[fold.test] = 1 - y[fold.test]
    other = dataclasses.replace(graphs, y=y)
    results = [fit(Single(g, run, SHORT), g, [run], [fold], SHORT)[0] for g in (graphs, other)]
    assert_same(*results)
    assert not np.array_equal(results[0].test_labels, results[1].test_labels)


def test_training_learns(graphs):
    (result,) = train(graphs, runs(1), Training(epochs=60, patience=60, batch_size=16))
    assert result.curves["train_loss"][-1] < 0.7 * result.curves["train_loss"][0]
    assert result.curves["alignment_loss"][-1] < result.curves["alignment_loss"][0]


def test_a_loss_that_is_not_a_number_ends_that_run_alone(graphs):
    which = runs(3)
    fold = _fold(graphs, which[1])
    training = dataclasses.replace(SHORT, epochs=3)
    engine_of = Cohort(graphs, which, training, "cpu")
    with torch.no_grad():
        cohort._parameters["model.head.weight"][1] = float("nan")
    results = fit(cohort, graphs, which, [_fold(graphs, run) for run in which], training)
    assert [result.failed for result in results] == ["", "the loss was not a number at epoch 1", ""]
    assert results[1].epochs == 1
    assert np.isnan(results[1].test_probabilities).all()
    assert results[1].test_probabilities.shape == (len(fold.test), 2)
    assert results[0].epochs == results[2].epochs == 3


def test_progress_hears_of_every_pass(graphs):
    heard = []
    (result,) = train(graphs, runs(1), SHORT, progress=lambda run, epoch, accuracy: heard.append((epoch, accuracy)))
    assert [accuracy for _, accuracy in heard] == result.curves["valid_accuracy"]


def test_a_fold_that_is_not_there_gets_a_sentence(graphs):
    with pytest.raises(InputError, match="no fold 5 of 5; they are numbered from 0"):
        train(graphs, [Run({"name": "gcn"}, seed=0, fold=5, num_folds=5)])
