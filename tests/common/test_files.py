"""A file or folder appears complete or not at all, and what the operating system refuses is a sentence."""

import errno
import json
import math
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

from ssread.common.files import make_folder, new_folder, refuse_existing, replacing, write_csv, write_json, write_text
from ssread.errors import InputError, WriteError


@contextmanager
def small_disk(size: int = 1000) -> Iterator[None]:
    """Files cannot grow beyond this many bytes: the operating system refuses, as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@given(old=st.none() | st.text(max_size=20), new=st.text(max_size=200), fails=st.booleans())
def test_a_file_is_old_or_new_never_a_mixture(old, new, fails, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "file.txt"
    if old is not None:
        path.write_bytes(old.encode())
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(new.encode())
            assert (path.read_bytes().decode() if path.exists() else None) == old
            if fails:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        expected = old
    else:
        expected = new
    assert (path.read_bytes().decode() if path.exists() else None) == expected
    assert names(path.parent) == ([] if expected is None else ["file.txt"])


def test_a_new_file_is_readable_by_everybody_and_its_folder_is_created(tmp_path):
    path = write_text(tmp_path / "a" / "b" / "file.txt", "Grüße\n")
    assert path.read_bytes() == "Grüße\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644
    assert names(tmp_path) == ["a", "a/b", "a/b/file.txt"]


def test_json_and_tables(tmp_path):
    assert json.loads(write_json(tmp_path / "a.json", {"x": [1, math.nan]}).read_text()) == {"x": [1, None]}
    table = pd.DataFrame({"name": ["a,b", 'c"d'], "value": [1.5, 2.5]})
    path = write_csv(tmp_path / "a.csv", table)
    pd.testing.assert_frame_equal(pd.read_csv(path), table)
    assert b"\r" not in path.read_bytes()


def test_a_full_disk_is_a_sentence_and_the_old_file_stays(tmp_path):
    path = write_text(tmp_path / "file.txt", "old")
    with small_disk(), pytest.raises(WriteError, match=r"file\.txt cannot be written: File too large\."):
        write_text(path, "new" * 1000)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file.txt"]


def test_a_full_disk_under_safetensors_is_the_same_sentence(tmp_path):
    with (
        small_disk(),
        pytest.raises(WriteError, match=r"weights cannot be written: .*File too large"),
        replacing(tmp_path / "weights") as new,
    ):
        save_file({"weight": torch.zeros(1000)}, new)
    assert names(tmp_path) == []


@pytest.mark.parametrize("kind", [replacing, new_folder])
def test_missing_permissions_are_a_sentence(kind, tmp_path):
    with pytest.raises(WriteError, match="target cannot be written: Permission denied"), kind(tmp_path / "target"):
        raise PermissionError(errno.EACCES, "Permission denied", "elsewhere")  # tests may run as root, who has them all
    assert names(tmp_path) == []


def test_a_folder_or_file_in_the_way_is_a_sentence(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(WriteError, match="folder cannot be written: it is a folder"):
        write_text(tmp_path / "folder", "text")
    (tmp_path / "file").write_text("old")
    for write in (write_text, lambda path, _: make_folder(path)):
        with pytest.raises(WriteError, match=r"cannot be written: (Not a directory|File exists)"):
            write(tmp_path / "file" / "inner", "text")
    assert names(tmp_path) == ["file", "folder"]


@pytest.mark.parametrize("kind", [replacing, new_folder])
def test_other_errors_pass_through_unchanged(kind, tmp_path):
    for error in (InputError("Column 'label' is missing."), WriteError("other.csv cannot be written."), KeyError("x")):
        with pytest.raises(type(error)) as caught, kind(tmp_path / "target"):
            raise error
        assert caught.value is error
    assert names(tmp_path) == []


def test_an_error_while_writing_can_be_caught_as_os_error_and_as_value_error(tmp_path):
    for kind in (OSError, ValueError, InputError):
        with pytest.raises(kind, match="cannot be written"):
            write_text(tmp_path, "text")


@pytest.mark.parametrize("empty", [True, False], ids=["over an empty folder", "where there is none"])
def test_a_folder_appears_with_all_its_files(tmp_path, empty):
    folder = tmp_path / "inner" / "model"
    if empty:
        make_folder(folder)
    with new_folder(folder) as new:
        (new / "weights").write_bytes(b"w")
        (new / "config").write_bytes(b"c")
        assert not folder.exists() or not list(folder.iterdir())
    assert names(tmp_path) == ["inner", "inner/model", "inner/model/config", "inner/model/weights"]
    assert folder.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}


def test_a_folder_that_fails_leaves_nothing(tmp_path):
    def fill() -> None:
        with new_folder(tmp_path / "model") as new:
            (new / "config").write_bytes(b"c")
            (new / "weights").write_bytes(b"w" * 2000)

    with small_disk(), pytest.raises(WriteError, match="model cannot be written"):
        fill()
    assert names(tmp_path) == []


def test_existing_folders_and_files_are_not_overwritten(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("old")
    (tmp_path / "empty").mkdir()
    refuse_existing(tmp_path / "empty")
    refuse_existing(tmp_path / "none")
    for name in ("full", "full/file"):
        with pytest.raises(InputError, match=f"{name} exists already: choose another name"):
            refuse_existing(tmp_path / name)
        with pytest.raises(InputError, match="exists already"), new_folder(tmp_path / name):
            raise AssertionError("must not begin")
    assert (tmp_path / "full" / "file").read_text() == "old"
