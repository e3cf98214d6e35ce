"""``ssread compare`` as people run it: real processes, killed for real."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.paper_runs import random_trainings
from helpers.tu_files import tu_files, write_folder
from typer.testing import CliRunner

from ssread.cli import app
from ssread.data import load
from ssread.errors import InputError
from ssread.evaluate import Store
from ssread.evaluate.experiment import Experiment

CONFIG = """
data: {num_graphs: 40, nodes: 13, seed: 1}
model: {hidden_channels: 8}
positions: 2
dropout: 0
folds: 3
seeds: 2
epochs: 3
batch_size: 16
"""
COMMAND = [sys.executable, "-m", "ssread"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG)
    return path


def run(*words: object) -> tuple[int, str]:
    """Runs the command in this process; returns its exit code and its output."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def test_prints_a_verdict_and_where_everything_is(config, tmp_path):
    code, output = run("compare", "planted", "--config", config, "--workers", 1, "--out", tmp_path / "runs")
    assert code == 0
    assert "planted, gcn, sum: " in output
    assert "12 of 12 trainings" in output
    assert {path.name for path in (tmp_path / "runs").iterdir()} >= {
        "results.sqlite",
        "compare-planted.md",
        "compare-planted.json",
    }
    assert (
        "3 folds x 2 seeds; epoch: best validation accuracy" in (tmp_path / "runs" / "compare-planted.md").read_text()
    )


def test_flags_override_the_file(config, tmp_path):
    words = ("--config", config, "--workers", 1, "--out", tmp_path, "--seeds", 1, "--aggr", "mean,max+mean")
    code, output = run("compare", "planted", *words)
    assert code == 0
    report = json.loads((tmp_path / "compare-planted.json").read_text())
    assert [cell["aggr"] for cell in report["cells"]] == ["mean", "max+mean"]
    assert f"planted, the mean of all 2 cells: {report['together']['verdict']}" in " ".join(output.split())
    assert report["cells"][0]["pairs"] == 3


def test_degrees_as_features_are_another_dataset(config, tmp_path):
    folder = write_folder(tu_files(load("planted", num_graphs=20, nodes=13, seed=1), None, None), tmp_path / "SET")
    config.write_text("\n".join(line for line in CONFIG.splitlines() if not line.startswith("data:")))
    words = ("compare", folder, "--config", config, "--workers", 1, "--epochs", 1, "--seeds", 1, "--out", tmp_path)
    for flag in ([], ["--degree"]):
        code, output = run(*words, *flag)
        assert code == 0, output
    with Store(tmp_path / "results.sqlite") as store:
        rows = store.table()
    assert rows.groupby("dataset")["fingerprint"].nunique().to_dict() == {"SET": 1, "SET-degree": 1}
    assert rows["fingerprint"].nunique() == 2
    assert {path.name for path in tmp_path.glob("compare-*.md")} == {"compare-SET.md", "compare-SET-degree.md"}


def test_degrees_of_generated_graphs_are_refused(tmp_path):
    code, output = run("compare", "planted", "--degree", "--out", tmp_path)
    assert code == 1
    assert "There is no option --degree" in " ".join(output.split())


def table(config: Path, out: Path) -> dict:
    """The JSON of the whole comparison, done in this process."""
    result = CliRunner().invoke(app, words(config, out, workers=1))
    assert result.exit_code == 0
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The same of a run that is not stopped."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "config.yaml").write_text(CONFIG)
    return table(folder / "config.yaml", folder)


def words(config: Path, out: Path, workers: int) -> list[str]:
    options = ["--config", config, "--json", "--workers", workers, "--epochs", 30, "--out", out]
    return ["compare", "planted", *map(str, options)]


@pytest.mark.slow
def test_json_is_one_document_and_the_same_with_more_workers(config, tmp_path, whole):
    command = [*COMMAND, *words(config, tmp_path / "two", workers=2)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "12 of 12 trainings" in done.stderr
    assert json.loads(done.stdout) == whole


@pytest.mark.slow
def test_stopped_in_the_middle_it_continues_to_the_same_table(config, tmp_path, whole, heeding_ctrl_c):
    out = tmp_path / "parts"
    command = [*COMMAND, *words(config, out, workers=2)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **pipes, preexec_fn=heeding_ctrl_c)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and _results(out) < 2:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert 2 <= _results(out) < 12
    assert "the same command continues from there" in errors
    assert "Traceback" not in errors
    assert table(config, out) == whole
    assert _results(out) == 12


def _results(folder: Path) -> int:
    path = folder / "results.sqlite"
    if not path.is_file():
        return 0
    try:
        with Store(path) as store:
            return len(store)
    except InputError:  # being made at this moment
        return 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv"], "There is no file or folder nowhere.csv"),
        (["planted", "--arch", "gnc"], "There is no architecture 'gnc'"),
        (["planted", "--aggr", "median"], "There is no aggregation 'median'"),
        (["planted", "--positions", "1000"], "1000 positions are more than"),
        (["planted", "--device", "tpu"], "There is no device 'tpu'. Choose auto, cpu or cuda"),
        (["planted", "--split", "fair"], "There is no split 'fair'"),
        (["planted", "--on", "mars"], "on must be here, ray or ray://host:port, but 'mars' was given"),
        (["planted", "--workers", "0"], "workers must be 1 or more"),
        (["planted", "--config", "missing.yaml"], "missing.yaml cannot be read"),
    ],
)
def test_wrong_words_get_a_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = run("compare", *words)
    assert code == 1
    assert sentence in " ".join(output.split())
    assert not list(tmp_path.glob("runs/*.md"))


def test_a_store_that_cannot_be_written_gets_a_sentence(config, tmp_path):
    if os.geteuid() == 0:
        folder = tmp_path / "file"
        folder.write_text("not a folder")
    else:
        folder = tmp_path / "locked"
        folder.mkdir(mode=0o500)
    code, output = run("compare", "planted", "--config", config, "--workers", 1, "--out", folder)
    assert code == 1
    assert "Error: " in output


def test_results_are_shown_and_written(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        random_trainings(store, Experiment(folds=2, seeds=1))
    code, output = run("results", tmp_path / "results.sqlite")
    assert code == 0
    assert "MUTAG" in output
    for ending, inside in ((".csv", "valid_accuracy"), (".md", "| dataset |"), (".tex", "\\begin{tabular}")):
        assert run("results", tmp_path / "results.sqlite", "-o", tmp_path / f"table{ending}")[0] == 0
        assert inside in (tmp_path / f"table{ending}").read_text()
    code, output = run("results", tmp_path / "nowhere.sqlite")
    assert code == 1
    assert "There is no results file" in output
