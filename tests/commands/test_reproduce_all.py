"""``ssread reproduce all``: everything is made, what is done is not made again, what fails stops nothing else."""

import io
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from helpers import processes
from helpers.paper_runs import random_trainings
from rich.console import Console
from typer.testing import CliRunner

from ssread.cli import app
from ssread.commands.reproduce import reproduce_item
from ssread.commands.reproduce_all import ORDER
from ssread.errors import InputError
from ssread.evaluate import Store, export
from ssread.evaluate.experiment import Experiment
from ssread.paper.registry import PAPER

OPTIONS = ["--datasets", "MUTAG", "--folds", "2", "--seeds", "1", "--epochs", "1"]
COMMAND = ["reproduce", "all", *OPTIONS, "--workers", "1", "--device", "cpu"]


def printed(out: Path, **options: Any) -> str:
    console = Console(file=io.StringIO(), width=200)
    reproduce_item("all", out=out, console=console, workers=1, device="cpu", **options)
    return console.file.getvalue()


def written(folder: Path) -> dict[str, bytes]:
    """Everything that says a result, by its path; the timings of figure 8 are left out."""
    files = [path for path in sorted(folder.glob("*/*")) if path.suffix != ".png" and path.parent.name != "figure8"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_everything_that_can_be_made_has_a_place_in_the_order():
    assert sorted(ORDER) == sorted(name for name, entry in PAPER.items() if entry.code)


def test_shown_without_training(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        random_trainings(store, Experiment.of({"arch": "gcn", "aggr": "sum", "folds": 2, "seeds": 2}), ["NCI1"])
    output = printed(tmp_path, train=False, settings={"folds": 2, "seeds": 2})
    assert "Table III: GCN with six aggregations (9 of 11): 24 of 448 trainings" in output
    assert "to come" not in output, "nothing will be trained"
    assert "**1 of 91 cells trained**" in (tmp_path / "overview" / "overview.md").read_text()
    assert "| NCI1 | 79.79 / 81.60 (+1.81) | not trained yet |" in (tmp_path / "overview" / "overview.md").read_text()
    assert (tmp_path / "overview" / "differences.svg").is_file()
    assert not (tmp_path / "figure1").exists()


def test_shown_from_a_csv_file_as_from_the_store_that_it_was_exported_from(tmp_path):
    options = {"train": False, "settings": {"folds": 2, "seeds": 2}}
    with Store(tmp_path / "trained" / "results.sqlite") as store:
        random_trainings(store, Experiment.of({"arch": "gcn", "aggr": "sum", **options["settings"]}), ["NCI1"])
        export(store, tmp_path / "runs.csv")
    printed(tmp_path / "trained", **options)
    output = printed(tmp_path / "added", add=[tmp_path / "runs.csv"], **options)
    assert "Table IV: five more classifiers (10 of 11): 24 of 448 trainings" in output
    assert written(tmp_path / "added") == written(tmp_path / "trained")


def test_what_fails_stops_nothing_else(tmp_path):
    (tmp_path / "figure8").mkdir(parents=True)
    (tmp_path / "figure8" / "times.csv").write_text("not timings\n")
    with pytest.raises(InputError, match=r"^figure8: .*times.csv is not a file of timings"):
        printed(tmp_path, train=False)
    assert (tmp_path / "table5" / "table5.md").is_file()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--rows", "sum"], "all has no rows to choose from: leave out --rows."),
        (["--datasets", "AIDS"], "There is no dataset 'AIDS' here. Choose from DD, MUTAG"),
    ],
)
def test_wrong_parts_get_a_sentence(words, sentence, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", "all", *words, "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert sentence in " ".join(result.output.split())


def trained(folder: Path) -> int:
    if not (folder / "results.sqlite").is_file():
        return 0
    try:
        with Store(folder / "results.sqlite") as store:
            return len(store)
    except InputError:  # being made at this moment
        return 0


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_to_the_same_files(mutag, tmp_path):
    pytest.importorskip("rdkit")

    def start(out: str, log: str) -> Any:
        (tmp_path / log).mkdir()
        return processes.start([*COMMAND, "--out", tmp_path / out], tmp_path / log)

    process = start("parts", "killed")
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and trained(tmp_path / "parts") < 100:
        time.sleep(0.05)
    assert processes.end(process, signal.SIGKILL)
    before = trained(tmp_path / "parts")
    assert before >= 100
    told = processes.finish(start("parts", "again"), tmp_path / "again")
    assert f"All: {before} trainings done, " in told
    assert "to come, about " in told
    assert "All: 170 trainings done, 0 to come" in told
    assert trained(tmp_path / "parts") == 170
    processes.finish(start("whole", "undisturbed"), tmp_path / "undisturbed")
    parts, whole = written(tmp_path / "parts"), written(tmp_path / "whole")
    names = [name for name in whole if not name.endswith("runs.csv")]  # seconds differ
    assert {name: parts[name] for name in names} == {name: whole[name] for name in names}
    assert {name.split("/")[0] for name in names} >= {*ORDER} - {"figure8"} | {"overview"}
    told = processes.finish(start("parts", "done"), tmp_path / "done")
    assert "On 1 core" not in told, "nothing is trained again"
    assert written(tmp_path / "parts") == parts
