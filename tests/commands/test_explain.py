"""``ssread explain`` as people run it, and the page that ``ssread compare`` ends with."""

import csv
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssread.apply.features import Features
from ssread.apply.trained_model import TrainedModel
from ssread.apply.training import describe_data
from ssread.cli import app
from ssread.data import GraphSet, planted
from ssread.evaluate import Store
from ssread.models import model_for


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def saved_model(folder: Path, graphs: GraphSet, **arguments: object) -> Path:
    model = model_for(graphs, "gcn", hidden_channels=8, **arguments)
    curves = [{"valid_accuracy": [0.5, 0.6], "train_loss": [1.0, 0.5]}]
    summary = {"data": describe_data(graphs), "settings": {"seed": 0}, "curves": curves}
    TrainedModel([model], list(graphs.class_names), Features.of(graphs, {}), summary).save(folder / "model")
    return folder / "model"


@pytest.fixture
def graphs_file(tmp_path: Path) -> Path:
    planted(4, nodes=13, seed=0).save(tmp_path / "graphs.safetensors")
    return tmp_path / "graphs.safetensors"


@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_a_model_and_graphs_give_a_page_and_pictures(tmp_path, graphs_file, readout):
    model = saved_model(tmp_path, GraphSet.load(graphs_file), readout=readout)
    page, figures = tmp_path / "page.html", tmp_path / "figures"
    code, output = run("explain", model, graphs_file, "-o", page, "--figures", figures)
    assert code == 0, output
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])
    assert data["explained"]["total"] == 4
    assert data["settings"]["trained on"] == "planted"
    names = {path.name for path in figures.iterdir()}
    assert {"map.svg", "map.png", "activation-house.svg", "activation-cycle.png", "graphs"} <= names
    assert ("positions.svg" in names) == (readout == "ssread")
    before = {path: path.read_bytes() for path in figures.rglob("*.*g")}
    assert run("explain", model, graphs_file, "-o", page, "--figures", figures)[0] == 0
    assert before == {path: path.read_bytes() for path in figures.rglob("*.*g")}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "A model's folder and graphs are needed"),
        (["nowhere", "planted"], "nowhere is no folder"),
        (["--score", "nowhere.csv"], "There is no file or folder nowhere.csv"),
        (["--score", "planted", "--seeds", "0"], "seeds must be 1 or more"),
    ],
)
def test_wrong_words_get_a_sentence(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = run("explain", *words)
    assert code == 1
    assert sentence in " ".join(output.split())
    assert not list(tmp_path.rglob("*.html"))


def test_scores_are_printed_and_every_value_is_kept(tmp_path, graphs_file):
    planted(40, nodes=13, seed=0).save(graphs_file)
    words = ("--seeds", 1, "--explained", 1, "--epochs", 1, "--device", "cpu", "--workers", 1, "-o", tmp_path)
    code, output = run("explain", "--score", graphs_file, *words)
    assert code == 0, output
    assert "| SSRead positions |" in output
    with (tmp_path / "scores-planted.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["part"] for row in rows} == {"agreement", "localisation", "models"}
    assert (tmp_path / "scores-planted.md").read_text() in output


def test_a_comparison_ends_with_a_page_of_its_verdict_and_of_one_model(tmp_path):
    (tmp_path / "config.yaml").write_text("data: {num_graphs: 40, nodes: 13}\nmodel: {hidden_channels: 8}\n")
    words = ("--config", tmp_path / "config.yaml", "--positions", 2, "--folds", 2, "--seeds", 1, "--epochs", 2)
    code, output = run("compare", "planted", *words, "--workers", 1, "--out", tmp_path / "runs")
    assert code == 0, output
    page = tmp_path / "runs" / "compare-planted-report.html"
    assert str(page) in output
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])
    report = json.loads((tmp_path / "runs" / "compare-planted.json").read_text())
    assert data["comparison"]["cells"] == report["cells"]
    assert [curve["runs"] for curve in data["curves"]] == [2, 2]
    assert data["explained"]["parts"] == ["training", "validation", "test"]
    shares = data["explained"]["accuracy"]
    assert {record["part"] for record in data["explained"]["graphs"]} == {0, 1, 2}
    with Store(tmp_path / "runs" / "results.sqlite") as store:
        table = store.table().query("readout == 'ssread' and fold == 0")
    assert shares["test"] == pytest.approx(table["test_accuracy"].item())  # the very model that was compared
