"""Another element at an atom: valid molecules only, the rest as it was."""

import pytest
from helpers.molecules import MOLECULES
from hypothesis import given
from hypothesis import strategies as st

from ssread.errors import InputError
from ssread.serve.changes import change_element
from ssread.serve.jobs import ELEMENTS

Chem = pytest.importorskip("rdkit.Chem")


@given(st.sampled_from(MOLECULES), st.integers(0, 12), st.sampled_from(ELEMENTS))
def test_a_change_gives_a_valid_molecule_that_differs_at_that_atom_alone_or_a_sentence(smiles, atom, element):
    before = Chem.MolFromSmiles(smiles)
    if atom >= before.GetNumAtoms():
        with pytest.raises(InputError, match=f"There is no atom {atom} to change:"):
            change_element(smiles, atom, element)
        return
    try:
        changed = change_element(smiles, atom, element)
    except InputError:  # the next test looks at the sentences
        return
    after = Chem.MolFromSmiles(changed.smiles)
    assert after.GetNumAtoms() == before.GetNumAtoms()
    assert sorted(changed.before) == list(range(before.GetNumAtoms()))
    for number, old in enumerate(changed.before):
        symbol = after.GetAtomWithIdx(number).GetSymbol()
        assert symbol == (element if old == atom else before.GetAtomWithIdx(old).GetSymbol())
    bonds = {
        frozenset((changed.before[bond.GetBeginAtomIdx()], changed.before[bond.GetEndAtomIdx()]))
        for bond in after.GetBonds()
    }
    assert bonds == {frozenset((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())) for bond in before.GetBonds()}


def test_what_cannot_be_is_told():
    for smiles, atom, element, sentence in (
        ("CCO", 1, "F", r"Atom 1 \(C\) cannot become F here: Explicit valence"),
        ("c1ccccc1", 2, "O", r"Atom 2 \(C\) cannot become O here"),
        ("CCO", 3, "N", "There is no atom 3 to change: the SMILES has 3 atoms, numbered from 0; hydrogens"),
        ("C1CC", 0, "N", "RDKit cannot read 'C1CC'"),
        ("[H][H]", 0, "B", "a hydrogen would no longer be an atom of its own"),
    ):
        with pytest.raises(InputError, match=sentence):
            change_element(smiles, atom, element)
