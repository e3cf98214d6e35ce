"""Molecules labelled by rules: balanced, with decoys, the atoms of every positive marked."""

from collections import Counter

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from rdkit import Chem

from ssread.data import from_smiles, planted
from ssread.errors import InputError
from ssread.explain.rule_benchmark import DECOY, _sample, rule_graphs
from ssread.explain.rules import parse_rule

CHAINS = ["C" * length for length in range(2, 60)]
MOLECULES = from_smiles(
    [f"{chain}O" for chain in CHAINS]
    + [f"{chain}N" for chain in CHAINS]
    + [f"N{chain}O" for chain in CHAINS]
    + CHAINS
    + ["CCO", "OCC"]  # the same molecule as CCO above
)
RULE = {"alcohol": parse_rule("[OX2H1] and not N")}


def test_classes_are_balanced_and_half_of_the_negatives_are_decoys():
    ((name, sample),) = rule_graphs(MOLECULES, RULE, size=60)
    assert name == "alcohol"
    assert sample.name == "molecules: alcohol"
    assert torch.bincount(sample.y).tolist() == [30, 30]
    assert int(sample.graph_columns[DECOY].sum()) == 15
    for number, smiles in enumerate(sample.graph_texts["smiles"]):
        molecule = Chem.MolFromSmiles(smiles)
        alcohol, amine = (molecule.HasSubstructMatch(Chem.MolFromSmarts(s)) for s in ("[OX2H1]", "N"))
        assert bool(sample.y[number]) == (alcohol and not amine)
        assert bool(sample.graph_columns[DECOY][number]) == amine
        own = sample.node_columns["deciding"][sample.node_ptr[number] : sample.node_ptr[number + 1]]
        oxygens = torch.tensor([atom.GetSymbol() == "O" for atom in molecule.GetAtoms()])
        assert torch.equal(own.bool(), oxygens & bool(sample.y[number]))


@given(
    sizes=st.dictionaries(st.sets(st.sampled_from(["A", "B", "C"])).map(frozenset), st.integers(1, 60), min_size=1),
    positives=st.integers(25, 80),
    size=st.integers(50, 200),
    seed=st.integers(0, 9),
)
def test_decoys_are_drawn_evenly_over_the_groups_that_they_contain(sizes, positives, size, seed):
    negatives, kind_of = {}, {}
    for groups, count in sizes.items():
        negatives[groups] = list(range(positives + len(kind_of), positives + len(kind_of) + count))
        kind_of.update(dict.fromkeys(negatives[groups], groups))
    assume(len(kind_of) >= 25)
    chosen = _sample(list(range(positives)), negatives, size, seed, "The rule", "mine").tolist()
    assert chosen == sorted(set(chosen))
    drawn = Counter(kind_of[number] for number in chosen if number >= positives)
    per_class = min(size // 2, positives, len(kind_of))
    assert sum(drawn.values()) == per_class == len(chosen) - sum(drawn.values())
    others = drawn.pop(frozenset(), 0)
    kinds = [groups for groups in sizes if groups]
    in_all = sum(sizes[groups] for groups in kinds)
    assert sum(drawn.values()) == min(in_all, max(per_class // 2, per_class - sizes.get(frozenset(), 0)))
    assert others == per_class - sum(drawn.values())
    most = max((drawn[groups] for groups in kinds), default=0)
    for groups in kinds:  # a kind has as many as any other, or all that there are
        assert drawn[groups] >= most - 1 or drawn[groups] == sizes[groups]


def test_one_group_of_a_rule_alone_does_not_tell_positives_from_negatives():
    """Molecules with nitrogen are rare among these, and still half of the decoys have it without oxygen."""
    molecules = from_smiles(
        [f"{chain}O" for chain in CHAINS]
        + CHAINS
        + [f"{chain}N" for chain in CHAINS[:15]]
        + [f"N{chain}O" for chain in CHAINS]
    )
    ((_, sample),) = rule_graphs(molecules, {"both": parse_rule("O and N")}, size=60)
    negatives = [text for text, holds in zip(sample.graph_texts["smiles"], sample.y, strict=True) if not holds]
    assert sorted([sum("N" in text for text in negatives), sum("O" in text for text in negatives)]) == [7, 8]


def test_molecules_are_not_repeated_and_the_seed_decides_which():
    (_, all_of_them) = next(rule_graphs(MOLECULES, RULE, size=1000))
    texts = [Chem.CanonSmiles(smiles) for smiles in all_of_them.graph_texts["smiles"]]
    assert len(set(texts)) == len(texts)
    assert torch.bincount(all_of_them.y).tolist() == [58, 58]
    samples = [next(rule_graphs(MOLECULES, RULE, size=60, seed=seed))[1] for seed in (0, 0, 1)]
    texts = [sample.graph_texts["smiles"] for sample in samples]
    assert texts[0] == texts[1] != texts[2]


def test_a_rule_that_holds_for_too_few_molecules_is_refused():
    with pytest.raises(
        InputError, match=r"The rule 'S' holds for 0 different molecules of molecules .* 232: at least 25"
    ):
        next(rule_graphs(MOLECULES, {"thiol": parse_rule("S")}))


def test_graphs_that_are_no_molecules_are_refused():
    with pytest.raises(InputError, match="planted has no molecules that RDKit accepts"):
        next(rule_graphs(planted(4), RULE))
