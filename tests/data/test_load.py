import os
from pathlib import Path

import pytest
from helpers.graph_strategies import assert_same, small
from helpers.tu_files import GOOD, write_folder, write_zip

from ssread.data import load, sources
from ssread.data.tu import read_tu
from ssread.errors import InputError


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of processed sets, empty."""
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "processed"


def test_a_folder_or_zip_in_tu_format(tmp_path: Path) -> None:
    folder, path = write_folder(GOOD, tmp_path / "graphs"), write_zip(GOOD, tmp_path / "graphs.zip")
    assert_same(load(folder), read_tu(folder))
    assert_same(load(str(path)), read_tu(folder))
    assert load(path, attributes=True).num_node_features == 4


def test_a_saved_set(tmp_path: Path) -> None:
    small().save(tmp_path / "set.safetensors")
    assert_same(load(tmp_path / "set.safetensors"), small())


def test_planted_graphs() -> None:
    graphs = load("planted", num_graphs=20, seed=3)
    assert len(graphs) == 20
    assert "position" in graphs.node_columns


def test_a_table_of_molecules(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "molecules.csv").write_text("smiles,label\nCCO,0\nc1ccccc1,1\n")
    assert load(tmp_path / "molecules.csv").node_counts.tolist() == [3, 6]


def test_a_folder_of_networks(tmp_path: Path) -> None:
    import networkx

    for number in range(2):
        networkx.write_graphml(networkx.path_graph(3 + number), tmp_path / f"{number}.graphml")
    (tmp_path / "labels.csv").write_text("file,label\n0.graphml,short\n1.graphml,long\n")
    assert sorted(load(tmp_path).node_counts.tolist()) == [3, 4]


def test_names_of_the_paper_are_understood(mutag) -> None:  # type: ignore[no-untyped-def]
    assert_same(load("mutag"), mutag)


def test_a_folder_with_the_name_of_a_known_set_is_in_nobodys_way(tmp_path, monkeypatch, mutag) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "MUTAG").mkdir()
    assert_same(load("MUTAG"), mutag)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("nowhere/graphs.csv", "There is no file or folder nowhere/graphs.csv"),
        ("graphs.csv", "There is no file or folder graphs.csv"),
        (Path("SET"), "There is no file or folder SET"),
        ("no such set", "'no such set' is neither a file, nor a folder, nor the name of a TU dataset"),
    ],
)
def test_what_is_not_there(source: str | Path, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        load(source)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "graphs.docx").write_text("x")
    with pytest.raises(InputError, match=r"the ending '.docx' is none of .zip, .safetensors, .csv"):
        load(tmp_path / "graphs.docx")
    (tmp_path / "graphs.zip").write_text("not a zip")
    with pytest.raises(InputError, match=r"graphs.zip is not a readable zip"):
        load(tmp_path / "graphs.zip")


def test_a_wrong_option_is_answered_with_the_right_ones(tmp_path: Path) -> None:
    folder = write_folder(GOOD, tmp_path / "graphs")
    with pytest.raises(InputError, match="There is no option 'atributes': the options here are attributes, degree"):
        load(folder, atributes=True)
    small().save(tmp_path / "set.safetensors")
    with pytest.raises(InputError, match="There is no option 'degree': there are none here"):
        load(tmp_path / "set.safetensors", degree=True)


def test_the_second_time_the_text_is_not_parsed(tmp_path: Path, kept: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    path = write_zip(GOOD, tmp_path / "graphs.zip")
    first = load(path)
    assert len(list(kept.iterdir())) == 1
    parsed = []
    monkeypatch.setattr("pandas.read_csv", lambda *_, **__: parsed.append(1))
    assert_same(load(path), first)
    assert parsed == []


def test_what_is_kept_follows_source_and_options(tmp_path: Path, kept: Path) -> None:
    path = write_zip(GOOD, tmp_path / "graphs.zip")
    load(path)
    assert load(path, attributes=True).num_node_features == 4
    assert load(path).num_node_features == 2
    before = path.stat()
    write_zip(GOOD | {"node_labels": "5\n7\n7\n8\n"}, path)
    assert load(path).num_node_features == 3
    write_zip(GOOD | {"node_labels": "5\n5\n5\n5\n"}, path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert load(path).num_node_features == 1
    assert len(list(kept.iterdir())) == 2  # one for each choice of options
    for file in kept.iterdir():
        file.write_bytes(file.read_bytes()[:-9])
    assert load(path).num_node_features == 1
    folder = write_folder(GOOD, tmp_path / "graphs")
    assert load(folder).num_node_features == 2
    (folder / "SET_node_labels.txt").unlink()
    assert load(folder).num_node_features == 1


def test_a_data_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path / "file"))
    assert sources.data_folder().is_file()
    assert len(load(write_zip(GOOD, tmp_path / "graphs.zip"))) == 2


def test_nothing_of_a_bad_set_is_kept(tmp_path: Path, kept: Path) -> None:
    with pytest.raises(InputError):
        load(write_zip(GOOD | {"A": "1,9\n"}, tmp_path / "graphs.zip"))
    assert not kept.exists()
