"""Whatever it is handed: a result or one sentence. 200 odd inputs here, 10,000 in the slow suite.

Every description (settings files, reading options, models, saved sets, stored rows) with odd values somewhere, and
every option of every command with odd words. No traceback, no more than 60 seconds each, no more than 2 GB.
"""

import json
import os
import resource
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
import typer
from helpers.odd_values import WORDS, mutated
from helpers.paper_runs import random_trainings
from helpers.small_models import for_task, graphs, untrained, write_assay
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from ssread.apply.calibration import Calibration
from ssread.apply.model_folder import CONFIG
from ssread.apply.reference import Reference
from ssread.apply.training import describe_data
from ssread.cli import app
from ssread.commands.settings_file import COMPARISON, READING, read_settings
from ssread.data import GraphSet, load
from ssread.data.storage import DESCRIPTION, FORMAT
from ssread.errors import InputError
from ssread.evaluate import Store
from ssread.evaluate.experiment import Experiment, experiments_of
from ssread.paper.stored_results import StoredResults
from ssread.serve.settings import TOKEN_VARIABLE
from ssread.train.recipes import RECIPES

#: Cases of the default suite; the slow one has 50 times as many.
CASES = {"settings": 60, "reading": 30, "model": 30, "page": 1, "set": 29, "row": 20, "options": 30}
SECONDS, BYTES = 60, 2 << 30

FEW_AND_MANY = pytest.mark.parametrize("times", [1, pytest.param(50, marks=pytest.mark.slow)])

SETTINGS: dict[str, Any] = {
    "arch": ["gcn", "gin"],
    "aggr": "sum,max+mean",
    "positions": 4,
    "gamma": 0.01,
    "dropout": 0.1,
    "folds": 3,
    "seeds": 2,
    "metric": "accuracy",
    "learn": "supervised",
    "task": "class",
    "split": "random",
    "margin": 1,
    "epochs": 3,
    "learning_rate": 0.001,
    "recipe": "fair",
    "schedule": "cosine",
    "model": {"hidden_channels": 8, "dropout": 0.2, "aggr_kwargs": {"k": 3}, "jumping": True},
    "data": {"num_graphs": 40, "nodes": [13, 15], "noise": 0.1},
}
READING_OPTIONS = {"smiles": "smiles", "label": "label", "id": "name", "features": "rdkit", "hydrogens": False}


def test_the_numbers_of_cases_are_as_said():
    assert sum(CASES.values()) == 200


@contextmanager
def bounded() -> Iterator[None]:
    """A case that takes too long raises an error that nothing catches."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt(f"longer than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fuzz(kind: str, times: int, cases: st.SearchStrategy, check: Callable[[Any], None]) -> None:
    """Checks as many cases as the kind has, and that all of them together kept within memory."""
    done = [0]
    start = psutil.Process().memory_info().rss

    @settings(
        max_examples=CASES[kind] * times,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    @given(cases)
    def every(case: Any) -> None:
        done[0] += 1
        with bounded():
            check(case)

    every()
    assert done[0] >= CASES[kind] * times * 0.9
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - start < BYTES


def sentence(function: Callable[[], Any]) -> None:
    """Calls a function, which may raise nothing but an error with a sentence."""
    try:
        function()
        told = "It was used."
    except InputError as error:
        told = str(error)
    assert 10 < len(told) < 3000
    assert told[-1] in ".)"


def answered(*words: object) -> None:
    """Runs a command in this process, which may end well or with a sentence."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    told = f"{words}\n{result.output[-3000:]}"
    assert result.exit_code in (0, 1, 2), told
    assert result.exception is None or isinstance(result.exception, SystemExit), told
    assert "Traceback" not in result.output, told


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with everything that a model can have, graphs and molecules for it, and a results file."""
    folder = tmp_path_factory.mktemp("fuzz")
    data = graphs(12)
    model = untrained(data)
    model.reference = Reference.of(model, data)
    model.calibration = Calibration.fit("classification", data.y, model.predictions(data))
    curve = {"train_loss": [1.0, 0.5], "valid_accuracy": [0.5, 0.7], "valid_loss": [1.0, 0.9]}
    training = {"epochs": 2, "selection": "accuracy", "recipe": "fair", "learning_rate": 0.001}
    model.summary = {
        "data": describe_data(data),
        "settings": {"model": model.models[0].hyperparameters, "training": training, "seed": 0},
        "cross_validation": None,
        "curves": [curve],
        "versions": {"ssread": "0.1"},
    }
    model.save(folder / "model")
    data.save(folder / "set.safetensors")
    write_assay(folder / "assay.csv")
    with Store(folder / "results.sqlite") as store:
        random_trainings(store, Experiment(folds=2, seeds=1, training=RECIPES["fair"].training))
    return folder


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SSREAD_MIRROR", "http://127.0.0.1:9/")  # no dataset is downloaded
    return tmp_path


@FEW_AND_MANY
def test_settings_of_comparisons(times, here):
    def check(content: Any) -> None:
        Path("settings.yaml").write_text(json.dumps(content))

        def use() -> None:
            found = read_settings("settings.yaml", COMPARISON)
            found.pop("data", None)
            for experiment in experiments_of(found):
                assert experiment.cells()

        sentence(use)

    fuzz("settings", times, mutated(SETTINGS), check)


@FEW_AND_MANY
def test_reading_options(times, here, folder):
    def check(content: Any) -> None:
        Path("settings.yaml").write_text(json.dumps(content))
        sentence(lambda: load(folder / "assay.csv", **read_settings("settings.yaml", READING)))

    fuzz("reading", times, mutated(READING_OPTIONS), check)


@FEW_AND_MANY
@pytest.mark.parametrize("verb", ["predict", "explain"])
def test_models(verb, times, here, folder):
    config = json.loads((folder / "model" / CONFIG).read_text())
    shutil.copytree(folder / "model", here / "model")
    rest = ("-o", "out.csv", "--workers", 1) if verb == "predict" else ("-o", "out.html")

    def check(content: Any) -> None:
        (here / "model" / CONFIG).write_text(json.dumps(content))
        answered(verb, here / "model", folder / "set.safetensors", *rest)

    fuzz("model" if verb == "predict" else "page", times, mutated(config), check)


@FEW_AND_MANY
@pytest.mark.parametrize("task", ["classification"])
def test_saved_sets(task, times, here, folder):
    for_task(task, 12).save(here / "set.safetensors")
    tensors = load_file(here / "set.safetensors")
    description = json.loads(tensors.pop(DESCRIPTION).numpy().tobytes())

    def check(content: Any) -> None:
        text = torch.frombuffer(bytearray(json.dumps(content).encode()), dtype=torch.uint8)
        save_file({**tensors, DESCRIPTION: text}, "odd.safetensors", metadata={"format": FORMAT, "stamp": ""})
        sentence(lambda: repr(GraphSet.load("odd.safetensors")))

    fuzz("set", times, mutated(description), check)


@FEW_AND_MANY
def test_stored_rows(times, here, folder):
    shutil.copy(folder / "results.sqlite", "results.sqlite")
    connection = sqlite3.connect("results.sqlite", isolation_level=None)
    run, training = connection.execute("SELECT run, training FROM runs LIMIT 1").fetchone()
    columns = [row[1] for row in connection.execute("PRAGMA table_info(runs)") if row[1] != "key"]
    odd = st.sampled_from(["", "null", "5", "[]", "{}", b"\xff\xfe", b"", 5, 1e308, -1, "\0", "x" * 10_000])
    rows = st.one_of(
        st.tuples(st.just("run"), mutated(json.loads(run)).map(json.dumps)),
        st.tuples(st.just("training"), mutated(json.loads(training)).map(json.dumps)),
        st.tuples(st.sampled_from(columns), odd),
    )

    def check(row: tuple[str, Any]) -> None:
        column, value = row
        before = connection.execute(f"SELECT rowid, {column} FROM runs LIMIT 1").fetchone()
        connection.execute(f"UPDATE runs SET {column} = ? WHERE rowid = ?", [value, before[0]])
        answered("results", "results.sqlite")

        def use() -> None:
            with Store("results.sqlite") as store:
                table = store.table()
                store.results(table["key"])
            StoredResults(table, "MUTAG", Experiment.of({"folds": 2, "seeds": 1})).progress()

        sentence(use)
        connection.execute(f"UPDATE runs SET {column} = ? WHERE rowid = ?", [before[1], before[0]])

    fuzz("row", times, rows, check)


#: What every command gets that is not odd: nothing that exists, so that nothing is trained.
ARGUMENTS = {
    "compare": ["nowhere.csv"],
    "datasets": [],
    "train": ["nowhere.csv", "-o", "out"],
    "predict": ["nowhere", "nowhere.csv", "-o", "out.csv"],
    "embed": ["nowhere", "nowhere.csv", "-o", "out.csv"],
    "export": ["nowhere"],
    "explain": ["nowhere", "nowhere.csv"],
    "models": ["nowhere.csv"],
    "reproduce": ["table2"],
    "results": ["nowhere.sqlite"],
    "schema": ["nowhere"],
    "serve": ["nowhere"],
}


@FEW_AND_MANY
def test_options(times, here, folder, monkeypatch):
    every: Any = typer.main.get_command(app)
    assert {*ARGUMENTS} == {*every.commands}
    monkeypatch.setenv(TOKEN_VARIABLE, "short")  # refused once the options were accepted: no server starts
    real = {
        "predict": [folder / "model", folder / "set.safetensors", "-o", "out.csv"],
        "embed": [folder / "model", folder / "set.safetensors", "-o", "out.csv"],
        "results": [folder / "results.sqlite"],
        "serve": [folder / "model"],
    }

    @st.composite
    def commands(draw: st.DrawFn) -> list[object]:
        name = draw(st.sampled_from(sorted(ARGUMENTS)))
        words: list[object] = [*draw(st.sampled_from([ARGUMENTS[name], real.get(name, ARGUMENTS[name])]))]
        options = [p for p in every.commands[name].params if p.param_type_name == "option" and p.name != "help"]
        for _ in range(draw(st.integers(0, 3)) if options else 0):
            option = draw(st.sampled_from(options))
            words += [option.opts[0], *([] if option.is_flag else [draw(st.sampled_from(WORDS))])]
        for _ in range(draw(st.integers(0, 1)) if words else 0):
            words[draw(st.integers(0, len(words) - 1))] = draw(st.sampled_from(WORDS))
        return [name, *words]

    def check(words: list[object]) -> None:
        answered(*words)
        for path in Path(".").iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    fuzz("options", times, commands(), check)
    assert os.path.exists("/dev/null")
    assert not os.path.isfile("/dev/null")
