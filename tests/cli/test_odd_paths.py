"""Odd paths, names and numbers on the command line: one sentence, and nothing half-written."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.small_models import graphs, untrained
from typer.testing import CliRunner

from ssread.cli import app
from ssread.common.files import check_name, replacing, temporary_folder, write_text
from ssread.errors import InputError, WriteError
from ssread.report.figures import write_figures

LONG = "x" * 300


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model and graphs, and nothing to download from."""
    data = graphs(6)
    untrained(data).save(tmp_path / "model")
    data.save(tmp_path / "set.safetensors")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SSREAD_MIRROR", "http://127.0.0.1:9/")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["compare", LONG], "is neither a file, nor a folder, nor the name of a TU dataset"),
        (["compare", f"{LONG}.csv"], "There is no file or folder"),
        (["compare", "~nobody/x"], "There is no file or folder ~nobody/x"),
        (["compare", "planted", "--out", LONG], "File name too long"),
        (["compare", "planted", "--gamma", "1e308"], "gamma must be at most 1e+06, but is 1e+308"),
        (["compare", "planted", "--on", "ray://[::1"], "but 'ray://[::1' was given"),
        (["compare", "planted", "--config", LONG], "cannot be read (File name too long"),
        (["compare", "planted", "--split", LONG], "There is no split"),
        (["results", LONG], "There is no results file"),
        (["results", "~nobody/x"], "There is no results file ~nobody/x"),
        (["reproduce", "table1", "--add", LONG], "There is no results file"),
        (["reproduce", "table1", "--add", f"{LONG}.csv"], "There is no results file"),
        (["reproduce", "table1", "--add", "model"], "model is a folder: give the results file in it"),
        (["results", "model"], "model is a folder: give the results file in it"),
        (["predict", LONG, "set.safetensors", "-o", "a.csv"], "is not a folder: give the folder of a model"),
        (["predict", "model", LONG, "-o", "a.csv"], "is neither a file, nor a folder"),
        (["predict", "model", "set.safetensors", "-o", f"{LONG}.csv"], "cannot be written: File name too long"),
        (["predict", "model", "set.safetensors", "-o", "/dev/null/a.csv"], "cannot be written: File exists"),
        (["train", "set.safetensors", "-o", "."], "'.' cannot be written: give the name of a new file or folder"),
        (["train", "set.safetensors", "-o", "/"], "'/' cannot be written: give the name"),
        (["train", "set.safetensors", "-o", ""], "'.' cannot be written: give the name"),
        (["train", "set.safetensors", "-o", LONG], "cannot be written: File name too long"),
        (["explain", "model", "set.safetensors", "-o", "."], "'.' cannot be written"),
        (["explain", "model", "set.safetensors", "-o", "/"], "'/' cannot be written"),
        (["explain", "model", "set.safetensors", "-o", ""], "'.' cannot be written"),
        (["explain", "model", "set.safetensors", "-o", "/dev/null"], "it is no ordinary file"),
        (["explain", "model", "set.safetensors", "--figures", "/dev/null/f"], "cannot be written: Not a directory"),
        (["export", "model", "--format", "torch", "-o", "/dev/null/f.pt2"], "cannot be written: File exists"),
    ],
)
def test_one_sentence_and_nothing_half_written(words, sentence, here):
    before = {path.name for path in here.iterdir()}
    code, output = run(*words)
    assert code == 1, output
    assert sentence in output
    assert len(output) < 1500
    assert {path.name for path in here.iterdir()} - before <= {"report.html"}  # the page comes before the figures
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("name", ["", ".", "/", "a/..", "x\0", "\ud800"])
def test_a_name_that_nothing_can_have_is_refused(name):
    with pytest.raises(InputError, match="give the name of a new file or folder"):
        check_name(Path(name))


def test_a_folder_that_goes_away_meanwhile_is_a_sentence(tmp_path):
    folder = tmp_path / "folder"

    def write() -> None:
        with replacing(folder / "file") as new:
            new.unlink()
            folder.rmdir()
            new.write_text("text")

    with pytest.raises(WriteError, match="No such file or directory"):
        write()
    assert not folder.exists()


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = (
        "import os, sys; from pathlib import Path; import ssread.common.files as f, tempfile\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "with f.replacing(Path(sys.argv[1]) / 'out') as new, f.temporary_folder() as folder:\n"
        "    new.write_text('half'); (folder / 'x').write_text('half'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert len([*tmp_path.iterdir()]) == 2
    write_text(tmp_path / "out", "whole")
    with temporary_folder():
        assert len([*tmp_path.iterdir()]) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


SHOWN = {"$\\frac{$": "$\\frac{$", "a\nb": "a b", "<b>&": "&lt;b&gt;&amp;", "\x07": "?", "$x$": "$x$"}


@pytest.mark.parametrize("names", [("$\\frac{$", "y" * 100_000), ("a\nb", "<b>&"), ("\x07", "$x$")])
def test_any_class_name_is_drawn_quickly_and_as_it_is(names, tmp_path):
    data = replace(graphs(6), class_names=names)
    started = time.process_time()
    assert write_figures(untrained(data), data[:2], tmp_path)
    assert time.process_time() - started < 30
    text = "".join(path.read_text() for path in tmp_path.glob("*.svg"))
    for name in names:
        assert SHOWN.get(name, "yyyy...yyyy") in text
    assert len(text) < 5_000_000


LIMITED = """
import resource, signal, sys
from ssread.cli import app
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
app()
"""


@pytest.mark.slow
def test_exporting_to_a_full_disk_is_a_sentence(here):
    """A limit on the size of files stands for the disk. torch itself would end the process with SIGABRT."""
    words = ["export", "model", "--format", "torch"]
    done = subprocess.run([sys.executable, "-c", LIMITED, *words], capture_output=True, text=True, cwd=here)
    assert done.returncode == 1, done.stderr
    assert "model.pt2 cannot be written: File too large. Nothing was left there." in " ".join(done.stderr.split())
    assert {path.name for path in here.iterdir()} == {"model", "set.safetensors"}
