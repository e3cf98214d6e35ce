"""Blocks of text become molecules, in this process or in another."""

import pickle
from pathlib import Path

import pytest
from helpers.molecules import MOLECULES
from hypothesis import given
from hypothesis import strategies as st

from ssread.data.molecule_rows import Block, Columns, listed_atoms, parse_smiles, split_name
from ssread.errors import InputError

Chem = pytest.importorskip("rdkit.Chem")

WRONG = ["", " ", "C1CC", "CCO |odd|", "Cé", "(((", None, 7, float("nan")]


@given(st.lists(st.sampled_from(MOLECULES + WRONG), max_size=8))
def test_every_text_is_a_molecule_or_none(smiles):
    for text, molecule in zip(smiles, parse_smiles(smiles), strict=True):
        if text in MOLECULES:
            assert Chem.MolToSmiles(molecule) == Chem.CanonSmiles(text)
        else:
            assert molecule is None


def test_blanks_around_smiles_are_ignored_and_rdkit_prints_nothing(capfd):
    molecule, wrong = parse_smiles(["  CCO\t", "C1CC"])
    assert Chem.MolToSmiles(molecule) == "CCO"
    assert wrong is None
    assert capfd.readouterr() == ("", "")


def test_what_is_wrong_with_the_chemistry_is_said(capfd):
    smiles = ["C1CC", "CN(C)(C)(C)C pentavalent", "c1cccc1", None, "C"]
    reasons = Block(Path("m.csv"), "line", range(5), smiles).parse().reasons
    assert reasons == {
        0: "RDKit cannot read it",
        1: "RDKit cannot read it: explicit valence for atom # 1 N, 5, is greater than permitted",
        2: "RDKit cannot read it: can't kekulize mol (unkekulized atoms: 0 1 2 3 4)",
        3: "the cell is empty",
    }
    assert capfd.readouterr() == ("", "")


def test_a_block_can_be_parsed_in_another_process():
    block = Block(Path("m.csv"), "line", [2, 3], ["CCO", None], labels=["a", "b"], ids=["x", None], reasons={0: "r"})
    rows = pickle.loads(pickle.dumps(block)).parse()
    assert len(block) == 2
    assert [m and Chem.MolToSmiles(m) for m in rows.molecules] == ["CCO", None]
    assert (rows.texts, rows.labels, rows.ids) == (["CCO", ""], ["a", "b"], ["x", None])
    assert (rows.unit, rows.numbers, rows.reasons) == ("line", [2, 3], {0: "r", 1: "the cell is empty"})
    assert [(rows.id_of(index), rows.place_of(index)) for index in (0, 1)] == [("x", "line 2"), ("3", "line 3")]


names = st.text(st.characters(blacklist_characters="|", blacklist_categories=["Cc", "Cs", "Z"]), min_size=1, max_size=9)


@given(st.sampled_from(MOLECULES), st.lists(names, max_size=3).map(" ".join), st.sampled_from(["", " |$_AV:a$|"]))
def test_a_text_is_a_smiles_its_extension_and_a_name(smiles, name, extension):
    assert split_name(f" {smiles}{extension} {name}\t") == (smiles + extension, name)
    assert split_name(smiles + extension) == (smiles + extension, "")


def record(smiles: str, **properties: str) -> str:
    lines = [f"> <{name}>\n{value}\n" for name, value in properties.items()]
    return Chem.MolToMolBlock(Chem.MolFromSmiles(smiles)) + "\n".join(lines) + "\n$$$$\n"


def sdf(records: list[str], first: int = 1, **columns: str) -> Block:
    wanted = Columns("smiles", columns.get("label"), columns.get("id"), hydrogens=False)
    return Block(Path("m.sdf"), "line", range(first, first + len(records)), records=records, columns=wanted)


def test_records_of_an_sdf_have_their_properties():
    rows = sdf([record("CCO", active="yes", code="7"), record("CC")], label="active", id="code").parse()
    assert rows.texts == ["CCO", "CC"]
    assert rows.labels == ["yes", None]
    assert rows.ids == ["7", None]
    assert sdf([record("CCO", active="yes"), "broken\n"]).parse().molecules[1] is None


def test_a_property_that_no_record_has_is_named_in_the_first_block_only():
    records = [record("CCO", active="yes")]
    with pytest.raises(InputError, match=r"m\.sdf: no record has a property 'label'; the properties are active"):
        sdf(records, label="label").parse()
    assert sdf(records, first=9, label="label").parse().labels == [None]


@pytest.mark.parametrize("v3000", [False, True])
@pytest.mark.parametrize("hydrogens", [False, True])
def test_the_atoms_that_a_record_declares_are_those_of_its_molecule(v3000, hydrogens):
    for smiles in [text for text in MOLECULES if "[2H]" not in text]:  # deuterium counts as a hydrogen
        for molecule in (Chem.MolFromSmiles(smiles), Chem.AddHs(Chem.MolFromSmiles(smiles))):
            record = Chem.MolToMolBlock(molecule, forceV3000=v3000)
            read = Chem.MolFromMolBlock(record, removeHs=not hydrogens)
            for text in (record, record.replace("\n", "\r\n"), record.replace("COUNTS ", "COUNTS -\nM  V30 ")):
                assert listed_atoms(text, hydrogens) == read.GetNumAtoms(), (smiles, record)


@pytest.mark.parametrize("size", [8, 60])
def test_a_record_of_too_many_atoms_is_a_problem_of_its_row_and_is_not_parsed(size):
    """RDKit takes half a minute, and gigabytes, for a grid of 3600 atoms."""
    count = size * size
    pairs = [(n, n + 1) for n in range(1, count) if n % size] + [(n, n + size) for n in range(1, count - size + 1)]
    lines = [
        *("grid", "", "", "  0  0  0     0  0            999 V3000", "M  V30 BEGIN CTAB"),
        *(f"M  V30 COUNTS {count} {len(pairs)} 0 0 0", "M  V30 BEGIN ATOM"),
        *(f"M  V30 {n + 1} C {n % size}.0 {n // size}.0 0 0" for n in range(count)),
        *("M  V30 END ATOM", "M  V30 BEGIN BOND"),
        *(f"M  V30 {number} 1 {a} {b}" for number, (a, b) in enumerate(pairs, start=1)),
        *("M  V30 END BOND", "M  V30 END CTAB", "M  END", "$$$$", ""),
    ]
    ethanol = Chem.MolToMolBlock(Chem.AddHs(Chem.MolFromSmiles("CCO"))) + "$$$$\n"

    def parse(most):
        columns = Columns("smiles", None, None, hydrogens=False, most_atoms=most)
        return Block(Path("m.sdf"), "line", [1, 9], records=["\n".join(lines), ethanol], columns=columns).parse()

    rows = parse(3)
    assert rows.reasons == {0: f"it has {count} atoms, more than 3"}
    assert rows.molecules[0] is None
    assert (rows.texts[0], rows.molecules[1].GetNumAtoms()) == ("grid", 3)
    if size == 8:
        assert parse(64).reasons == {}
        assert parse(2).reasons[1] == "it has 3 atoms, more than 2"


def test_a_record_of_hydrogens_alone_does_not_count_as_empty():
    record = "\n\n\n999998  0  0\n" + "    0.0    0.0    0.0 H   0\n" * 999
    assert listed_atoms(record) == 999
