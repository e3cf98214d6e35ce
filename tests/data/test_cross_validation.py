"""Folds by the name of a split: nothing leaks, groups stay together, and the split travels with the graphs."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.data import Fold, GraphSet, assemble, from_smiles, planted, stratified_folds, write_splits
from ssread.data.cross_validation import fold_of, folds_of, num_file_folds, with_split
from ssread.data.scaffold import scaffolds
from ssread.data.split_names import RANDOM, SPLITS
from ssread.errors import InputError

seeds = st.integers(0, 2**20)


def single_nodes(kinds: list[int]) -> GraphSet:
    """Graphs of one node each: two are copies if they are of the same kind."""
    return assemble(
        name="nodes",
        num_nodes=[1] * len(kinds),
        x=np.array(kinds).reshape(-1, 1),
        graph_of_edge=[],
        edges=[],
        y=np.arange(len(kinds)) % 2,
    )


def parts(fold: Fold) -> list[set[int]]:
    return [set(part.tolist()) for part in (fold.train, fold.validation, fold.test)]


def assert_same_folds(ours: list[Fold], theirs: list[Fold]) -> None:
    assert [parts(fold) for fold in ours] == [parts(fold) for fold in theirs]


def assert_partition(folds: list[Fold], num_graphs: int) -> None:
    """Every fold contains every graph once, and every graph is tested once."""
    everything = list(range(num_graphs))
    for fold in folds:
        assert sorted(torch.cat([fold.train, fold.validation, fold.test]).tolist()) == everything
    assert sorted(torch.cat([fold.test for fold in folds]).tolist()) == everything


def assert_together(folds: list[Fold], group_of: list) -> None:
    """No group is in two parts of a fold."""
    for fold in folds:
        groups = [{group_of[graph] for graph in part} for part in parts(fold)]
        assert all(not one & other for one, other in combinations(groups, 2))


@settings(max_examples=6)
@given(st.integers(2, 4), seeds)
def test_copies_stay_together(num_folds, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(np.repeat(np.arange(45), rng.integers(1, 4, 45))).tolist()  # each once to three times
    graphs, split = with_split(single_nodes(kinds), "duplicates")
    folds = folds_of(graphs, split, num_folds, seed)
    assert len(folds) == num_folds
    assert_partition(folds, len(kinds))
    assert_together(folds, kinds)


@settings(max_examples=5)
@given(seeds)
def test_scaffolds_stay_together(seed):
    pytest.importorskip("rdkit")
    rings = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "c1ccc2ccccc2c1", "C1CC1", "c1ccoc1", "c1ccsc1", "C1CCNCC1"]
    rings += ["C1CCOC1", "C1CCC1", "C1CCCC1", "c1cnccn1", "C1CCSCC1", "c1cc[nH]c1", ""]
    smiles = [tail + ring for tail in ("C", "CC", "CO", "CCN") for ring in rings]
    graphs, split = with_split(from_smiles(smiles, [number % 2 for number in range(len(smiles))]), "scaffold")
    folds = folds_of(graphs, split, 3, seed)
    assert_partition(folds, len(smiles))
    assert_together(folds, scaffolds(smiles))


@settings(max_examples=15)
@given(st.integers(40, 60), st.integers(2, 5), seeds)
def test_the_random_split_is_that_of_stratified_folds_and_needs_no_column(count, num_folds, seed):
    plain = single_nodes(list(range(count)))
    graphs, split = with_split(plain, RANDOM)
    assert graphs is plain
    folds = folds_of(graphs, split, num_folds, seed)
    assert_partition(folds, count)
    assert_same_folds(folds, stratified_folds(plain, num_folds, seed=seed))


@pytest.mark.parametrize("split", ["random", "duplicates"])
def test_the_seed_decides(split):
    graphs, split = with_split(single_nodes([number // 2 for number in range(80)]), split)
    first, again, other = (folds_of(graphs, split, 3, seed) for seed in (0, 0, 1))
    assert_same_folds(first, again)
    assert parts(first[0]) != parts(other[0])


@st.composite
def files_of_folds(draw: st.DrawFn) -> tuple[int, list[Fold]]:
    """Any folds a file may hold: parts of any size, graphs that are in no part, test parts that share no graph."""
    count = draw(st.integers(4, 20))
    tested = draw(st.lists(st.integers(-1, 2), min_size=count, max_size=count))
    folds = []
    for number in range(max(tested) + 1):
        part = [2 if test == number else draw(st.integers(-1, 1)) for test in tested]
        folds.append(
            Fold(*(torch.tensor([g for g in range(count) if part[g] == p], dtype=torch.int64) for p in range(3)))
        )
    return count, folds


@given(drawn=files_of_folds().filter(lambda drawn: drawn[1]), seed=seeds)
def test_a_file_comes_back_fold_by_fold_whatever_the_seed(drawn, seed, tmp_path_factory):
    count, folds = drawn
    path = tmp_path_factory.mktemp("splits") / "splits.json"
    write_splits(folds, path)
    graphs, split = with_split(single_nodes(list(range(count))), str(path))
    assert num_file_folds(graphs) == len(folds)
    assert_same_folds(folds_of(graphs, split, len(folds), seed), folds)


def test_the_name_of_a_file_split_follows_its_folds_not_its_path(tmp_path: Path):
    graphs = planted(40, seed=0)
    for name, seed in (("a", 0), ("copy of a", 0), ("b", 1)):
        write_splits(stratified_folds(graphs, 4, seed=seed), tmp_path / f"{name}.json")
    named = {name: with_split(graphs, str(tmp_path / f"{name}.json"))[1] for name in ("a", "copy of a", "b")}
    assert named["a"] == named["copy of a"] != named["b"]


@pytest.mark.parametrize("split", ["random", "duplicates", "file"])
def test_a_split_is_saved_with_the_graphs(split, tmp_path: Path):
    graphs = single_nodes([number // 2 for number in range(80)])
    if split == "file":
        split = str(tmp_path / "splits.json")
        write_splits(stratified_folds(graphs, 4, seed=3), split)
    graphs, name = with_split(graphs, split)
    graphs.save(tmp_path / "graphs.safetensors")
    (tmp_path / "splits.json").unlink(missing_ok=True)  # another machine does not have it
    loaded = GraphSet.load(tmp_path / "graphs.safetensors")
    assert_same_folds(folds_of(loaded, name, 4, seed=5), folds_of(graphs, name, 4, seed=5))


def test_columns_that_the_graphs_have_stay():
    graphs = planted(40, nodes=13, seed=0)
    split, _ = with_split(graphs, "duplicates")
    assert set(graphs.graph_columns) < set(split.graph_columns)
    assert graphs.graph_columns.keys() == planted(40, nodes=13, seed=0).graph_columns.keys()


def test_one_fold_by_its_number():
    graphs, split = with_split(single_nodes(list(range(40))), RANDOM)
    assert_same_folds([fold_of(graphs, split, 4, 0, fold) for fold in range(4)], folds_of(graphs, split, 4, 0))
    for fold in (-1, 4):
        with pytest.raises(InputError, match=f"no fold {fold} of 4; they are numbered from 0"):
            fold_of(graphs, split, 4, 0, fold)


def test_wrong_names_and_numbers_of_folds_get_sentences(tmp_path: Path):
    graphs = planted(40, seed=0)
    for split in ("scafold", "nowhere/splits.json", str(tmp_path), ""):
        with pytest.raises(InputError, match=f"There is no split '{split}': choose {', '.join(SPLITS)}, groups:COLUMN"):
            with_split(graphs, split)
    with pytest.raises(InputError, match="planted has no SMILES"):
        with_split(graphs, "scaffold")
    with pytest.raises(InputError, match="planted has no groups for the split 'duplicates': add them by with_split"):
        folds_of(graphs, "duplicates", 4, 0)
    write_splits(stratified_folds(graphs, 4), tmp_path / "splits.json")
    with_folds, split = with_split(graphs, str(tmp_path / "splits.json"))
    with pytest.raises(InputError, match="The split file has 4 folds, but 10 were asked for"):
        folds_of(with_folds, split, 10, 0)
    with pytest.raises(InputError, match=r"splits\.json.*contains graph \d+, but there are 20 graphs"):
        with_split(graphs[:20], str(tmp_path / "splits.json"))


def with_texts(**columns: list) -> GraphSet:
    graphs = single_nodes(list(range(len(next(iter(columns.values()))))))
    return replace(graphs, graph_texts={name: tuple(map(str, values)) for name, values in columns.items()})


@settings(max_examples=20)
@given(st.permutations(8 * "abcdefgh"), seeds)
def test_groups_of_a_column_stay_together(names, seed):
    graphs, split = with_split(with_texts(assay=names), "groups:assay")
    assert split.startswith("groups:assay ")
    for fold in folds_of(graphs, split, 3, seed):
        parts = [
            {graphs.graph_texts["assay"][graph] for graph in part} for part in (fold.train, fold.validation, fold.test)
        ]
        assert not any(one & other for one, other in combinations(parts, 2))


def test_a_column_names_the_parts():
    graphs, split = with_split(with_texts(set=["train"] * 6 + ["Valid"] * 2 + ["test"] * 2), "parts:set")
    (fold,) = folds_of(graphs, split, num_file_folds(graphs), seed=7)
    assert (fold.train.tolist(), fold.validation.tolist(), fold.test.tolist()) == ([0, 1, 2, 3, 4, 5], [6, 7], [8, 9])
    graphs, split = with_split(with_texts(set=["training"] * 20 + ["test"] * 2), "parts:set")
    (fold,) = folds_of(graphs, split, 1, seed=0)
    assert (len(fold.train), len(fold.validation), fold.test.tolist()) == (18, 2, [20, 21])


@given(st.permutations(range(40)), st.integers(1, 4), st.booleans())
def test_a_model_is_tested_on_what_came_after(order, num_folds, as_dates):
    values = [f"2026-01-{1 + day // 2:02}T{day % 2:02}:00" if as_dates else day / 7 for day in order]
    graphs, split = with_split(with_texts(when=values), "time:when")
    place = torch.tensor(order)
    folds = folds_of(graphs, split, num_folds, seed=0)
    for fold in folds:
        assert place[fold.train].max() < place[fold.validation].min()
        assert place[fold.validation].max() < place[fold.test].min()
    assert int(place[folds[-1].test].max()) == 39, "the latest graphs are tested"


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ("groups:assay", "nodes has no column 'assay' to split by; its columns are 'set', 'when'"),
        ("parts:set", "column 'set' says 'later' of graph 2; say train, validation or test"),
        ("time:when", "column 'when' says 'soon' of graph 3; numbers, or dates such as 2026-01-31"),
    ],
)
def test_columns_that_cannot_split_are_named(split, words):
    graphs = with_texts(
        set=["train", "test", "later", "train"], when=["2026-01-01", "2026-02-01", "2026-03-01", "soon"]
    )
    with pytest.raises(InputError, match=words):
        with_split(graphs, split)


def test_parts_need_something_to_train_and_to_test_on():
    with pytest.raises(InputError, match="column 'set' names no graph for test"):
        with_split(with_texts(set=["train"] * 4), "parts:set")


@pytest.mark.parametrize("kind", ["groups", "time"])
def test_the_name_of_a_split_by_column_follows_what_the_column_says(kind):
    """Stored trainings are told apart by it: other groups of the same graphs are another training."""
    columns = {"one": [*range(5)] * 2, "same": [*range(5)] * 2, "other": [*range(10)]}
    names = [with_split(with_texts(column=values), f"{kind}:column")[1] for values in columns.values()]
    assert names[0] == names[1] != names[2]
