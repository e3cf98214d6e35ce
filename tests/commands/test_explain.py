"""``ssread explain`` as people run it."""

import json
import re
from pathlib import Path

import pytest
from helpers.small_models import untrained
from typer.testing import CliRunner

from ssread.apply.features import Features
from ssread.apply.trained_model import TrainedModel
from ssread.apply.training import describe_data
from ssread.cli import app
from ssread.data import GraphSet, from_smiles, load, planted
from ssread.models import model_for


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def saved_model(folder: Path, graphs: GraphSet, options: dict | None = None, **arguments: object) -> Path:
    model = model_for(graphs, "gcn", hidden_channels=8, **arguments)
    curves = [{"valid_accuracy": [0.5, 0.6], "train_loss": [1.0, 0.5]}]
    summary = {"data": describe_data(graphs), "settings": {"seed": 0}, "curves": curves}
    TrainedModel([model], list(graphs.class_names), Features.of(graphs, options), summary).save(folder / "model")
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
    data = data_of(page)
    assert data["explained"]["total"] == 4
    assert data["settings"]["trained on"] == "planted"
    names = {path.name for path in figures.iterdir()}
    assert {"map.svg", "map.png", "activation-house.svg", "activation-cycle.png", "graphs"} <= names
    assert ("positions.svg" in names) == (readout == "ssread")
    before = {path: path.read_bytes() for path in figures.rglob("*.*g")}
    assert run("explain", model, graphs_file, "-o", page, "--figures", figures)[0] == 0
    assert before == {path: path.read_bytes() for path in figures.rglob("*.*g")}


def data_of(page: Path) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1])


@pytest.mark.parametrize(
    ("label", "task", "values"),
    [
        ("toxic,bitter", "multilabel", ["1,0", "0,1", "1,", "0,1"]),
        ("mass", "regression", ["1", "2", "3", "4"]),
        ("kind", "classification", ["1", "0", "1", "0"]),
    ],
)
def test_molecules_of_every_task_are_compared_with_what_is_known(tmp_path, label, task, values):
    pytest.importorskip("rdkit")
    rows = [f"{smiles},{value}" for smiles, value in zip(["CCO", "CCC", "C=O", "c1ccccc1"], values, strict=True)]
    (tmp_path / "all.csv").write_text("\n".join([f"smiles,{label}", *rows]) + "\n")
    (tmp_path / "some.csv").write_text("\n".join([f"smiles,{label}", *rows[:2]]) + "\n")
    graphs = load(tmp_path / "all.csv", label=label, task=task)
    model = untrained(graphs, 2)
    model.summary["data"] = describe_data(graphs)
    model.save(tmp_path / "model")
    page = tmp_path / "page.html"
    for name, trained_on in (("all", True), ("some", False)):
        code, output = run("explain", tmp_path / "model", tmp_path / f"{name}.csv", "--label", label, "-o", page)
        assert code == 0, output
        explained = data_of(page)["explained"]
        assert explained["trained_on"] is trained_on
        assert explained["task"] == task
        assert [record["known"] for record in explained["graphs"]][:2] == (
            [[1], [0]] if task == "classification" else graphs.y[:2].tolist()
        )
        assert set(explained["success"]) == {"all graphs"}
    code, output = run("explain", tmp_path / "model", tmp_path / "all.csv", "-o", page)
    assert code == 0, output
    assert data_of(page)["explained"]["success"] == {}


def test_rows_that_cannot_be_used_are_counted_on_the_page_and_listed_beside_it(tmp_path):
    pytest.importorskip("rdkit")
    model = saved_model(tmp_path, from_smiles(["CCO", "c1ccccc1"], ["a", "b"]))
    (tmp_path / "new.csv").write_text('smiles\nCCO\nxyz\n""\n')
    code, output = run("explain", model, tmp_path / "new.csv", "-o", tmp_path / "page.html")
    assert code == 0, output
    assert "1 of 2 rows cannot be used and are left out: line 3" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "page.skipped.csv").read_text() == "where,text,reason\nline 3,xyz,RDKit cannot read it\n"


def test_graphs_with_unknown_features_are_left_out(tmp_path):
    pytest.importorskip("rdkit")
    options = {"features": "labels"}
    model = saved_model(tmp_path, from_smiles(["CCO", "CCCC"], ["a", "b"], **options), options)
    (tmp_path / "new.csv").write_text("smiles\nCCO\nCCN\nxyz\n")
    words = ["explain", model, tmp_path / "new.csv", "-o", tmp_path / "page.html"]
    assert run(*words)[0] == 0
    listed = (tmp_path / "page.skipped.csv").read_text().splitlines()
    assert len(listed) == 3
    assert "graph 3 has the node feature 'N', which no graph of the training set had" in listed[2]
    (tmp_path / "new.csv").write_text("smiles\nCCN\n")
    for more in ([], ["--strict"]):
        code, output = run(*words, *more)
        assert code == 1
        assert "'N', which no graph of the training set had" in output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "A model's folder and graphs are needed"),
        (["nowhere", "planted"], "nowhere is not a folder"),
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
