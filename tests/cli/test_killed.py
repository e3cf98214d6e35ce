"""Killed at random moments and run again, every command ends with the same bytes as if nothing had happened.

49 moments here over ``compare``, ``train``, ``predict``, ``explain`` and ``reproduce``; the 50th is a node of a Ray
cluster (tests/evaluate/test_ray_runner.py). Half of the kills are SIGKILL, the others Ctrl-C.
"""

import io
import random
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
from helpers import processes
from helpers.small_models import graphs, untrained

from ssread.apply.calibration import Calibration

MOMENTS = {"compare": 12, "compare on two cores": 4, "train": 14, "predict": 7, "explain": 6, "reproduce": 6}
KILLS_IN_A_ROW = 4
HOW = (signal.SIGKILL, signal.SIGINT)

SETTINGS = """
data: {num_graphs: 40, nodes: 13, seed: 1}
model: {hidden_channels: 8}
positions: 2
dropout: 0
folds: 3
seeds: 2
epochs: 20
batch_size: 16
"""
ONE = ("--workers", 1)
COMMANDS: dict[str, list[object]] = {
    "compare": ["compare", "planted", "--config", "../settings.yaml", "--out", "out", *ONE],
    "compare on two cores": ["compare", "planted", "--config", "../settings.yaml", "--out", "out", "--workers", 2],
    "train": ["train", "../set.safetensors", "--quick", "--epochs", 6, "--ensemble", 2, "-o", "out", *ONE],
    "predict": ["predict", "../model", "../many.safetensors", "-o", "out/predictions.csv", *ONE],
    "explain": ["explain", "../model", "../few.safetensors", "-o", "out/page.html", "--figures", "out/figures"],
    "reproduce": [
        *("reproduce", "table3", "--datasets", "MUTAG", "--rows", "sum", "--recipe", "paper"),
        *("--seeds", 1, "--folds", 2, "--epochs", 2, "--out", "out", *ONE),
    ],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands need."""
    place = tmp_path_factory.mktemp("killed")
    (place / "settings.yaml").write_text(SETTINGS)
    data = graphs(40)
    data.save(place / "set.safetensors")
    graphs(10).save(place / "few.safetensors")
    graphs(3000).save(place / "many.safetensors")
    model = untrained(data, members=3)
    model.calibration = Calibration.fit("classification", data.y, model.predictions(data))
    model.save(place / "model")
    return place


def outcome(folder: Path) -> dict[str, bytes]:
    """Every file that a command wrote; of stored trainings all but how many seconds each took."""
    out = folder / "out"
    files = [path for path in out.rglob("*") if path.is_file() and not path.name.startswith("results.sqlite")]
    found = {str(path.relative_to(out)): path.read_bytes() for path in files}
    for name, content in found.items():
        if name.endswith("runs.csv") and not hidden(name):
            table = pd.read_csv(io.BytesIO(content), dtype=str).drop(columns="seconds")
            found[name] = table.to_csv(index=False).encode()
    return found


def left(folder: Path) -> list[str]:
    """Temporary files and folders of ssread."""
    return [str(path) for path in folder.rglob("*") if path.name.startswith(".") or path.name.endswith(".training")]


def new_folder(place: Path, name: str) -> Path:
    folder = place / name
    folder.mkdir()
    return folder


def finish(command: list[object], folder: Path, whole: dict[str, bytes]) -> None:
    processes.finish(processes.start(command, folder), folder)
    check(folder, whole)


def check(folder: Path, whole: dict[str, bytes]) -> None:
    found = outcome(folder)
    assert found.keys() == whole.keys()
    assert [name for name in whole if found[name] != whole[name]] == []
    assert left(folder) == []
    log = (folder / "log").read_text()
    assert "Traceback" not in log
    assert "leaked" not in log.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", MOMENTS)
def test_killed_at_random_moments_it_ends_with_the_same_bytes(name, place, monkeypatch):
    if name == "reproduce":
        pytest.importorskip("grakel")
    drawn, command = random.Random(name), COMMANDS[name]
    undisturbed = new_folder(place, f"{name}-whole")
    processes.start(["--version"], undisturbed).join(300)  # the first process imports for all others
    started = time.monotonic()
    processes.finish(processes.start(command, undisturbed), undisturbed)
    seconds = time.monotonic() - started
    whole = outcome(undisturbed)
    assert whole
    kills, attempt, folder, in_a_row = 0, 0, None, 0
    while kills < MOMENTS[name]:
        attempt += 1
        if folder is None:
            folder, in_a_row = new_folder(place, f"{name}-{attempt}"), 0
        started = time.monotonic()
        process = processes.start(command, folder)
        process.join(drawn.uniform(0.02, 0.95) * seconds)
        if processes.end(process, HOW[attempt % 2]):
            kills, in_a_row = kills + 1, in_a_row + 1
            found = outcome(folder)  # what is there is whole
            assert [file for file in found if not hidden(file) and found[file] != whole.get(file)] == []
            if name == "train" and (folder / "out").exists():  # it was done, and a model is never trained over another
                folder = None
        else:
            assert process.exitcode == 0, (folder / "log").read_text()[-3000:]
            check(folder, whole)
            folder, seconds = None, min(seconds, time.monotonic() - started)
        if folder is not None and in_a_row == KILLS_IN_A_ROW:
            finish(command, folder, whole)
            folder = None
    if folder is not None:
        finish(command, folder, whole)
    print(f"{name}: killed {kills} times in {attempt} attempts, undisturbed it takes {seconds:.1f} s")


def hidden(file: str) -> bool:
    """Whether a file is a temporary one, or in a folder that is."""
    return any(part.startswith(".") for part in Path(file).parts)
