"""``ssread compare`` as people run it: real processes, killed for real."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssread.cli import app
from ssread.commands.settings_file import read_settings
from ssread.errors import InputError
from ssread.evaluate import Store
from ssread.evaluate.runners import make_runner

CONFIG = """
data: {num_graphs: 40, seed: 1}
model: {hidden_channels: 8}
positions: 2
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
    """The command within this process; exit code and all that was printed."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def test_prints_a_verdict_and_says_where_everything_is(config, tmp_path):
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


def test_flags_go_before_the_file(config, tmp_path):
    words = ("--config", config, "--workers", 1, "--out", tmp_path, "--seeds", 1, "--aggr", "mean,max+mean")
    assert run("compare", "planted", *words)[0] == 0
    report = json.loads((tmp_path / "compare-planted.json").read_text())
    assert [cell["aggr"] for cell in report["cells"]] == ["mean", "max+mean"]
    assert report["cells"][0]["pairs"] == 3


def test_own_molecules_are_compared_like_a_benchmark(tmp_path):
    pytest.importorskip("rdkit")
    rows = "".join(f"{'C' * n}O,yes\n{'C' * n}N,no\n" for n in range(2, 22))
    (tmp_path / "mine.csv").write_text("structure,active\n" + rows)
    words = ("--smiles", "structure", "--label", "active", "--folds", 2, "--seeds", 1, "--positions", 2)
    code, output = run("compare", tmp_path / "mine.csv", *words, "--epochs", 2, "--workers", 1, "--out", tmp_path)
    assert code == 0
    assert "mine, gcn, sum: " in output


def table(config: Path, out: Path) -> dict:
    """What the command says of the whole work, done within this process."""
    result = CliRunner().invoke(app, words(config, out, workers=1))
    assert result.exit_code == 0
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The same of a run that nobody stops."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "config.yaml").write_text(CONFIG)
    return table(folder / "config.yaml", folder)


def words(config: Path, out: Path, workers: int) -> list[str]:
    options = ["--config", config, "--json", "--workers", workers, "--epochs", 60, "--out", out]
    return ["compare", "planted", *map(str, options)]


@pytest.mark.slow
def test_json_is_one_document_and_the_same_with_more_workers(config, tmp_path, whole):
    command = [*COMMAND, *words(config, tmp_path / "two", workers=2)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "12 of 12 trainings" in done.stderr
    assert json.loads(done.stdout) == whole


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_in_the_middle_it_goes_on_to_the_same_table(config, tmp_path, how, whole, heeding_ctrl_c):
    out = tmp_path / "parts"
    command = [*COMMAND, *words(config, out, workers=2)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **pipes, preexec_fn=heeding_ctrl_c)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and _results(out) < 2:
        time.sleep(0.02)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert 2 <= _results(out) < 12
    if how == signal.SIGINT:
        assert "the same command goes on from there" in errors
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
    except InputError:  # made this very moment
        return 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nowhere.csv"], "There is no file or folder nowhere.csv"),
        (["planted", "--arch", "gnc"], "There is no architecture 'gnc'"),
        (["planted", "--aggr", "median"], "There is no aggregation 'median'"),
        (["planted", "--positions", "1000"], "1000 positions are more than"),
        (["planted", "--device", "tpu"], "There is no device 'tpu'. Choose auto, cpu or cuda"),
        (["planted", "--on", "mars"], "Trainings run here, on ray or on ray://host:port, not on 'mars'"),
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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- a list", "must hold settings as 'name: value' lines"),
        ("a: [1", "is not valid YAML"),
        ("3: 4", "must hold settings"),
        ("x: !!python/object/apply:os.system ['true']", "is not valid YAML"),
    ],
)
def test_wrong_configuration_gets_a_sentence(text, sentence, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_settings(path)


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


def test_cores_are_the_default_without_a_gpu():
    assert make_runner("cpu", 3, "here", print).device == "cpu"


def test_results_are_shown_and_written(config, tmp_path):
    run("compare", "planted", "--config", config, "--workers", 1, "--out", tmp_path)
    code, output = run("results", tmp_path / "results.sqlite")
    assert code == 0
    assert "planted" in output
    for ending, inside in ((".csv", "valid_accuracy"), (".md", "| dataset |"), (".tex", "\\begin{tabular}")):
        assert run("results", tmp_path / "results.sqlite", "-o", tmp_path / f"table{ending}")[0] == 0
        assert inside in (tmp_path / f"table{ending}").read_text()
    code, output = run("results", tmp_path / "nowhere.sqlite")
    assert code == 1
    assert "There is no results file" in output


UNLABELLED = """
data: {num_graphs: 40, seed: 1}
model: {hidden_channels: 8, num_layers: 2}
positions: 2
folds: 3
seeds: 1
epochs: 2
"""


def test_learning_without_labels_is_compared_the_same_way(tmp_path):
    (tmp_path / "config.yaml").write_text(UNLABELLED)
    words = ("compare", "planted", "--config", tmp_path / "config.yaml", "--workers", 1, "--out", tmp_path / "runs")
    code, output = run(*words, "--learn", "graphcl,infograph", "--json")
    assert code == 0, output
    found = json.loads(output[output.index("{\n") :])
    assert [(cell["arch"], cell["learn"], cell["pairs"]) for cell in found["cells"]] == [
        ("gin", "graphcl", 3),
        ("gin", "infograph", 3),
    ]
    assert "epoch: the last of a fixed number (2), on all graphs without labels, one encoder per seed" in output
    with Store(tmp_path / "runs" / "results.sqlite") as store:
        rows = store.table()
        assert len(rows) == 12
        assert set(rows["selection"]) == {"the last of a fixed number; linear SVM, C by validation accuracy"}
    assert (tmp_path / "runs" / "compare-planted-graphcl-infograph.md").is_file()
    code, output = run(*words, "--learn", "graphcl", "--seeds", 1)
    assert code == 0
    assert "6 of 6 trainings" in output or "trainings" not in output, "nothing is trained again"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--learn", "magic"), "There is no way to learn 'magic'. Choose from supervised, graphcl, infograph."),
        (("--task", "colour"), "There is no task 'colour'. Choose from class, rings"),
        (("--task", "rings"), "planted has neither SMILES nor labels of atoms and bonds"),
    ],
)
def test_other_ways_and_tasks_get_a_sentence(tmp_path, words, sentence):
    pytest.importorskip("rdkit")
    code, output = run("compare", "planted", "--out", tmp_path / "runs", *words)
    assert code == 1
    assert sentence in " ".join(output.split())
