"""Files of molecules: every format gives the same graphs, and other content gets a sentence."""

import contextlib
import gzip
import random
import tempfile
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.parquet
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.data import load
from ssread.data.classes import is_missing
from ssread.data.molecule_files import read_blocks, table_blocks
from ssread.data.molecule_rows import Columns
from ssread.data.molecules import from_smiles, read_molecules
from ssread.errors import InputError

Chem = pytest.importorskip("rdkit.Chem")

TABLE = "id,smiles,label\na,CCO,yes\nb,C1CC,no\n\nc,CC,yes\nd,xx,no\ne,CCC,no\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_broken_rows_are_named_by_line_and_skipped_on_demand(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "assay.csv", TABLE)
    with pytest.raises(InputError, match=r"assay\.csv: 2 of 5 rows cannot be used: line 3, 'C1CC' \(RDKit .*skip"):
        load(path)
    graphs = load(path, on_error="skip")
    assert graphs.ids == ("2", "5", "7")
    assert graphs.class_names == ("no", "yes")
    assert graphs.y.tolist() == [1, 1, 0]
    assert graphs.repairs == {"molecules skipped (RDKit cannot read it)": 2}
    assert graphs.skipped == (
        (1, "line 3", "C1CC", "RDKit cannot read it"),
        (3, "line 6", "xx", "RDKit cannot read it"),
    )
    assert load(path, on_error="skip", id="id").ids == ("a", "c", "e")
    assert load(path, on_error="skip", label=None).y is None
    assert capfd.readouterr() == ("", "")


def test_a_sentence_about_many_rows_shows_the_first_few(tmp_path: Path) -> None:
    path = write(tmp_path, "m.csv", "smiles,label\nCCO,1\n" + "".join(f"x{n},1\n" for n in range(500)))
    with pytest.raises(InputError, match=r"500 of 501 rows.*line 3, 'x0'.*; and 497 more") as caught:
        load(path)
    assert len(str(caught.value)) < 400


def test_lines_are_those_of_the_file_even_where_a_cell_spans_several(tmp_path: Path) -> None:
    path = write(tmp_path, "m.csv", '\ufeffsmiles;note;label\r\nCCO;"two\r\nlines";1\r\nC1CC;;1\r\nCC;;\r\nC;a;0;b\r\n')
    graphs = read_molecules(path, on_error="skip")
    assert graphs.ids == ("2",)
    assert [(row.place, row.reason) for row in graphs.skipped] == [
        ("line 4", "RDKit cannot read it"),
        ("line 5", "it has no label"),
        ("line 6", "it has 4 cells, but the header has 3"),
    ]


def test_a_name_or_an_extension_may_follow_the_smiles_and_an_empty_cell_is_called_so(tmp_path: Path) -> None:
    rows = ["CCO ethanol", "CC(=O)O acetic acid", "CCN |$;;$|", "CC |$;$| ethane ", "  CCC  ", ",", '""', "nan"]
    path = write(tmp_path, "m.csv", "smiles,label\n" + "".join(f"{row},1\n" for row in rows))
    graphs = read_molecules(path, on_error="skip")
    assert graphs.ids == ("ethanol", "acetic acid", "4", "ethane", "6")
    assert graphs.graph_texts["smiles"] == ("CCO", "CC(=O)O", "CCN |$;;$|", "CC |$;$|", "CCC")
    assert [row.reason for row in graphs.skipped][-2:] == ["the cell is empty"] * 2
    assert graphs.repairs["molecules with a name after their SMILES"] == 3
    with_ids = write(tmp_path, "ids.csv", "key,smiles,label\n7,CCO ethanol,1\n")
    assert read_molecules(with_ids, id="key").ids == ("7",)


def test_names_and_titles_are_ids(tmp_path: Path) -> None:
    smi = write(tmp_path, "m.smi", "CCO |$;;$| ethanol\nCC\nCCC\tpropane, pure\nC methane 1\n")
    assert read_molecules(smi, label=None).ids == ("ethanol", "2", "propane, pure", "methane")
    assert read_molecules(smi, label="label", on_error="skip").ids == ("methane",)
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    sdf = write(tmp_path, "m.sdf", f"ethanol{block}$$$$\n{block}$$$$\n")
    assert read_molecules(sdf, label=None).ids == ("ethanol", str(block.count("\n") + 2))


@pytest.mark.parametrize("ending", ["csv", "tsv", "smi", "sdf"])
def test_compressed_files_are_read(tmp_path: Path, ending: str) -> None:
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    content = {
        "csv": "smiles,label\nCCO,1\n",
        "tsv": "smiles\tlabel\nCCO\t1\n",
        "smi": "CCO ethanol 1\n",
        "sdf": f"{block}> <label>\n1\n\n$$$$\n",
    }[ending].encode()
    path = write(tmp_path, f"v1.1.{ending}.gz", gzip.compress(content))
    graphs = load(path)
    assert (len(graphs), graphs.name, graphs.node_counts.tolist()) == (1, "v1.1", [3])
    packed = gzip.compress(content * 50)
    for damaged in (b"smiles,label\n", packed[: len(packed) // 2], packed[:20] + b"\0\0\0" + packed[23:], b""):
        with pytest.raises(InputError, match=r"v1\.1.*\.gz (is damaged|is empty|has no)"):
            load(write(tmp_path, f"v1.1.{ending}.gz", damaged))


def test_what_the_rule_for_fragments_hydrogens_and_stereochemistry_concerns_is_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path, "m.csv", "smiles,label\n[Na+].[Cl-],1\nC1.C1,1\n[H]C([H])O,1\n[H][H],1\nC[C@H](N)O,1\nF/C=C/F,1\n"
    )
    graphs = read_molecules(path)
    assert graphs.repairs == {
        "molecules of several fragments kept as one graph": 1,
        "molecules with written hydrogens made implicit": 1,
        "molecules with stereochemistry in their features": 2,
    }
    assert graphs.node_counts.tolist() == [2, 2, 2, 2, 4, 4]
    assert "molecules with stereochemistry that labels leave out" in read_molecules(path, features="labels").repairs
    assert "molecules with written hydrogens made implicit" not in read_molecules(path, hydrogens=True).repairs
    with Chem.SDWriter(str(tmp_path / "m.sdf")) as writer:
        writer.write(Chem.AddHs(Chem.MolFromSmiles("CCO")))
    read = read_molecules(tmp_path / "m.sdf", label=None)
    assert read.repairs == {"molecules with written hydrogens made implicit": 1}


def test_a_data_frame_is_read_like_a_file() -> None:
    table = pandas.DataFrame({"text": ["CCO", None, "xx", "CC"], "y": [1, 0, 1, 0], "key": list("abcd")})
    graphs = load(table, smiles="text", label="y", on_error="skip")
    assert graphs.ids == ("0", "3")
    assert graphs.y.tolist() == [1, 0]
    assert [(row.place, row.reason) for row in graphs.skipped] == [
        ("row 1", "the cell is empty"),
        ("row 2", "RDKit cannot read it"),
    ]
    assert load(table.set_index("key"), smiles="text", label=None, on_error="skip").ids == ("a", "d")
    assert load(table, smiles="text", label=None, id="key", on_error="skip").ids == ("a", "d")
    with pytest.raises(InputError, match=r"table has no column 'smiles'.*'text', 'y', 'key'"):
        load(table)
    with pytest.raises(InputError, match="There is no option 'colour': the options here are smiles"):
        load(table, colour=1)


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
    with pytest.raises(InputError, match=rf"1 of 3 rows cannot be used: line {broken} \(RDKit cannot read it\)\."):
        read_molecules(path)
    assert len(read_molecules(path, on_error="skip")) == 2
    with pytest.raises(InputError, match=r"no record has a property 'activity'; the properties are label"):
        read_molecules(path, label="activity")
    path = write(tmp_path, "valence.sdf", record.replace(" C ", " F ") + record)
    with pytest.raises(InputError, match=r"line 1 \(RDKit cannot read it: explicit valence for atom # 1 F"):
        read_molecules(path)


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


@pytest.mark.parametrize("ending", ["csv", "tsv", "smi", "sdf", "parquet", "table"])
def test_only_the_columns_that_are_asked_for_are_kept(tmp_path: Path, ending: str) -> None:
    table = pandas.DataFrame({"smiles": ["CCO", "CC"], **{f"c{number}": [number, None] for number in range(9)}})
    path = tmp_path / f"m.{ending}"
    if ending == "parquet":
        table.to_parquet(path)
    elif ending == "sdf":
        with Chem.SDWriter(str(path)) as writer:
            for text, *cells in table.itertuples(index=False):
                molecule = Chem.MolFromSmiles(text)
                for number, cell in enumerate(cells):
                    molecule.SetProp(f"c{number}", "" if pandas.isna(cell) else f"{cell:.0f}")
                writer.write(molecule)
    else:
        table.to_csv(path, index=False, sep="," if ending == "csv" else "\t", float_format="%.0f")

    def kept(**options: Any) -> pyarrow.Table:
        columns = Columns("smiles", None, None, hydrogens=False, **options)
        (block,) = table_blocks(table, columns) if ending == "table" else read_blocks(path, columns)
        return block.parse().inputs

    assert kept() is None
    assert sorted(kept(keep=["c7", "c2"]).column_names) == ["c2", "c7"]
    (cells,) = kept(keep=["c5"]).columns
    assert float(cells.to_pylist()[0]) == 5
    assert is_missing(cells.to_pylist()[1])
    if ending != "smi":
        assert kept(keep=["c5"], all=True).column_names == kept(all=True).column_names
    with pytest.raises(InputError, match=r"'dose'.* are .*'c0'.*'c8'"):
        kept(keep=["c1", "dose"])


def test_a_million_columns_cost_no_more_than_those_that_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "wide.csv", b"smiles,length" + b"," * 1_000_000 + b"\nC,1\nCC\n")
    (block,) = read_blocks(path, Columns("smiles", None, None, hydrogens=False, keep=["length"]))
    assert block.inputs.to_pydict() == {"length": ["1", None]}


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


@pytest.mark.parametrize("size", [None, 10])
def test_a_table_without_rows_is_one_block_without_rows(tmp_path: Path, size: int | None) -> None:
    table = pandas.DataFrame({"smiles": pandas.Series([], dtype=str)})
    table.to_csv(tmp_path / "m.csv", index=False)
    table.to_parquet(tmp_path / "m.parquet")
    for ending in ("csv", "parquet"):
        (block,) = read_blocks(tmp_path / f"m.{ending}", Columns("smiles", None, None, hydrogens=False, all=True), size)
        assert (len(block), block.inputs.column_names) == (0, ["smiles"])


@pytest.mark.parametrize("size", [None, 4, 100])
def test_a_damaged_parquet_file_loses_no_row_silently(tmp_path: Path, size: int | None) -> None:
    """For some damaged bytes pyarrow returns fewer rows than the file has, without an error."""
    path, columns, refused = tmp_path / "m.parquet", Columns("smiles", None, None, hydrogens=False), 0
    pyarrow.parquet.write_table(pyarrow.table({"smiles": ["C" * length for length in range(1, 16)]}), path)
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        try:
            first, *others = read_blocks(path, columns, size)
        except InputError as error:
            refused += f"{path} is damaged: it should have 15 rows, but " in str(error)
        else:
            assert len(first) + sum(map(len, others)) == 15, place
            assert len(first) == min(size or 15, 15), place
    assert refused


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.sdf", "none.smi"])
def test_a_missing_file_gets_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"none.* cannot be read: "):
        read_molecules(tmp_path / name)


def test_public_sets_are_read(molecule_files: Path) -> None:
    esol = load(molecule_files / "esol.csv", label=None, id="Compound ID")
    assert (len(esol), esol.ids[0], esol.skipped) == (1128, "Amigdalin", ())
    clintox = load(molecule_files / "clintox.csv", label="CT_TOX", on_error="skip")
    assert len(clintox) + len(clintox.skipped) == 1483  # one of 1484 lines holds the names
    assert clintox.repairs["molecules of several fragments kept as one graph"] == 14
    reasons = {row.reason for row in clintox.skipped}
    assert all(reason.startswith("RDKit cannot read it") for reason in reasons)
    assert any("valence for atom" in reason for reason in reasons)
    tox21 = load(molecule_files / "tox21.csv", label="NR-AhR", on_error="skip", id="mol_id")
    assert len(tox21) + len(tox21.skipped) == 7831
    assert "it has no label" in {row.reason for row in tox21.skipped}


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
@given(contents, st.sampled_from([".csv", ".tsv", ".smi", ".sdf", ".parquet"]), st.sampled_from(["raise", "skip"]))
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


def test_a_label_that_is_named_twice_is_refused(tmp_path):
    path = tmp_path / "assay.csv"
    path.write_text("smiles,a,b\nCCO,1,0\n")
    with pytest.raises(InputError, match="the label 'a' is named twice"):
        list(read_blocks(path, Columns("smiles", "a,b,a", None, False)))
