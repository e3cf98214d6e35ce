"""The parts of a scaffold split share no ring system."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import stratified_folds
from ssread.data.molecules import from_smiles
from ssread.data.planted import planted
from ssread.data.scaffold import scaffold_groups, scaffold_split, scaffolds
from ssread.errors import InputError

pytest.importorskip("rdkit")

RINGS = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "c1ccc2ccccc2c1", "C1CC1", "c1ccoc1", "c1ccsc1", "C1CCNCC1", "C1CCOC1", ""]
TAILS = ["C", "CC", "CO", "CCN", "C(=O)O", "ClCC"]
molecules = st.lists(st.builds("{}{}".format, st.sampled_from(TAILS), st.sampled_from(RINGS)), min_size=1, max_size=30)


@given(molecules)
def test_groups_are_the_scaffolds(smiles: list[str]) -> None:
    names = scaffolds(smiles)
    groups = scaffold_groups(from_smiles(smiles)).tolist()
    assert groups == [names.index(name) for name in names]


def test_substituents_and_stereochemistry_do_not_matter_linkers_do() -> None:
    assert scaffolds(["Cc1ccccc1", "OCC[C@H](N)c1ccccc1", "c1ccccc1Cc1ccccc1", "CC", "[Na+].[Cl-]"]) == [
        "c1ccccc1",
        "c1ccccc1",
        "c1ccc(Cc2ccccc2)cc1",
        "",
        "",
    ]


@given(molecules.filter(lambda smiles: len(smiles) >= 10), st.floats(0.1, 0.4), st.floats(0.1, 0.4), st.integers(0, 9))
def test_the_parts_of_a_split_share_no_scaffold(smiles: list[str], validation: float, test: float, seed: int) -> None:
    names = scaffolds(smiles)
    try:
        fold = scaffold_split(smiles, validation, test, seed)
    except InputError as error:
        sentence = str(error)
    else:
        sentence = "part empty"
        parts = [{names[number] for number in part} for part in (fold.train, fold.validation, fold.test)]
        assert len(set.union(*parts)) == sum(map(len, parts))
        assert sorted([*fold.train, *fold.validation, *fold.test]) == list(range(len(smiles)))
        again = scaffold_split(smiles, validation, test, seed)
        assert again.test.tolist() == fold.test.tolist()
    assert "part empty" in sentence


def test_frequent_scaffolds_train() -> None:
    smiles = [f"{'C' * n}c1ccccc1" for n in range(1, 17)] + ["CC1CC1", "CCC1CC1", "Cc1ccoc1", "CC1CCNCC1"]
    for seed in range(5):
        fold = scaffold_split(smiles, seed=seed)
        assert fold.train.tolist() == list(range(16))
        assert sorted([len(fold.validation), len(fold.test)]) == [2, 2]


def chains_of_rings(count: int) -> list[str]:
    """Molecules that all have another scaffold."""
    return [f"C1CC1{'C' * n}C1CC1" for n in range(count)]


def test_a_file_sorted_by_class_has_every_class_in_every_part() -> None:
    smiles = chains_of_rings(60) + [f"{'C' * n}c1ccccc1" for n in range(1, 60)]
    labels = ["a"] * 30 + ["b"] * 30 + ["a", "b"] * 29 + ["a"]
    graphs = from_smiles(smiles, labels)
    splits = [scaffold_split(graphs, 0.1, 0.2, seed) for seed in range(4)]
    for fold in splits:
        for part in (fold.train, fold.validation, fold.test):
            share = graphs.y[part].float().mean()
            assert abs(share - graphs.y.float().mean()) < 0.12
    assert len({tuple(fold.test.tolist()) for fold in splits}) == 4


def test_a_part_without_a_class_gets_a_sentence() -> None:
    smiles = chains_of_rings(30)
    graphs = from_smiles(smiles, ["a"] * 28 + ["b"] * 2)
    with pytest.raises(
        InputError, match=r"part of \d+ molecules has none of the class 'b', whose 2 molecules have 2 sca"
    ):
        scaffold_split(graphs)


def test_folds_by_scaffold() -> None:
    smiles = [tail + ring for ring in RINGS for tail in TAILS]
    graphs = from_smiles(smiles, [number % 2 for number in range(len(smiles))])
    names = scaffolds(graphs)
    for fold in stratified_folds(graphs, 3, validation=0.25, groups=scaffold_groups(graphs)):
        parts = [{names[number] for number in part} for part in (fold.train, fold.validation, fold.test)]
        assert len(set.union(*parts)) == sum(map(len, parts))


def test_bad_input_gets_a_sentence() -> None:
    with pytest.raises(InputError, match=r"Molecule 1 .*'C1CC'"):
        scaffolds(["CC", "C1CC"])
    with pytest.raises(InputError, match="planted has no SMILES"):
        scaffold_groups(planted(5))
    with pytest.raises(InputError, match=r"validation=0\.5 and test=0\.6"):
        scaffold_split(["C"], 0.5, 0.6)
    with pytest.raises(InputError, match=r"2 molecules have 1 scaffolds.*validation part empty"):
        scaffold_split(["C", "CC"])
