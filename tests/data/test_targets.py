import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread import InputError
from ssread.data import from_smiles
from ssread.data.graphset import GraphSet
from ssread.data.splits import stratified_folds
from ssread.data.targets import has_no_target, targets_of

EMPTY = (None, "", " ", "nan", float("nan"))


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (["a", "b"], "classification"),
        (["0", "1", 1.0], "classification"),
        (range(20), "classification"),
        (range(21), "regression"),
        ([0.5, 1], "regression"),
        (["-3.2", "7"], "regression"),
        ([True, False], "classification"),
        ([(0, 1), (1, None)], "multilabel"),
        ([("yes", "inactive"), ("No", True)], "multilabel"),
        ([(0, 1), (2, None)], "regression"),
        (np.array([[0.0, np.nan], [1.0, 1.0]]), "multilabel"),
    ],
)
def test_the_task_is_told_from_the_labels(labels, task) -> None:
    assert targets_of(labels, "here").task == task


def test_a_task_can_be_asked_for() -> None:
    assert targets_of([0, 1, 2], "here", task="regression").y.tolist() == [[0], [1], [2]]
    assert targets_of([0, 1, None], "here", task="multilabel").y.shape == (3, 1)
    assert targets_of([0.5, 1.5], "here", task="classification").class_names == ("0.5", "1.5")


@pytest.mark.parametrize(
    ("labels", "task", "words"),
    [
        ([(1, 0), (0, 2)], "multilabel", "'label 1' of graph 1 is 2; the task multilabel needs 0 or 1"),
        ([("x", 1), ("y", 2)], None, "'label 0' of graph 0 is 'x'; the task regression needs a number"),
        (["a", "b"], "regression", "'label 0' of graph 0 is 'a'"),
        ([(1, 0)], "classification", "2 labels per graph are no single class"),
        ([1, 0], "ranking", "no task 'ranking'"),
        ([(1, 0), (1,)], None, "every graph needs 2 labels"),
    ],
)
def test_labels_that_do_not_fit_are_named(labels, task, words) -> None:
    with pytest.raises(InputError, match=words):
        targets_of(labels, "here", task=task)


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, *EMPTY])] * 3), min_size=1, max_size=20))
def test_empty_cells_are_unknown_and_the_others_stay(rows) -> None:
    y = targets_of(rows, "here", task="multilabel").y
    for row, found in zip(rows, y, strict=True):
        assert has_no_target(row) == bool(np.isnan(found).all())
        for cell, value in zip(row, found, strict=True):
            assert value == cell if isinstance(cell, int) else np.isnan(value)


def make(task: str, count: int = 40) -> GraphSet:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (count, 3)).astype(float) if task == "multilabel" else rng.normal(size=(count, 2))
    labels[rng.random(labels.shape) < 0.3] = np.nan
    labels[np.isnan(labels).all(axis=1), 0] = 1
    return from_smiles(["C" * (1 + number % 7) for number in range(count)], labels, task=task)


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_a_set_with_several_targets_is_selected_batched_and_saved(task, tmp_path) -> None:
    graphs = make(task)
    graphs.save(tmp_path / "set.safetensors")
    again = GraphSet.load(tmp_path / "set.safetensors")
    assert (again.task, again.target_names) == (task, graphs.target_names)
    torch.testing.assert_close(again.y, graphs.y, equal_nan=True)
    torch.testing.assert_close(graphs[[3, 1]].y, graphs.y[[3, 1]], equal_nan=True)
    ids = torch.tensor([[3, 1, -1]])
    padded = graphs.padded_batch(ids, graphs.bounds(ids))
    torch.testing.assert_close(padded.y[0, :2], graphs.y[[3, 1]], equal_nan=True)
    assert bool(padded.y[0, 2].isnan().all())
    assert f"{graphs.target_names[0]!r}" in repr(graphs)


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_folds_without_classes_spread_what_is_to_be_predicted(task) -> None:
    graphs = make(task, 200)
    folds = stratified_folds(graphs, 4, seed=1)
    assert sorted(torch.cat([fold.test for fold in folds]).tolist()) == list(range(200))
    means = torch.stack([graphs.y[fold.test].nanmean(dim=0)[0] for fold in folds])
    assert float(means.max() - means.min()) < 0.45


def test_a_target_that_never_changes_cannot_be_learnt() -> None:
    graphs = from_smiles(["C", "CC", "CCC"], [(1, 0), (1, 1), (1, None)])
    with pytest.raises(InputError, match="'label 0' has only the value 1: there is nothing to learn"):
        stratified_folds(graphs, 2)
