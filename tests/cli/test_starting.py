"""Help, lists and refusals come at once: none of them imports torch."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.tu_files import GOOD, write_folder

from ssread.cli import app

ROOT = Path(__file__).parents[2]

#: Takes seconds to import; nothing that is answered at once needs it.
SLOW = ["torch", "torch_geometric", "sklearn", "scipy", "pyarrow", "matplotlib", "rdkit", "pandas", "numpy"]

HELP = [[], ["--help"], *([command.callback.__name__, "--help"] for command in app.registered_commands)]

MODEL = "tu has no config.json"
REFUSALS = {
    "retrain": "No such command 'retrain'",
    "compare": "Missing argument",
    "compare MUTAG --seed 1": "No such option: --seed",
    "compare MUTAG --folds x": "Invalid value for '--folds'",
    "compare MUTAG --folds 1": "folds must be 2 or more, but is 1",
    "compare MUTAG --arch nonsense": "There is no architecture 'nonsense'. Choose from gcn, gin",
    "compare MUTAG --aggr sum,nonsense": "There is no aggregation 'nonsense'. Choose from sum, max",
    "compare MUTAG --positions abc": "positions must be a whole number, or auto, but is 'abc'",
    "compare MUTAG --positions 0": "positions must be 1 or more",
    "compare MUTAG --dropout 2": "dropout must be below 1, or auto, but is 2",
    "compare MUTAG --learn nonsense": "There is no way to learn 'nonsense'. Choose from supervised, graphcl",
    "compare MUTAG --task nonsense": "There is no task 'nonsense'. Choose from class, rings",
    "compare MUTAG --metric nonsense": "There is no metric 'nonsense'. Choose from accuracy, balanced_accuracy",
    "compare MUTAG --split nonsense": "There is no split 'nonsense': choose random, scaffold, duplicates, groups",
    "compare MUTAG --recipe nonsense": "There is no recipe 'nonsense'. Choose from fair, paper",
    "compare MUTAG --margin -1": "margin must be 0 or more",
    "compare MUTAG --device nonsense": "There is no device 'nonsense'. Choose auto, cpu or cuda",
    "compare MUTAG --workers 0": "workers must be 1 or more",
    "compare MUTAG --on nowhere": "but 'nowhere' was given",
    "compare MUTAG --config missing.yaml": "missing.yaml cannot be read",
    "compare MUTAG --config settings.yaml": "There is no setting 'architecture'",
    "results missing.sqlite": "There is no results file missing.sqlite; ssread compare writes one",
    "results settings.yaml -o results.docx": "its extension must be one of .csv, .md, .tex",
    "reproduce table9": "The paper has no 'table9'. Choose from table1",
    "reproduce figure2": "cannot be made: a diagram",
    "reproduce table3 --datasets AIDS": "There is no dataset 'AIDS' here. Choose from DD",
    "reproduce figure7 --datasets DD": "There is no dataset 'DD' here. Choose from MUTAG, NCI1, IMDB-MULTI",
    "reproduce table4 --rows sum": "There is no row 'sum' here. Choose from gin",
    "reproduce figure1 --rows sum": "figure1 has no rows to choose from: leave out --rows",
    "reproduce table3 --seeds 0": "seeds must be 1 or more",
    "reproduce table3 --device nonsense": "There is no device 'nonsense'",
    "reproduce table3 --add missing.sqlite": "There is no results file missing.sqlite",
    "reproduce table3 --add missing.csv": "no results file missing.csv; ssread results -o runs.csv writes one",
    "train x.csv": "Missing option '--out'",
    "train x.csv -o out --ensemble 0": "ensemble must be 1 or more",
    "train x.csv -o out --arch nonsense": "There is no model 'nonsense'. Choose one of gcn, gin",
    "train x.csv -o out --readout nonsense": "There is no readout 'nonsense'. Choose global or ssread",
    "train x.csv -o out --aggr nonsense": "There is no aggregation 'nonsense'",
    "train x.csv -o out --task nonsense": "There is no task 'nonsense'. Choose from classification, multilabel",
    "train x.csv -o out --metric nonsense": "There is no metric 'nonsense'. Choose one of accuracy",
    "train x.csv -o out --split nonsense": "There is no split 'nonsense'",
    "train x.csv -o out --positions 0": "positions must be 1 or more",
    "train x.csv -o out --epochs 0": "epochs must be 1 or more",
    "train x.csv -o out --device nonsense": "There is no device 'nonsense'",
    "train x.csv -o tu": "tu exists already",
    "predict tu x.csv -o out.csv": MODEL,
    "predict tu x.csv -o out.docx": "choose a name that ends in .csv or .parquet",
    "predict tu x.csv -o out.csv --workers 0": "workers must be 1 or more",
    "embed tu x.csv -o out.csv": MODEL,
    "embed tu x.csv -o out.docx": "choose a name that ends in .csv or .parquet or .npy",
    "serve tu": MODEL,
    "serve tu --workers 0": "workers must be 1 or more",
    "serve tu --port 70000": "Invalid value for '--port'",
    "export tu": MODEL,
    "export m --format nonsense": "There is no format 'nonsense'. Choose one of onnx, torch",
    "export /": "/ is not the folder of a model",
    "export m --out model.zip": "cannot be written as onnx: choose a name that ends in .onnx",
    "explain": "A model's folder and graphs are needed",
    "explain tu MUTAG": MODEL,
    "explain --score planted --seeds 0": "seeds must be 1 or more",
    "explain --score planted --explained 0": "explained must be 1 or more",
    "explain --score planted --epochs 0": "epochs must be 1 or more",
    "explain --score planted --device nonsense": "There is no device 'nonsense'",
}

PROGRAM = """
import json, sys
import ssread
slow, commands = json.loads(sys.stdin.read())
assert not {*slow, "rich", "typer"} & {*sys.modules}, "import ssread is not lazy"
from typer.testing import CliRunner
from ssread.cli import app
for words in commands:
    result = CliRunner().invoke(app, words)
    print(json.dumps([result.exit_code, result.output, [name for name in slow if name in sys.modules]]), flush=True)
"""


class Answer(NamedTuple):
    code: int
    output: str
    imported: list[str]


def answered(commands: list[list[str]], folder: Path) -> list[Answer]:
    """What commands answer, one after the other in one new process."""
    environment = {"PATH": "", "PYTHONPATH": str(ROOT), "SSREAD_DATA": str(folder), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps([SLOW, commands]),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return [Answer(*json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("starting")
    write_folder(GOOD, folder / "tu" / "SET")
    (folder / "settings.yaml").write_text("architecture: gcn\n")
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Answer]:
    commands = [*HELP, *(words.split() for words in REFUSALS)]
    there = sorted(folder.iterdir())
    found = answered(commands, folder)
    assert sorted(folder.iterdir()) == there, "nothing was begun"
    return {" ".join(words): answer for words, answer in zip(commands, found, strict=True)}


@pytest.mark.parametrize("words", [" ".join(words) for words in HELP])
def test_help_comes_at_once(words, answers):
    answer = answers[words]
    assert answer.imported == []
    assert "Usage: " in answer.output
    assert answer.code == (0 if words else 2), answer.output


@pytest.mark.parametrize("words", REFUSALS)
def test_wrong_options_are_refused_at_once(words, answers):
    answer = answers[words]
    assert REFUSALS[words] in " ".join(answer.output.split())
    assert answer.imported == []
    assert answer.code in (1, 2)
    assert "Traceback" not in answer.output


def test_datasets_are_listed_without_torch(folder):
    """Sizes are counted the first time, which needs pandas, and kept."""
    (first,), (second,) = answered([["datasets"]], folder), answered([["datasets"]], folder)
    assert first.code == second.code == 0
    rows = {line.split()[0]: line.split() for line in first.output.splitlines() if line.strip()}
    assert rows["SET"][1:9] == ["2", "-", "2.00", "-", "1.00", "-", "2", "-"]
    assert not {"torch", "torch_geometric"} & {*first.imported}
    assert second == Answer(0, first.output, [])
