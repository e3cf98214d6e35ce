"""An error that nobody foresaw: one sentence, an exit code of its own, a report to send in."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssread.cli import app
from ssread.cli.last_net import DEBUG, UNFORESEEN
from ssread.common.versions import VERSION


@pytest.fixture
def broken(monkeypatch, tmp_path):
    """``ssread datasets`` raises whatever is put into the list; the net is as users have it."""
    errors: list[BaseException] = []

    def list_datasets():
        raise errors[0]

    monkeypatch.setattr("ssread.data.listing.list_datasets", list_datasets)
    monkeypatch.delenv(DEBUG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ssread", "datasets", "--on", "ray://me:hunter2@head:1", "--token", "abc"])
    return errors


@pytest.mark.parametrize(
    "error", [KeyError("x"), RecursionError(), MemoryError(), OSError(5, "bad"), TypeError("\ud800")]
)
def test_it_ends_in_a_sentence_and_a_report(error, broken, tmp_path):
    broken.append(error)
    result = CliRunner().invoke(app, ["datasets"])
    assert result.exit_code == UNFORESEEN
    assert "Traceback" not in result.output
    assert result.output.startswith("Error: ")
    (path,) = tmp_path.iterdir()
    assert path.name in result.output
    text = path.read_text()
    for inside in (f"ssread {VERSION}", "python 3.", "torch ", "$ ssread datasets", "Traceback", type(error).__name__):
        assert inside in text
    assert "hunter2" not in text
    assert "abc" not in text


def test_debug_shows_the_traceback_wherever_it_stands(broken, tmp_path):
    broken.append(KeyError("x"))
    for words in (["--debug", "datasets"], ["datasets", "--debug"]):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == UNFORESEEN
        assert "KeyError: 'x'" in result.output
        assert "Traceback" in result.output
    assert not [*tmp_path.iterdir()]


def work_in_a_folder_that_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()


def test_where_nothing_can_be_written_the_report_is_where_temporary_files_are(broken, tmp_path, monkeypatch):
    broken.append(KeyError("x"))
    (tmp_path / "other").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "other"))
    work_in_a_folder_that_is_gone(tmp_path, monkeypatch)
    result = CliRunner().invoke(app, ["datasets"])
    assert result.exit_code == UNFORESEEN
    assert len([*(tmp_path / "other").iterdir()]) == 1


def test_where_there_is_no_place_for_temporary_files_either_the_sentence_says_so(broken, tmp_path, monkeypatch):
    broken.append(KeyError("x"))

    def no_place():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", no_place)
    work_in_a_folder_that_is_gone(tmp_path, monkeypatch)
    result = CliRunner().invoke(app, ["datasets"])
    assert result.exit_code == UNFORESEEN
    assert "No report could be written; --debug shows it." in result.output
    assert "Traceback" not in result.output


def test_the_tests_do_not_hide_anything_in_the_net():
    """With the variable that all tests have, an unforeseen error shows its traceback in other processes too."""
    program = "import ssread.data.listing as l; l.list_datasets = None; from ssread.cli import app; app(['datasets'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == UNFORESEEN
    assert "Traceback" in done.stderr


MAIN = "import sys\nfrom ssread.__main__ import main\nsys.argv[1:] = ['datasets']\nmain()"


def test_ctrl_c_before_a_command_begins_shows_nothing():
    early = "import signal, time, typer.main\ndef early(_):\n    signal.raise_signal(signal.SIGINT); time.sleep(9)\n"
    early += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a script ignores it in the background
    program = f"{early}typer.main.get_command = early\n{MAIN}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_while_python_ends_shows_nothing():
    """A worker pool, or torch, takes a while to end; the work is done by then."""
    slow_end = "def slow_end():\n    import time; print('ending', flush=True); time.sleep(1)\n"
    program = f"import atexit\n{slow_end}atexit.register(slow_end)\n{MAIN}"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=-1, stderr=subprocess.STDOUT, text=True)
    said = ""
    while not said.endswith("ending\n"):
        said += process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate()[0] == ""
    assert process.returncode == 0
