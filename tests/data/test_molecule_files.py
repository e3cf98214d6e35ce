"""Files of molecules: every format gives the same graphs, and other content gets a sentence."""

import contextlib
import random
import tempfile
from pathlib import Path

import pandas
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.data import load
from ssread.data.molecule_files import read_blocks
from ssread.data.molecule_rows import Columns
from ssread.data.molecules import from_smiles, read_molecules
from ssread.errors import InputError

Chem = pytest.importorskip("rdkit.Chem")

TABLE = "id,smiles,label\na,CCO,yes\nb,C1CC,no\n\nc,CC,yes\nd,xx,no\ne,CCC,no\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_broken_rows_are_all_named_by_line_and_skipped_on_demand(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "assay.csv", TABLE)
    with pytest.raises(InputError, match=r"assay\.csv: RDKit cannot read lines 3, 6\. .*skip"):
        load(path)
    graphs = load(path, on_error="skip")
    assert graphs.ids == ("2", "5", "7")
    assert graphs.class_names == ("no", "yes")
    assert graphs.y.tolist() == [1, 1, 0]
    assert graphs.repairs == {"molecules skipped (RDKit cannot read lines 3, 6)": 2}
    assert load(path, on_error="skip", id="id").ids == ("a", "c", "e")
    assert load(path, on_error="skip", label=None).y is None
    assert capfd.readouterr() == ("", "")


def test_lines_are_those_of_the_file_even_where_a_cell_spans_several(tmp_path: Path) -> None:
    path = write(tmp_path, "m.csv", '\ufeffsmiles;note;label\r\nCCO;"two\r\nlines";1\r\nC1CC;;1\r\nCC;;\r\nC;a;0;b\r\n')
    with pytest.raises(
        InputError, match=r"header's 3 cells in line 6; RDKit cannot read line 4; no label for line 5\."
    ):
        read_molecules(path)
    assert read_molecules(path, on_error="skip").ids == ("2",)


def test_every_format_gives_the_same_graphs(tmp_path: Path) -> None:
    smiles, labels = ["CCO", "c1ccccc1O", "CC(=O)N"], ["a", "b", "a"]
    table = pandas.DataFrame({"smiles": smiles, "label": labels})
    table.to_csv(tmp_path / "m.csv", index=False)
    table.to_csv(tmp_path / "m.tsv", index=False, sep="\t")
    table.to_parquet(tmp_path / "m.parquet")
    lines = "".join(
        f"{text} m{number} {label}\n" for number, (text, label) in enumerate(zip(smiles, labels, strict=True))
    )
    write(tmp_path, "m.smi", lines)
    with Chem.SDWriter(str(tmp_path / "m.sdf")) as writer:
        for text, label in zip(smiles, labels, strict=True):
            molecule = Chem.MolFromSmiles(text)
            molecule.SetProp("label", label)
            writer.write(molecule)
    expected = from_smiles(smiles, labels)
    for ending in ("csv", "tsv", "parquet", "smi", "sdf"):
        graphs = load(tmp_path / f"m.{ending}")
        for column in ("x", "edge_index", "edge_attr", "y", "node_ptr"):
            assert torch.equal(getattr(graphs, column), getattr(expected, column)), (ending, column)
        assert graphs.class_names == ("a", "b")
        assert graphs.name == "m"
        assert [Chem.CanonSmiles(text) for text in graphs.graph_texts["smiles"]] == list(map(Chem.CanonSmiles, smiles))
    assert load(tmp_path / "m.smi", id="name").ids == ("m0", "m1", "m2")


@pytest.mark.parametrize("ending", ["csv", "smi", "sdf", "parquet"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_blocks_of_any_size_are_the_whole_file(tmp_path: Path, ending: str, size: int) -> None:
    smiles = ["CCO", "c1ccccc1O", "CC(=O)N", "CC", "C#N", "CF", "CCl"]
    path, columns = tmp_path / f"m.{ending}", Columns("smiles", "label", None, hydrogens=False)
    if ending == "parquet":
        pandas.DataFrame({"smiles": smiles, "label": "abababa"}).to_parquet(path)
    elif ending == "sdf":
        block = Chem.MolToMolBlock(Chem.MolFromSmiles("CC(=O)O"))
        path.write_text("".join(f"{block}> <label>\n{label}\n\n$$$$\n" for label in "abababa"))
    else:
        rows = zip(["smiles", *smiles], ["label", *"abababa"], strict=True)
        path.write_text("".join(("," if ending == "csv" else " ").join(row) + "\n" for row in rows))
    (whole,) = read_blocks(path, columns)
    blocks = list(read_blocks(path, columns, size))
    assert max(map(len, blocks)) <= size
    for name in ("numbers", "smiles", "labels", "records"):
        joined = [entry for block in blocks for entry in getattr(block, name) or ()]
        assert joined == list(getattr(whole, name) or ()), name


def test_a_broken_record_of_an_sdf_is_named_by_its_first_line(tmp_path: Path) -> None:
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    record = f"{block}> <label>\n1\n\n$$$$\n"
    path = write(tmp_path, "m.sdf", record + record.replace(" O ", " Qq") + record)
    broken = record.count("\n") + 1
    with pytest.raises(InputError, match=rf"cannot read line {broken}\."):
        read_molecules(path)
    assert len(read_molecules(path, on_error="skip")) == 2
    with pytest.raises(InputError, match=r"no record has a property 'activity'; the properties are label"):
        read_molecules(path, label="activity")


def test_a_wrong_column_is_answered_with_the_columns_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "m.csv", TABLE)
    with pytest.raises(
        InputError, match=r"no column 'SMILES' \(smiles='SMILES'\); its columns are 'id', 'smiles', 'label'"
    ):
        read_molecules(path, smiles="SMILES")
    pandas.DataFrame({"smiles": ["C"], "active": [1]}).to_parquet(tmp_path / "m.parquet")
    with pytest.raises(InputError, match=r"no column 'label'.*'smiles', 'active'"):
        read_molecules(tmp_path / "m.parquet")
    with pytest.raises(InputError, match=r"2 columns 'smiles'"):
        read_molecules(write(tmp_path, "twice.csv", "smiles,smiles,label\nC,C,1\n"))
    with pytest.raises(InputError, match=r"no column 'label'.*'smiles', 'name'"):
        read_molecules(write(tmp_path, "m.smi", "CCO ethanol\n"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("m.csv", b"PK\x03\x04\x14\x00\xff", "not text in UTF-8"),
        ("m.csv", b"smiles,label\nC\x00,1\n", "binary data"),
        ("m.csv", b"", "is empty"),
        ("m.csv", b"smiles,label\n", "no molecule that can be used"),
        ("m.csv", b'smiles,label\n"CC,1\n', "line 2: unexpected end of data"),
        ("m.parquet", b"smiles,label\nC,1\n", "Parquet"),
        ("m.parquet", b"", "Parquet"),
        ("m.sdf", b"smiles,label\nC,1\n", "no molecule block"),
        ("m.smi", b"\xff\xfe\x00", "not text in UTF-8"),
        ("m.xyz", b"", "'.xyz'"),
    ],
)
def test_a_file_of_another_format_gets_a_sentence(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(InputError, match=words) as caught:
        read_molecules(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.sdf", "none.smi"])
def test_a_missing_file_gets_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"none.* cannot be read: "):
        read_molecules(tmp_path / name)


cells = st.sampled_from(
    ["C", "CCO", "c1ccccc1", "C1", "", "1", "0", "nan", '"', '""', "a,b", "\u00e9", "[Na+].[Cl-]", "((("]
)
table_texts = st.lists(st.lists(cells, max_size=4).map(",".join), max_size=6).map(
    lambda lines: "smiles,label\n" + "\n".join(lines)
)
contents = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
    table_texts.map(str.encode),
    st.binary(max_size=80).map(lambda rest: b"smiles,label\n" + rest),
)


@settings(max_examples=400)
@given(contents, st.sampled_from([".csv", ".tsv", ".smi", ".sdf", ".parquet"]), st.sampled_from(["stop", "skip"]))
def test_any_content_gives_graphs_or_a_sentence(content: bytes, ending: str, on_error: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), f"m{ending}", content)
        try:
            graphs = read_molecules(path, on_error=on_error)
        except InputError as error:
            sentence = str(error)
        else:
            sentence = f"{path} is {graphs.validate()}"
        assert str(path) in sentence


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.sampled_from([".sdf", ".parquet", ".csv"]))
def test_a_damaged_file_gives_graphs_or_a_sentence(seed: int, ending: str) -> None:
    """Valid files with a few bytes changed, truncated or repeated."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m{ending}"
        table = pandas.DataFrame({"smiles": ["CCO", "c1ccccc1", "C"], "label": [1, 0, 1]})
        if ending == ".sdf":
            block = Chem.MolToMolBlock(Chem.MolFromSmiles("CC(=O)O"))
            path.write_text(f"{block}> <label>\n1\n\n$$$$\n" * 2)
        elif ending == ".csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path)
        content = bytearray(path.read_bytes())
        for _ in range(rng.randint(1, 4)):
            content[rng.randrange(len(content))] = rng.choice([rng.randrange(256), ord("9"), ord(" "), ord("-"), 10])
        cut = rng.randint(1, len(content))
        path.write_bytes(bytes(rng.choice([content, content[:cut], content[cut:], content + content[:cut]])))
        with contextlib.suppress(InputError):
            read_molecules(path).validate()
