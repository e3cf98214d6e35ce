import dataclasses
import itertools

import numpy as np
import pytest
import torch
from helpers.planted_runs import SHORT, assert_same, runs

from ssread.data import GraphSet, load
from ssread.errors import InputError
from ssread.train import Run, Training, train
from ssread.train.batch_plans import full_plan, large_batches_together
from ssread.train.cohort import Cohort
from ssread.train.fit import fit, fold_of_run
from ssread.train.seeds import Stream, seeded
from ssread.train.single import Single


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return load("planted", num_graphs=90, seed=3)


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
    fold = fold_of_run(graphs, run)
    y = graphs.y.clone()
    y[fold.test] = 1 - y[fold.test]
    other = dataclasses.replace(graphs, y=y)
    results = [fit(Single(g, run, SHORT), g, [run], [fold], SHORT)[0] for g in (graphs, other)]
    assert_same(*results)
    assert not np.array_equal(results[0].test_targets, results[1].test_targets)


def test_training_learns(graphs):
    (result,) = train(graphs, runs(1), Training(epochs=60, patience=60, batch_size=16))
    assert result.curves["train_loss"][-1] < 0.7 * result.curves["train_loss"][0]
    assert result.curves["alignment_loss"][-1] < result.curves["alignment_loss"][0]


def test_a_loss_that_is_not_a_number_ends_that_run_alone(graphs):
    which = runs(3)
    fold = fold_of_run(graphs, which[1])
    training = dataclasses.replace(SHORT, epochs=3)
    stack = Cohort(graphs, which, training, "cpu")
    with torch.no_grad():
        stack.parameters["model.head.weight"][1] = float("nan")
    results = fit(stack, graphs, which, [fold_of_run(graphs, run) for run in which], training)
    assert [result.failed for result in results] == ["", "the loss was not a number at epoch 1", ""]
    assert results[1].epochs == 1
    assert np.isnan(results[1].test_predictions).all()
    assert results[1].test_predictions.shape == (len(fold.test), 2)
    assert results[0].epochs == results[2].epochs == 3


def test_progress_is_called_after_every_epoch(graphs):
    called = []
    (result,) = train(graphs, runs(1), SHORT, progress=lambda run, epoch, accuracy: called.append((epoch, accuracy)))
    assert [accuracy for _, accuracy in called] == result.curves["valid_accuracy"]


def test_a_fold_that_is_not_there_gets_a_sentence(graphs):
    with pytest.raises(InputError, match="no fold 5 of 5; they are numbered from 0"):
        train(graphs, [Run({"name": "gcn"}, seed=0, fold=5, num_folds=5)])


def test_averaged_weights_are_the_mean_of_those_after_every_epoch(graphs):
    """With a share of 1, of all epochs so far; the mean is what is judged and kept."""
    run = runs(1)[0]
    single, plain = Single(graphs, run, SHORT), Single(graphs, run, SHORT)
    plan = torch.arange(64).view(4, 1, 16)
    after = []
    for epoch in range(1, 5):
        for engine in (single, plain):
            engine.train_epoch(plan)
        single.average(1 / epoch)
        after.append(plain.state())
    for name, value in single.state().items():
        if value.is_floating_point():
            torch.testing.assert_close(value, torch.stack([state[name] for state in after]).mean(dim=0))
    ids = torch.arange(64, 80).unsqueeze(0)
    assert torch.equal(single.logits(ids), plain.logits(ids, single.state()))


def test_the_falling_learning_rate_ends_at_nothing(graphs):
    training = Training(epochs=10, patience=10, batch_size=16, schedule="cosine")
    rates = [training.learning_rate_at(epoch) for epoch in range(1, 11)]
    assert rates[0] == training.learning_rate
    assert all(later < earlier for earlier, later in itertools.pairwise(rates))
    assert rates[-1] < 0.03 * rates[0]
    (falling,), (constant,) = (
        train(graphs, runs(1), dataclasses.replace(training, schedule=schedule)) for schedule in ("cosine", "constant")
    )
    assert falling.curves["train_loss"][0] == constant.curves["train_loss"][0]
    assert falling.curves["train_loss"][-1] != constant.curves["train_loss"][-1]


def test_seen_graphs_choose_the_epoch_of_the_public_recipe(graphs):
    """By the accuracy on training and validation parts together; the validation accuracy is reported all the same."""
    training = Training(epochs=12, patience=12, batch_size=16, selection="seen")
    run = runs(1)[0]
    fold = fold_of_run(graphs, run)
    best, (result,) = [], train(graphs, [run], training)
    engine, generator = Single(graphs, run, training), torch.Generator().manual_seed(seeded(run, Stream.ORDER))
    seen = torch.cat([fold.validation, fold.train])
    for epoch in range(1, 13):
        engine.train_epoch(large_batches_together(full_plan([fold.train], [generator], 16), graphs, epoch))
        right = (engine.logits(seen.unsqueeze(0))[0].argmax(dim=1) == graphs.y[seen]).float()
        best.append((right.mean().item(), -result.curves["valid_loss"][epoch - 1]))
        valid = right[: len(fold.validation)].mean().item()
        assert result.curves["valid_accuracy"][epoch - 1] == pytest.approx(valid)
    assert result.best_epoch == 1 + max(range(12), key=lambda epoch: best[epoch])
    assert result.valid_accuracy == result.curves["valid_accuracy"][result.best_epoch - 1]
