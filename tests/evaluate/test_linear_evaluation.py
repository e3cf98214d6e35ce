import dataclasses

import numpy as np
import pytest
import torch

from ssread.data import GraphSet, load, stratified_folds
from ssread.data.splits import Fold
from ssread.errors import InputError
from ssread.evaluate import linear_evaluation as module
from ssread.evaluate import score
from ssread.evaluate.linear_evaluation import COSTS, by_encoder, labels_of, linear_evaluation, train_and_judge
from ssread.evaluate.runners import CPURunner
from ssread.evaluate.stacks import cohorts
from ssread.train import Run, Training
from ssread.train.unsupervised import learn

SHORT = Training(epochs=2, patience=2, batch_size=16)
MODEL = {"name": "gin", "hidden_channels": 8, "num_layers": 2, "num_positions": 2, "dropout": 0.0, "jumping": True}


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    made = load("planted", num_graphs=60, seed=1)
    column = 2 + 3 * (torch.arange(60) % 3)
    column[[3, 10]] = -1
    return dataclasses.replace(made, graph_columns={**made.graph_columns, "rings": column})


def fold_of(count: int, seed: int = 0) -> Fold:
    order = torch.from_numpy(np.random.default_rng(seed).permutation(count))
    parts = order.split([count - 2 * (count // 10), count // 10, count // 10])
    return Fold(*(part.sort().values for part in parts))


@pytest.mark.parametrize("classes", [2, 4])
def test_what_is_there_is_found_and_shuffled_labels_are_at_chance(classes):
    """Vectors that hold the class give nearly all; with labels of no meaning, no more than chance over many graphs."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(800) % classes
    vectors = torch.randn(800, 12, generator=generator) + 4 * torch.nn.functional.one_hot(labels, 12)
    shuffled = labels[torch.randperm(800, generator=generator)]

    def accuracy(truth: torch.Tensor) -> float:
        right = []
        for fold in (fold_of(800, seed) for seed in range(5)):
            found = linear_evaluation(vectors, truth, classes, fold).probabilities.argmax(dim=1)
            right.append((found == truth[fold.test]).float().mean())
        return float(np.mean(right))

    assert accuracy(labels) > 0.9
    assert accuracy(shuffled) == pytest.approx(1 / classes, abs=0.08), "400 graphs: three standard deviations"


def test_test_labels_decide_nothing():
    torch.manual_seed(0)
    labels, vectors, fold = torch.arange(100) % 3, torch.randn(100, 5), fold_of(100)
    other = labels.clone()
    other[fold.test] = (other[fold.test] + 1) % 3
    one, two = (linear_evaluation(vectors, truth, 3, fold) for truth in (labels, other))
    assert (one.cost, one.valid_accuracy, one.valid_loss) == (two.cost, two.valid_accuracy, two.valid_loss)
    assert torch.equal(one.probabilities, two.probabilities)


def test_the_smallest_of_equally_good_costs_is_taken():
    vectors = torch.tensor([[-5.0], [5.0]]).repeat(50, 1)
    judged = linear_evaluation(vectors, torch.tensor([0, 1]).repeat(50), 2, fold_of(100))
    assert judged.cost == COSTS[0]
    assert judged.valid_accuracy == 1
    assert judged.probabilities.sum(dim=1).tolist() == pytest.approx([1] * 10)


def test_graphs_without_a_label_take_no_part():
    torch.manual_seed(0)
    labels, vectors, fold = torch.arange(100) % 2, torch.randn(100, 5), fold_of(100)
    left_out = torch.cat([fold.train[:9], fold.validation[:2], fold.test[:3]])
    labels[left_out] = -1
    one = linear_evaluation(vectors, labels, 2, fold)
    assert torch.equal(one.test_ids, fold.test[3:])
    vectors[left_out] = 1e6
    two = linear_evaluation(vectors, labels, 2, fold)
    assert one.cost == two.cost
    torch.testing.assert_close(one.probabilities, two.probabilities)


def runs(how: str, task: str = "class", folds: int = 3, seeds: int = 2) -> list[Run]:
    return [Run(MODEL, seed, fold, folds, learn=how, task=task) for seed in range(seeds) for fold in range(folds)]


def test_folds_share_an_encoder_that_learnt_without_labels(graphs, monkeypatch):
    trained = []
    monkeypatch.setattr(module, "learn", lambda g, which, *rest: trained.extend(which) or learn(g, which, *rest))
    which = runs("graphcl")
    results = train_and_judge(graphs, which, SHORT)
    assert [(run.seed, run.fold) for run in trained] == [(0, 0), (1, 0)]
    assert [result.run for result in results] == which
    for result in results:
        fold = stratified_folds(graphs, 3, seed=result.run.seed)[result.run.fold]
        assert np.array_equal(result.test_ids, fold.test.numpy())
        assert np.array_equal(result.test_targets, graphs.y[fold.test].numpy())
        assert 0 <= score(result) <= 1
        assert (result.best_epoch, result.epochs) == (2, 2)


@pytest.mark.parametrize("how", ["supervised", "infograph"])
def test_properties_are_judged_from_the_encoder_of_the_fold(graphs, how):
    """Runs of two tasks in one go give what each gives alone, and the encoder knows nothing of the property."""
    which = runs(how, "rings", seeds=1)
    together = train_and_judge(graphs, [*which, *runs(how, "class", seeds=1)], SHORT)
    for run, result in zip(which, together, strict=False):
        (alone,) = train_and_judge(graphs, [run], SHORT)
        assert np.array_equal(alone.test_predictions, result.test_predictions)
        assert result.test_predictions.shape[1] == 3
        assert not {3, 10} & set(result.test_ids.tolist())
    if how == "supervised":
        assert {result.run.fold for result in together} == {0, 1, 2}
        assert len(by_encoder([*which, *runs(how, "class", seeds=1)])) == 3


def test_runs_are_grouped_by_what_has_to_be_trained():
    many = [*runs("graphcl"), *runs("graphcl", "rings"), *runs("supervised", "rings")]
    assert [len(group) for group in by_encoder(many)] == [6, 6, 1, 1, 1, 1, 1, 1]
    assert [len(group) for group in cohorts(many)] == [12, 6], "what learns from different things is no cohort"


def test_workers_give_what_this_process_gives(graphs):
    which = runs("infograph", seeds=1)
    here = {result.run.fold: result for result in train_and_judge(graphs, which, SHORT)}
    for result in CPURunner(2).train(graphs, which, SHORT):
        np.testing.assert_allclose(result.test_predictions, here[result.run.fold].test_predictions, atol=1e-4)


def test_an_encoder_that_failed_fails_all_its_runs(graphs):
    broken = dataclasses.replace(graphs, x=graphs.x * float("nan"))
    for how, task in (("graphcl", "class"), ("supervised", "rings")):
        for result in train_and_judge(broken, runs(how, task, seeds=1), SHORT):
            assert result.failed == "the loss was not a number at epoch 1"
            assert np.isnan(score(result))


def test_a_task_without_a_column_gets_a_sentence(graphs):
    with pytest.raises(InputError, match="planted has no graph column 'charge' to predict"):
        labels_of(graphs, "charge")
    labels, classes = labels_of(graphs, "rings")
    assert classes == 3
    assert set(labels.tolist()) == {-1, 0, 1, 2}
