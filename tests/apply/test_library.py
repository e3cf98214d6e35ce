"""The files of a library: which they are, and what they are called."""

import json
import os
import sys

import pytest

from ssread.apply.library import library_files
from ssread.errors import InputError


@pytest.fixture
def folder(tmp_path):
    """A library with equal names in several folders."""
    for name in ("x/p.csv", "y/p.csv", "y/deep/q.smi.gz", "y/notes.txt"):
        path = tmp_path / "library" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "library"


def names(data, out="nowhere"):
    return [file.name for file in library_files(data, out)]


def test_names_within_the_library_tell_its_files_apart(folder, monkeypatch):
    assert names(folder) == ["x/p.csv", "y/deep/q.smi.gz", "y/p.csv"]
    assert [file.path for file in library_files(folder, "out")] == [folder / name for name in names(folder)]
    assert names(f"{folder}/*/*.csv") == ["x/p.csv", "y/p.csv"]
    assert names(f"{folder}/y/**/*.[cs]*") == ["deep/q.smi.gz", "p.csv"]
    assert names(f"{folder}/**/*.smi.gz") == names(folder / "y" / "deep" / "q.smi.gz") == ["q.smi.gz"]
    monkeypatch.chdir(folder)
    assert names(".") == names("../library") == ["x/p.csv", "y/deep/q.smi.gz", "y/p.csv"]
    assert names("*/p.csv") == names("./../library/*/p.csv") == ["x/p.csv", "y/p.csv"]
    assert names("x/*.csv") == names("x/p.csv") == ["p.csv"]


def test_a_file_that_exists_is_no_pattern(tmp_path):
    for name in ("lib[1].csv", "lib1.csv", "all*.csv", "alles.csv"):
        (tmp_path / name).touch()
    for name in ("lib[1].csv", "all*.csv"):
        assert names(tmp_path / name) == [name]
    assert names(tmp_path / "lib[0-9].csv") == ["lib1.csv"]
    (tmp_path / "lib1.csv").unlink()
    assert names(tmp_path / "lib[1].csv") == ["lib[1].csv"]


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
def test_a_name_that_is_no_text_can_be_written(folder):
    with open(os.fsencode(folder) + b"/\xff.csv", "w"):
        assert names(folder)[-1].encode() == b"\\xff.csv"


def test_what_has_no_molecules_is_a_sentence(folder, tmp_path):
    for wrong in (tmp_path / "nothing", folder / "y" / "notes.txt", f"{folder}/**/*.txt", f"{tmp_path}/*.smi"):
        with pytest.raises(InputError, match="Files of molecules are needed"):
            library_files(wrong, "out")


def test_links_are_followed_and_a_folder_is_read_once(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "r.sdf").touch()
    for name, target in {
        "linked": tmp_path / "elsewhere",
        "linked-again": tmp_path / "elsewhere",
        "y/up": folder,
        "x/itself": ".",
        "file.csv": folder / "y" / "notes.txt",
    }.items():
        (folder / name).symlink_to(target)
    assert names(folder) == ["file.csv", "linked/r.sdf", "x/p.csv", "y/deep/q.smi.gz", "y/p.csv"]
    assert names(f"{folder}/**/*.[cs]*") == names(folder)


@pytest.mark.parametrize(("name", "pattern"), [("lost.csv", "*.csv"), ("lost-folder", "*"), ("y/round.smi", "y/*.smi")])
def test_a_link_that_leads_nowhere_is_a_sentence(folder, name, pattern):
    target = folder / name if "round" in name else folder / "gone"
    (folder / name).symlink_to(target)
    for data in (folder, folder / pattern):
        with pytest.raises(InputError) as caught:
            library_files(data, "out")
        assert f"{folder / name} (a link to {target}) cannot be read" in str(caught.value)
    (folder / name).unlink()
    (folder / f".{name.split('/')[-1]}").symlink_to(target)
    assert len(names(folder)) == 3  # hidden, as editors write them


@pytest.fixture(params=["permissions", "simulated"])
def closed(folder, request, monkeypatch):
    """A subfolder that cannot be read."""
    path = folder / "y" / "deep"
    if request.param == "permissions":
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read every folder")
    else:
        scan = os.scandir

        def refuse(place="."):
            if os.fspath(place).rstrip("/") == str(path):
                raise PermissionError(13, "Permission denied", os.fspath(place))
            return scan(place)

        monkeypatch.setattr(os, "scandir", refuse)
    yield
    path.chmod(0o700)


@pytest.mark.parametrize("pattern", ["", "y", "*/*/*.gz", "**/*.csv", "y/deep/*.gz", "y/**"])
@pytest.mark.usefixtures("closed")
def test_a_folder_that_cannot_be_read_is_a_sentence(folder, pattern):
    with pytest.raises(InputError, match=r"y/deep cannot be read \(Permission denied\), so its molecules would be mis"):
        library_files(folder / pattern, "out")


@pytest.mark.usefixtures("closed")
def test_only_folders_that_may_hold_what_is_asked_for_must_be_readable(folder):
    assert names(f"{folder}/*/*.csv") == ["x/p.csv", "y/p.csv"]


def test_hidden_files_are_read_only_if_they_are_named(folder):
    before = names(folder)
    for name in (".hidden.csv", ".folder/p.csv"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    assert names(folder) == names(f"{folder}/**/*.[cs]*") == before
    assert names(f"{folder}/.*.csv") == names(folder / ".hidden.csv") == [".hidden.csv"]
    assert names(folder / ".folder") == ["p.csv"]


def test_outputs_are_no_part_of_the_library_that_they_lie_in(folder):
    before = names(folder)
    out, other = folder / "out", folder / "y" / "other"
    for written in (out, other):
        written.mkdir()
        for name in ("part-000000.parquet", "skipped.csv", "top.parquet"):
            (written / name).touch()
    (other / "manifest.json").write_text(json.dumps({"options": {"rows_of_a_part": 9}, "inputs": []}))
    assert names(folder, out) == before
    assert names(f"{folder}/**/*.csv", out) == ["x/p.csv", "y/other/skipped.csv", "y/p.csv"]  # asked for by pattern
    assert len(names(other, folder / "new")) == 3  # an output can be a library itself
    assert len(names(folder, "elsewhere")) == len(before) + 3  # the other one has no manifest, so it may be anything
    for foreign in ("{}", "[]", "{", '{"options": 1, "inputs": []}'):
        (other / "manifest.json").write_text(foreign)
        assert len(names(folder, out)) == len(before) + 3
