import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.tu_files import GOOD, write_folder, write_zip

from ssread.data import load, sources
from ssread.errors import InputError

HAS_GRAKEL = importlib.util.find_spec("grakel") is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path / "data"))
    return tmp_path


def test_sources_are_searched_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if HAS_GRAKEL:
        assert sources.find("MUTAG").kind == "installed package"
    assert sources.find("SET") == sources.Source("public collection", f"{sources.COLLECTION}/SET.zip")
    monkeypatch.setenv("SSREAD_MIRROR", "https://mirror.example/sets/")
    assert sources.find("SET") == sources.Source("mirror", "https://mirror.example/sets/SET.zip")
    (folder / "mirror").mkdir()
    monkeypatch.setenv("SSREAD_MIRROR", str(folder / "mirror"))
    assert sources.find("MUTAG").kind == ("installed package" if HAS_GRAKEL else "public collection")
    write_zip(GOOD, folder / "mirror" / "MUTAG.zip", "MUTAG")
    assert sources.find("MUTAG") == sources.Source("mirror", folder / "mirror" / "MUTAG.zip")
    write_folder(GOOD, folder / "data" / "tu" / "MUTAG", "MUTAG")
    assert sources.find("MUTAG") == sources.Source("data folder", folder / "data" / "tu" / "MUTAG")
    assert sources.fetch("MUTAG") == folder / "data" / "tu" / "MUTAG"
    assert "MUTAG" in sources.local_names()
    assert len(load("MUTAG")) == 2


@pytest.mark.parametrize("name", ["../SET", "a/b", "", ".hidden", "http://somewhere/SET", "SET.zip\n"])
def test_a_name_that_is_a_path_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="is neither a file, nor a folder, nor the name of a TU dataset"):
        sources.find(name)


def test_a_mirror_that_does_not_exist(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("SSREAD_MIRROR", str(folder / "nowhere"))
    with pytest.raises(InputError, match=r"SSREAD_MIRROR=.*nowhere is neither a folder nor a web address"):
        sources.find("SET")


def test_the_data_folder_is_the_users_cache_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SSREAD_DATA")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert sources.data_folder() == tmp_path / "ssread"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert sources.data_folder() == Path.home() / ".cache" / "ssread"
    monkeypatch.setenv("SSREAD_DATA", "~/somewhere")
    assert sources.data_folder() == Path.home() / "somewhere"


@pytest.mark.skipif(not HAS_GRAKEL, reason="grakel is not installed")
def test_mutag_comes_out_of_the_wheel_without_importing_it(folder: Path) -> None:
    program = "import sys; from ssread.data import load; print(load('MUTAG'))"
    program += "; assert not {'grakel', 'rdkit'} & set(sys.modules)"
    environment = {key: value for key, value in os.environ.items() if key != "SSREAD_MIRROR"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, timeout=120
    )
    assert done.stdout.startswith("GraphSet('MUTAG', 188 graphs, 17.93 nodes and 19.79 edges on average")
