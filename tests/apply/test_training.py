"""``train``: from graphs to a model's folder, also when interrupted."""

import dataclasses
import io
import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pandas as pd
import pytest
import torch
from filelock import FileLock
from helpers.small_models import write_assay
from rich.console import Console
from typer.testing import CliRunner

from ssread.apply import TrainedModel, predict, train
from ssread.apply.usual_methods import GUESS, STRUCTURE_BLIND
from ssread.cli import app
from ssread.data import planted
from ssread.errors import InputError

SETTINGS = {"quick": True, "epochs": 3, "workers": 1, "device": "cpu"}


@pytest.fixture(scope="module")
def data():
    return planted(40, seed=1)


def test_the_folder_holds_the_chosen_model_and_how_it_was_chosen(data, tmp_path):
    model = train(data, tmp_path / "model", **{**SETTINGS, "quick": False}, budget=8, folds=2, ensemble=2)
    assert [path.name for path in tmp_path.iterdir()] == ["model"], "nothing is left beside it"
    found = model.summary["cross_validation"]
    assert [(c["name"].split(" (")[0]) for c in found["candidates"][:4]] == ["gcn", "gcn", "gin", "gin"]
    chosen = next(candidate for candidate in found["candidates"] if candidate["chosen"])
    finalists = [candidate["score"] for candidate in found["candidates"] if candidate["folds"] == 2]
    assert chosen["score"] == max(finalists)
    assert found["metric"] == "accuracy"
    assert found["trainings"] <= 8
    assert [usual["name"] for usual in found["usual"]] == [GUESS, STRUCTURE_BLIND]
    assert found["budget"] == "8 trainings"
    card = (tmp_path / "model" / "card.md").read_text()
    assert "within a budget of 8 trainings" in card
    assert "Model without edges" in card
    assert found["graphs"] == 40
    loaded = TrainedModel.load(tmp_path / "model")
    assert sum(loaded.calibration.counts) == 40, "calibrated on predictions of graphs that were not trained on"
    assert loaded.reference.vectors.size(0) == 40
    seen = pd.read_csv(tmp_path / "model" / "out_of_fold.csv", dtype={"id": str})
    assert seen["id"].tolist() == list(data.ids)
    assert seen["true"].tolist() == [data.class_names[number] for number in data.y.tolist()]
    right = seen[[f"p({name})" for name in data.class_names]].to_numpy().argmax(axis=1) == data.y.numpy()
    by_fold = pd.Series(right).groupby(seen["fold"]).mean()
    assert by_fold.mean() == pytest.approx(found["metrics"]["accuracy"]["mean"])
    assert loaded.summary == json.loads(json.dumps(model.summary))
    assert len(loaded.models) == 2
    assert [len(curves["train_loss"]) for curves in loaded.summary["curves"]] == [3, 3]
    assert "40 graphs" in (tmp_path / "model" / "card.md").read_text()


def test_a_budget_of_time_is_one_of_trainings_that_the_first_ones_tell(data, tmp_path):
    """Stopped in the final training, the same command goes on with the same candidates."""
    settings = {**SETTINGS, "quick": False, "epochs": 1, "folds": 2, "budget": "0.05min"}

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(data, tmp_path / "model", **settings, describe=stop)
    before = pd.DataFrame(_stored(tmp_path / "model.training" / "results.sqlite"))
    screen = Console(file=io.StringIO(), width=200)
    model = train(data, tmp_path / "model", **settings, console=screen)
    said = screen.file.getvalue()
    assert "Budget: 0.05 minutes. The first 4 trainings tell how many it allows for." in said
    found = model.summary["cross_validation"]
    assert f"Candidates: {len(found['candidates'])}, in " in said
    assert found["trainings"] + 2 == len(before), "two folds of the model without edges; nothing was trained twice"
    assert len(found["candidates"]) >= 4


def _stored(path):
    with closing(sqlite3.connect(path)) as database:
        return database.execute("select key from runs").fetchall()


def test_what_is_named_is_taken(data, tmp_path):
    model = train(data, tmp_path / "model", **SETTINGS, arch="gin", readout="global", aggr="max+mean", balanced=True)
    assert model.models[0].hyperparameters["name"] == "gin"
    assert model.models[0].hyperparameters["aggr"] == ["max", "mean"]
    assert model.summary["settings"]["balanced"] is True


def test_the_same_seed_gives_the_same_files(data, tmp_path):
    for name in ("one", "two", "three"):
        train(data, tmp_path / name, **SETTINGS, seed=1 if name == "three" else 0)
    one, two, three = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "two", "three"))
    assert one == two != three


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"arch": "other"}, "There is no model 'other'"),
        ({"readout": "other"}, "There is no readout 'other'"),
        ({"aggr": "sum+other"}, "other"),
        ({"positions": 0}, "positions must be 1 or more"),
        ({"position_hops": -1}, "position_hops must be a whole number from 0 to 100, but -1 was given"),
        ({"position_hops": "structure"}, "position_hops must be a number of hops or learnt, but structure was given"),
        ({"position_hops": 1, "arch": "gunet"}, "position_hops needs the readout ssread and one of gcn, gin"),
        ({"position_hops": 1, "readout": "global"}, "but gcn with the readout global was given"),
        ({"ensemble": 0}, "ensemble must be 1 or more"),
        ({"budget": 0}, "budget must be 1 to 999999 trainings"),
        ({"budget": "10 years"}, "such as 10min or 1h, but 10 years was given"),
        ({"budget": "1.5"}, "budget must be 1 to 999999 trainings, such as 30"),
        ({"budget": "1" * 5000}, "budget must be 1 to 999999 trainings"),
        ({"folds": 1}, "folds must be 2 or more, but 1 was given"),
        ({"metric": "auc"}, "There is no metric 'auc'"),
        ({"metric": "rmse"}, "There is no metric 'rmse' for classification"),
        ({"split": "other"}, "There is no split 'other'"),
        ({"epochs": -1}, "epochs must be 1 or more"),
        ({"device": "abacus"}, "There is no device 'abacus'"),
        ({"label": "x"}, "There is no option 'label'"),
    ],
)
def test_wrong_settings_get_a_sentence_before_any_work(data, tmp_path, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        train(data, tmp_path / "model", **{**SETTINGS, **settings})
    assert list(tmp_path.iterdir()) == []


def test_graphs_without_labels_get_a_sentence(tmp_path):
    pytest.importorskip("rdkit")
    path = write_assay(tmp_path / "assay.csv")
    with pytest.raises(InputError, match="assay has no labels"):
        train(path, tmp_path / "model", **SETTINGS, label=None)


def test_an_existing_model_is_kept(data, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.txt").write_text("precious")
    with pytest.raises(InputError, match="exists already"):
        train(data, tmp_path / "model", **SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_second_training_into_the_same_folder_is_refused(data, tmp_path):
    work = tmp_path / "model.training"
    work.mkdir()
    with FileLock(work / "lock"), pytest.raises(InputError, match=r"Another training into .*model is running"):
        train(data, tmp_path / "model", **SETTINGS)
    train(data, tmp_path / "model", **SETTINGS)


def test_an_unfinished_training_with_other_settings_is_not_mixed_with_this_one(data, tmp_path):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ssread.apply.training.train_members", stop)
        with pytest.raises(KeyboardInterrupt):
            train(data, tmp_path / "model", **SETTINGS)
    with pytest.raises(InputError, match=r"unfinished training with other settings \(seed\)"):
        train(data, tmp_path / "model", **SETTINGS, seed=1)
    train(data, tmp_path / "model", **SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_graphs_that_cannot_be_cut_leave_no_unfinished_training(data, tmp_path):
    """Else the same folder would refuse the next, corrected file as another training."""
    with pytest.raises(InputError, match="folds need at least 2"):
        train(data[:1], tmp_path / "model", **SETTINGS)
    assert list(tmp_path.iterdir()) == []


def test_damaged_settings_of_an_unfinished_training_get_a_sentence(data, tmp_path):
    (tmp_path / "model.training").mkdir()
    (tmp_path / "model.training" / "settings.json").write_text("{")
    with pytest.raises(InputError, match=r"settings.json is damaged .*: remove .*model.training to start again"):
        train(data, tmp_path / "model", **SETTINGS)


def test_a_place_that_cannot_be_written_gets_a_sentence(data, tmp_path):
    (tmp_path / "file").write_text("a file, not a folder")
    with pytest.raises(InputError, match=r"model.training cannot be written: (Not a directory|File exists)"):
        train(data, tmp_path / "file" / "model", **SETTINGS)


COMMAND = ["train", "planted", "--quick", "--workers", "1", "--device", "cpu"]
LIMITED = """
import resource, signal, sys
from ssread.cli import app
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
app()
"""


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1_000, 150_000])
def test_a_full_disk_gets_a_sentence_and_leaves_no_model(tmp_path, limit):
    """A limit on the size of files stands for the disk. With space again, the same command ends well."""
    words = [*COMMAND, "--epochs", "1", "-o", str(tmp_path / "model")]
    done = subprocess.run([sys.executable, "-c", LIMITED, str(limit), *words], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "model").exists()
    assert CliRunner().invoke(app, words).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_every_task_is_trained_saved_and_used(data, tmp_path, task):
    size, kind = data.node_counts.float(), data.y.float()
    y = torch.stack([kind, (size > 15).float()] if task == "multilabel" else [100 * size, kind], dim=1)
    y[::5, 1] = torch.nan
    graphs = dataclasses.replace(data, y=y, task=task, class_names=(), target_names=("one", "two"))
    model = train(graphs, tmp_path / "model", **SETTINGS, describe=lambda *_: {"note": "kept"})
    found = model.summary["cross_validation"]
    assert found["metric"] == ("roc_auc" if task == "multilabel" else "rmse")
    assert set(found["each"]) == {"one", "two"}
    loaded = TrainedModel.load(tmp_path / "model")
    assert (loaded.task, loaded.output_names) == (task, ["one", "two"])
    assert loaded.summary["note"] == "kept"
    table = predict(loaded, data, coverage=0.8)
    assert {"one", "two"} <= set(table.columns)
    assert len(pd.read_csv(tmp_path / "model" / "out_of_fold.csv")) == 40


def test_a_split_by_groups_is_kept_to_the_end(data, tmp_path):
    graphs = dataclasses.replace(data, graph_texts={"kind": tuple(str(number % 10) for number in range(40))})
    model = train(graphs, tmp_path / "model", **SETTINGS, split="groups:kind")
    assert model.summary["cross_validation"]["split"].startswith("groups:kind ")
    seen = pd.read_csv(tmp_path / "model" / "out_of_fold.csv")
    assert (seen.groupby(seen["id"] % 10)["fold"].nunique() == 1).all()


def test_what_a_final_training_would_refuse_is_refused_before_any_training(data, tmp_path):
    """The parts of a column need no share of every class, the tenth that chooses the final epoch does."""
    alone = dataclasses.replace(data, y=torch.zeros_like(data.y), graph_texts={"set": ("train",) * 30 + ("test",) * 10})
    with pytest.raises(InputError, match="graphs of one class only: there is nothing to learn"):
        train(alone, tmp_path / "model", **SETTINGS, split="parts:set")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_sets_and_intervals_hold_the_truth_of_new_graphs_as_often_as_asked_for(task, tmp_path):
    """Generated graphs whose number follows from their size but for noise, or of whose classes a tenth are wrong."""
    graphs = planted(900, seed=5, feature_noise=0.3, label_noise=0.1)
    if task == "regression":
        noise = torch.randn(900, generator=torch.Generator().manual_seed(0))
        y = (0.2 * graphs.node_counts + noise).unsqueeze(1)
        graphs = dataclasses.replace(graphs, y=y, task=task, class_names=(), target_names=("size",))
    seen, new = graphs[:400], graphs[400:]
    model = train(seen, tmp_path / "model", **{**SETTINGS, "epochs": 8})
    predicted = model.predictions(model.read(new))
    for coverage in (0.8, 0.9):
        if task == "regression":
            low, high = model.calibration.intervals(predicted, coverage)
            inside = [((low <= new.y) & (new.y <= high)).squeeze(1)]
        else:
            sets = model.calibration.sets(predicted, coverage)
            inside = [sets[new.y == number, number] for number in range(2)]
        for found in inside:  # the deviation of the share over calibration sets and new graphs is about 0.03
            assert abs(float(found.float().mean()) - coverage) < 0.08


def test_a_folder_can_be_made_without_the_training_molecules(tmp_path):
    smiles = [f"{'C' * count}{end}" for count in range(3, 23) for end in ("O", "Cl")]
    table = pd.DataFrame(
        {"name": [f"secret {row}" for row in range(40)], "smiles": smiles, "label": ["no", "yes"] * 20}
    )
    table.to_csv(tmp_path / "assay.csv", index=False)
    words = [*smiles, *table["name"]]
    read = {"id": "name", "label": "label"}
    found = {}
    for keep in (True, False):
        folder = tmp_path / f"model {keep}"
        train(tmp_path / "assay.csv", folder, **SETTINGS, **read, keep_molecules=keep)
        texts = [path.read_bytes().decode("utf-8", "replace") for path in folder.iterdir()]
        found[keep] = {word for word in words if len(word) > 6 and any(word in text for text in texts)}
        distances = predict(folder, ["CCCCO", "FC(F)(F)F"])["distance"]
        assert distances.notna().all()
    assert len(found[True]) > 40
    assert not found[False]
    assert not (folder / "out_of_fold.csv").exists()
    assert "structures of no training graphs" in (folder / "card.md").read_text()
