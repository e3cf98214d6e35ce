import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold

from ssread.data import Fold, GraphSet, assemble, check_folds, read_splits, stratified_folds, write_splits
from ssread.errors import InputError


def labelled(labels: list[int], num_classes: int = 3) -> GraphSet:
    """Graphs of one node each, because splits depend on labels alone."""
    return assemble(
        name="labelled",
        num_nodes=[1] * len(labels),
        x=np.ones((len(labels), 1)),
        graph_of_edge=[],
        edges=[],
        y=labels,
        class_names=[f"class {number}" for number in range(num_classes)],
    )


@given(st.lists(st.integers(20, 60), min_size=2, max_size=3), st.integers(2, 10), st.integers(0, 1000))
def test_folds_partition_the_set_and_keep_its_classes(members: list[int], num_folds: int, seed: int) -> None:
    labels = [number for number, count in enumerate(members) for _ in range(count)]
    graphs = labelled(labels)
    folds = stratified_folds(graphs, num_folds, seed=seed)
    assert len(folds) == num_folds
    assert sorted(torch.cat([fold.test for fold in folds]).tolist()) == list(range(len(labels)))
    for fold in folds:
        every = torch.cat([fold.train, fold.validation, fold.test]).tolist()
        assert sorted(every) == list(range(len(labels)))
        rest = len(fold.train) + len(fold.validation)
        assert len(fold.validation) == int(np.ceil(0.1 * rest))
        for number, count in enumerate(members):
            in_test = int((graphs.y[fold.test] == number).sum())
            assert abs(in_test - count / num_folds) < 1
            in_validation = int((graphs.y[fold.validation] == number).sum())
            assert abs(in_validation - len(fold.validation) * (count - in_test) / rest) <= 1
    again = stratified_folds(graphs, num_folds, seed=seed)
    assert all(torch.equal(one.train, other.train) for one, other in zip(folds, again, strict=True))


def test_another_seed_gives_other_folds(mutag: GraphSet) -> None:
    assert not torch.equal(stratified_folds(mutag)[0].test, stratified_folds(mutag, seed=1)[0].test)
    assert repr(stratified_folds(mutag)[0]) == "Fold(train=152, validation=17, test=19)"


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_groups_stay_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = labelled(rng.permutation([0] * 60 + [1] * 60).tolist(), 2)
    groups = rng.integers(0, 50, 120)
    folds = stratified_folds(graphs, 4, groups=groups, seed=seed)
    assert sorted(torch.cat([fold.test for fold in folds]).tolist()) == list(range(120))
    for fold in folds:
        parts = [set(groups[part].tolist()) for part in (fold.train, fold.validation, fold.test)]
        assert not parts[0] & parts[1]
        assert not parts[0] & parts[2]
        assert not parts[1] & parts[2]
        assert 3 <= len(fold.validation) <= 20


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8), reason="scikit-learn's own groups are not shuffled"
)
@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_the_folds_by_groups_are_those_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, groups = rng.integers(0, 2, 80), rng.integers(-5, 20, 80)
    folds = stratified_folds(labelled(labels.tolist(), 2), 3, groups=groups, seed=seed)
    splitter = StratifiedGroupKFold(3, shuffle=True, random_state=seed)
    assert [fold.test.tolist() for fold in folds] == [
        test.tolist() for _, test in splitter.split(labels, labels, groups)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_group_is_learnt_from_unless_it_is_tested(seed: int) -> None:
    """A third of the graphs are one group, which a tenth for validation must not be."""
    groups = [0] * 40 + list(range(1, 81))
    for fold in stratified_folds(labelled([0, 1] * 60, 2), 4, groups=groups, seed=seed):
        assert 0 not in {groups[number] for number in fold.validation.tolist()}
        assert 6 <= len(fold.validation) <= 12


def test_the_folds_by_groups_are_the_same_with_every_scikit_learn() -> None:
    folds = stratified_folds(labelled([0, 1] * 12, 2), 3, groups=[number // 3 for number in range(24)], seed=5)
    assert [fold.test.tolist() for fold in folds] == [
        [3, 4, 5, 18, 19, 20, 21, 22, 23],
        [0, 1, 2, 6, 7, 8],
        [9, 10, 11, 12, 13, 14, 15, 16, 17],
    ]


@pytest.mark.parametrize(
    ("labels", "options", "sentence"),
    [
        ([0] * 20, {}, "labelled has graphs of one class only .*'class 0'.*at least two classes are needed"),
        (
            [0] * 20 + [1] * 3,
            {},
            "Class 'class 1' of labelled has 3 graphs, fewer than the 10 folds: choose",
        ),
        ([0] * 20 + [1], {}, "Class 'class 1' of labelled has one graph only"),
        ([0], {"num_folds": 2}, "labelled has 1 graphs: folds need at least 2"),
        ([0, 1] * 3, {"num_folds": 7}, "6 graphs cannot be split into num_folds=7: choose 2 to 6"),
        ([0, 1] * 3, {"num_folds": 1}, "6 graphs cannot be split into num_folds=1"),
        ([0, 1] * 2, {"num_folds": 2}, "2 graphs are too few to hold out a share of 0.1 with every class"),
        ([0, 1] * 20, {"validation": 0}, "validation=0 is not a share between 0 and 1"),
        ([0, 1] * 20, {"groups": [0, 1]}, "There are 2 groups, but labelled has 40 graphs"),
        ([0, 1] * 20, {"groups": [0, 1] * 20}, "2 groups cannot be split into 10 parts"),
    ],
)
def test_what_allows_no_folds_is_named(labels: list[int], options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        stratified_folds(labelled(labels), **options)


def test_graphs_without_labels() -> None:
    graphs = assemble(name="bare", num_nodes=[1], x=[[1.0]], graph_of_edge=[], edges=[])
    with pytest.raises(InputError, match="bare has no labels"):
        stratified_folds(graphs)


@pytest.mark.parametrize("parts", [([0, 1], [1], [2]), ([0], [1], [0]), ([0], [1], [1]), ([0, 0], [1], [2])])
def test_a_fold_that_leaks_cannot_be_made(parts: tuple[list[int], ...]) -> None:
    with pytest.raises(InputError, match=r"A fold leaks: graph [01] is (in both|twice in) its"):
        Fold(*(torch.tensor(part) for part in parts))


def test_test_parts_share_no_graph() -> None:
    fold = Fold(torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
    other = Fold(torch.tensor([0]), torch.tensor([3]), torch.tensor([2]))
    check_folds([fold], 3)
    with pytest.raises(InputError, match="Graph 2 is in the test parts of both fold 0 and fold 1"):
        check_folds([fold, other], 4)
    with pytest.raises(InputError, match="Fold 0 contains graph 2, but there are 2 graphs"):
        check_folds([fold], 2)


def test_files_are_read_and_written_in_the_published_format(tmp_path: Path, mutag: GraphSet) -> None:
    folds = stratified_folds(mutag, seed=4)
    write_splits(folds, tmp_path / "splits" / "MUTAG.json")
    content = json.loads((tmp_path / "splits" / "MUTAG.json").read_text())
    assert set(content[0]) == {"test", "model_selection"}
    assert set(content[0]["model_selection"][0]) == {"train", "validation"}
    for one, other in zip(folds, read_splits(tmp_path / "splits" / "MUTAG.json", len(mutag)), strict=True):
        assert torch.equal(one.train, other.train)
        assert torch.equal(one.validation, other.validation)
        assert torch.equal(one.test, other.test)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[", "cannot be read as JSON"),
        ("{}", "is not a list of folds"),
        ("[]", "is not a list of folds"),
        ("[1]", "fold 0 has no 'model_selection'"),
        ('[{"test": [0]}]', "fold 0 has no 'model_selection'"),
        ('[{"test": [0], "model_selection": []}]', "fold 0 has no 'model_selection'"),
        ('[{"test": [0], "model_selection": [{"train": [1]}]}]', "'validation' of fold 0 is not a list"),
        ('[{"test": ["0"], "model_selection": {"train": [1], "validation": [2]}}]', "'test' of fold 0 is not a list"),
        ('[{"test": [true], "model_selection": {"train": [2], "validation": [3]}}]', "'test' of fold 0 is not a list"),
        ('[{"test": [0], "model_selection": [{"train": [0], "validation": [2]}]}]', "fold 0: A fold leaks: graph 0"),
        ('[{"test": [9], "model_selection": [{"train": [0], "validation": [2]}]}]', "Fold 0 contains graph 9"),
        ('[{"test": [-1], "model_selection": [{"train": [0], "validation": [2]}]}]', "Fold 0 contains graph -1"),
        (f'[{{"test": [{10**30}], "model_selection": [{{"train": [0], "validation": [2]}}]}}]', "fold 0: "),
    ],
)
def test_wrong_files_are_named(content: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "splits.json"
    with pytest.raises(InputError, match=r"splits\.json cannot be read"):
        read_splits(path, 4)
    path.write_text(content)
    with pytest.raises(InputError, match=rf"splits\.json.*{sentence}"):
        read_splits(path, 4)
