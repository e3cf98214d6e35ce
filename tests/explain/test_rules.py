"""Rules over substructures: what they say of molecules, which atoms decide, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem

from ssread.errors import InputError
from ssread.explain.rules import WORDS, parse_rule

NITRO = "[N+](=O)[O-]"


def answer(rule: str, smiles: str, hydrogens: bool = False):
    molecule = Chem.MolFromSmiles(smiles)
    return parse_rule(rule).answer(Chem.AddHs(molecule) if hydrogens else molecule)


@pytest.mark.parametrize(
    ("rule", "smiles", "atoms"),
    [
        ("[OX2H1]", "CCO", [2]),
        ("[OX2H1]", "OCCO", [0, 3]),
        ("[OX2H1] and N", "NCCO", [0, 3]),
        ("[OX2H1] or N", "NCCO", [0, 3]),
        ("[OX2H1] or N", "CCO", [2]),
        ("[OX2H1] and not N", "CCO", [2]),
        ("[OX2H1] not N", "CCO", [2]),
        ("S or [OX2H1] and N", "CS", [1]),
        ("( S or [OX2H1] ) and N", "OCN", [0, 2]),
        ("at least 2 [F,Cl]", "FCCl", [0, 2]),
        ("exactly 2 F", "FCF", [0, 2]),
        ("O and at most 1 F", "OCF", [0]),
        ("O within 2 of N", "NCO", [0, 1, 2]),
        ("O within 3 of N", "NCCOCCCCN", [0, 1, 2, 3]),
        ("c1ccccc1", "Cc1ccccc1", [1, 2, 3, 4, 5, 6]),
        (f"{NITRO} decoys N=O", "C[N+](=O)[O-]", [1, 2, 3]),
    ],
)
def test_the_atoms_that_decide_a_positive(rule, smiles, atoms):
    found = answer(rule, smiles)
    assert found.holds
    assert sorted(found.atoms) == atoms
    assert not found.groups


@pytest.mark.parametrize(
    ("rule", "smiles", "groups"),
    [
        ("[OX2H1]", "CCN", []),
        ("[OX2H1] and N", "CCN", ["N"]),
        ("[OX2H1] and not N", "NCCO", ["[OX2H1]", "N"]),
        ("at least 2 F", "CF", ["F"]),
        ("exactly 1 F", "FCF", ["F"]),
        ("O within 1 of N", "NCO", ["N", "O"]),
        ("S or [OX2H1] and N", "CO", ["[OX2H1]"]),
        ("( S or [OX2H1] ) and N", "CS", ["S"]),
        ("N within 3 of N", "CN", ["N"]),
        (f"{NITRO} decoys N=O", "CN=O", ["N=O"]),
        (f"{NITRO} decoys N=O", "CC", []),
    ],
)
def test_negatives_and_the_groups_that_make_them_decoys(rule, smiles, groups):
    assert answer(rule, smiles) == (False, frozenset(), frozenset(groups))


def test_a_hydrogen_that_is_a_node_decides_like_its_neighbour():
    molecule = Chem.AddHs(Chem.MolFromSmiles("CN"))
    amino = {1} | {n.GetIdx() for n in molecule.GetAtomWithIdx(1).GetNeighbors() if n.GetAtomicNum() == 1}
    assert parse_rule("[NX3;H2]").answer(molecule).atoms == amino


def test_all_shortest_paths_around_a_ring_decide():
    assert sorted(answer("F within 6 of Cl", "FC1CCC(Cl)CC1").atoms) == list(range(8))


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("", "a SMARTS is missing at the end"),
        ("[OX2H1] and", "a SMARTS is missing at the end"),
        ("and N", "a SMARTS is missing before 'and'"),
        ("N N", "'N' was not expected"),
        ("( N or O", "a bracket is not closed"),
        ("N )", "'\\)' was not expected"),
        ("at 3 N", "'at' must be followed by 'least' or 'most'"),
        ("at least x N", "a whole number of 1 or more is needed after 'least', not x"),
        ("at least 99999999 N", "a whole number of 1 or more"),
        ("exactly 0 N", "a whole number of 1 or more"),
        ("N within 3", "'within 3' must be followed by 'of'"),
        ("N decoys ", "ends after 'decoys'"),
        ("not N", "something is absent"),
        ("N or not O", "something is absent"),
        ("at most 2 N", "something is absent"),
        ("nitro", "'nitro' in the rule 'nitro' is not a SMARTS that RDKit can read"),
        ("N and [C", "'\\[C' in the rule"),
    ],
)
def test_what_cannot_be_read_is_named(rule, reason):
    with pytest.raises(InputError, match=reason):
        parse_rule(rule)


@given(st.lists(st.sampled_from([*sorted(WORDS), "N", "[OX2H1]", "C=O", "2", "0", "-1", "C(", ""]), max_size=8))
def test_any_words_give_a_rule_or_a_sentence(words):
    try:
        rule = parse_rule(" ".join(words))
    except InputError:
        return
    for smiles in ("NCCO", "CC(=O)N", "C"):
        found = rule.answer(Chem.MolFromSmiles(smiles))
        assert found.holds == bool(found.atoms)
        assert not (found.holds and found.groups)
