"""Model folders: a saved model comes back as it was, and nothing else is loaded as one."""

import hashlib
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from helpers.small_models import for_task, graphs, untrained
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from ssread.apply import TrainedModel, trained_model
from ssread.apply.calibration import Calibration
from ssread.apply.model_folder import CARD, CONFIG, WEIGHTS
from ssread.apply.reference import Reference
from ssread.apply.trained_model import _batches
from ssread.data import GraphSet
from ssread.errors import InputError
from ssread.models.consensus import match_members

KEPT = Path(__file__).parent / "kept"


@pytest.mark.parametrize("name", ["gcn", "gin", "dgcnn", "diffpool", "sagpool", "gunet", "structure_blind"])
@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_a_saved_model_predicts_the_same(name, readout, tmp_path):
    data = graphs(12)
    model = untrained(data, members=2, name=name, readout=readout)
    model.save(tmp_path / "model")
    loaded = TrainedModel.load(tmp_path / "model")
    assert torch.equal(loaded.predictions(loaded.read(data)), model.predictions(data))
    assert loaded.output_names == list(data.class_names)
    assert loaded.features == model.features
    assert not any(member.training for member in loaded.models)
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == sorted([WEIGHTS, CONFIG, CARD])


@given(st.integers(0, 40), st.integers(1, 50), st.one_of(st.integers(1, 200), st.just(math.inf)))
def test_batches_hold_every_graph_once_in_order_and_no_more_than_they_may(number, most_graphs, most_nodes):
    data = graphs(40)[range(number)]
    batches = list(_batches(data, most_graphs, most_nodes))
    assert [int(graph) for ids in batches for graph in ids] == list(range(number))
    for ids in batches:
        assert len(ids) <= most_graphs
        assert len(ids) <= 1 or int(data.node_counts[ids].sum()) <= most_nodes


def test_predictions_do_not_depend_on_the_batches(monkeypatch):
    data, model = graphs(40), untrained(graphs(40), members=2)
    expected = model.predictions(data)
    monkeypatch.setattr(trained_model, "BATCH", 3)
    torch.testing.assert_close(model.predictions(data), expected)


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_calibration_and_reference_are_saved_too(task, tmp_path):
    data = for_task(task, 30)
    model = untrained(data, members=2)
    before = model.predictions(data)
    model.calibration = Calibration.fit(task, data.y, before)
    model.reference = Reference.of(model, data)
    assert torch.equal(model.predictions(data), before) == (task == "regression")
    model.save(tmp_path / "model")
    loaded = TrainedModel.load(tmp_path / "model")
    assert loaded.calibration == model.calibration
    assert loaded.task == task
    for name, value in model.reference.tensors().items():
        assert torch.equal(loaded.reference.tensors()[name], value)
    assert torch.equal(loaded.predictions(loaded.read(data)), model.predictions(data))


def test_a_folder_of_an_earlier_version_is_still_read():
    """Written once by version 0.1.0 of the package; later ones must give the same probabilities."""
    model = TrainedModel.load(KEPT / "model-1")
    data = GraphSet.load(KEPT / "graphs.safetensors")
    expected = torch.tensor(json.loads((KEPT / "probabilities.json").read_text()))
    torch.testing.assert_close(model.predictions(model.read(data)), expected, atol=1e-5, rtol=0)
    assert model.summary["cross_validation"]["accuracy"] > 0
    assert model.calibration is None
    assert model.reference is None


def test_how_members_correspond_is_found_on_the_training_graphs_and_saved(tmp_path):
    data = graphs(12)
    model = untrained(data, members=3)
    assert model.matching is None
    model.match_members(data)
    members = [member.run(data.batch(slice(None))).reading.positions for member in model.models]
    assert torch.equal(model.matching, match_members(members, 3))
    model.save(tmp_path / "model")
    assert torch.equal(TrainedModel.load(tmp_path / "model").matching, model.matching)
    alone, without = untrained(data), untrained(data, members=2, readout="global")
    for one in (alone, without):
        one.match_members(data)
        assert "matching" not in one.summary
    assert alone.matching.tolist() == [[0, 1, 2]]
    assert without.matching is None


@pytest.fixture
def saved(tmp_path):
    untrained(graphs(12)).save(tmp_path / "model")
    return tmp_path / "model"


def change_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / CONFIG).read_text())
    for key, value in changes.items():
        target, *rest = key.split("__")
        if rest:
            config[target][rest[0]] = value
        else:
            config[target] = value
    (folder / CONFIG).write_text(json.dumps(config))


def change_weights(folder: Path, change) -> None:
    tensors = load_file(folder / WEIGHTS)
    change(tensors)
    save_file(tensors, folder / WEIGHTS)
    change_config(folder, weights_sha256=hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest())


def nested(levels: int) -> list:
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda f: shutil.rmtree(f), "is not a folder: give the folder of a model"),
        (lambda f: (f / CONFIG).unlink(), f"has no {CONFIG}"),
        (lambda f: (f / WEIGHTS).unlink(), f"has no {WEIGHTS}"),
        (lambda f: (f / CONFIG).write_text("{"), "is not valid JSON"),
        (lambda f: (f / CONFIG).write_text("[" * 100_000), "is not valid JSON"),
        (lambda f: (f / CONFIG).write_text("[]"), "does not describe an ssread model"),
        (lambda f: change_config(f, format="other"), "does not describe an ssread model"),
        (lambda f: change_config(f, version=2), "has version 2 of the model format"),
        (lambda f: (f / WEIGHTS).write_bytes(b"x" * 100), "does not match the checksum"),
        (lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-1]), "does not match the checksum"),
        (lambda f: change_config(f, weights_sha256=None), "weights_sha256 must be text, but is empty"),
        (lambda f: change_config(f, model__hidden_channels=16), "has the shape"),
        (lambda f: change_config(f, model__hidden_channels=10**5), "has the shape"),
        (lambda f: change_config(f, model__num_layers=1000), "cannot be 1 models of 1000 layers"),
        (lambda f: change_config(f, members=10**4), "cannot be 10000 models"),
        (lambda f: change_config(f, members="many"), "members must be a whole number, but is 'many'"),
        (lambda f: change_config(f, model__name="other"), "There is no architecture 'other'"),
        (lambda f: change_config(f, model__in_channels="2"), r"model\.in_channels must be a whole number, but is '2'"),
        (lambda f: change_config(f, output_names=["a"]), "the names of its outputs or its features"),
        (lambda f: change_config(f, features={}), r"features\.node is missing"),
        (lambda f: change_config(f, features__node={"count": 3, "names": ["a"], "categories": []}), "1 names for 3"),
        (lambda f: change_config(f, summary=None), "summary must be values by name, but is empty"),
        (lambda f: change_config(f, members=math.inf), "members must be a whole number, but is inf"),
        (
            lambda f: change_config(f, features__node={"count": math.inf, "names": [], "categories": []}),
            "count must be",
        ),
        (lambda f: change_config(f, model__gamma=1e30), r"model\.gamma must be at most 1e\+06, but is 1e\+30"),
        (
            lambda f: change_config(f, output_names=["\ud800", "b"]),
            r"output_names\[0\] must be text that can be written",
        ),
        (lambda f: change_config(f, summary={"settings": None}), r"summary\.settings must be values by name"),
        (lambda f: change_config(f, summary={"data": None}), r"summary\.data must be values by name"),
        (lambda f: change_config(f, summary={"curves": 5}), r"summary\.curves must be a list, but is 5"),
        (
            lambda f: change_config(f, summary={"later": nested(500)}),
            r"summary\.later must be nested at most 20 levels",
        ),
        (lambda f: change_weights(f, lambda t: t.pop("0.head.bias")), "the weight '0.head.bias' has the shape None"),
        (lambda f: change_weights(f, lambda t: t.update(more=torch.ones(1))), "the weight 'more'"),
        (lambda f: change_config(f, calibration={"task": "regression"}), r"calibration\.temperatures is missing"),
        (lambda f: change_config(f, summary={"matching": [[0, 1, 1]]}), "the matching of its members' positions"),
        (lambda f: change_config(f, summary={"matching": [[0, 1, 2]] * 2}), "the matching of its members' positions"),
        (lambda f: change_config(f, summary={"matching": 5}), r"summary\.matching must be a list, but is 5"),
        (lambda f: change_config(f, calibration=[1]), "calibration must be values by name"),
        (lambda f: change_weights(f, lambda t: t.update({"reference.mean": torch.ones(3)})), "'reference.largest'"),
        (lambda f: change_weights(f, lambda t: t["0.head.bias"].fill_(float("nan"))), "not finite"),
    ],
)
def test_whatever_is_not_a_whole_model_gets_a_sentence(saved, damage, sentence):
    damage(saved)
    with pytest.raises(InputError, match=sentence):
        TrainedModel.load(saved)


def test_weights_that_may_not_be_read_get_a_sentence(saved, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("ssread.apply.trained_model._sha256", refuse)  # root may read everything
    with pytest.raises(InputError, match=r"model\.safetensors cannot be read: Permission denied\."):
        TrainedModel.load(saved)


def test_an_existing_folder_is_not_overwritten(saved):
    with pytest.raises(InputError, match="exists already"):
        untrained(graphs(12)).save(saved)
    TrainedModel.load(saved)


def test_a_summary_that_is_not_plain_data_is_not_saved(tmp_path):
    model = untrained(graphs(12))
    model.summary["value"] = {1, 2}
    with pytest.raises(InputError, match="The summary of the model is not plain data"):
        model.save(tmp_path / "model")
    model.models[0].hyperparameters = None
    with pytest.raises(InputError, match=r"made by ssread.models.make_model"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_summary_without_a_number_is_saved_with_null(tmp_path):
    model = untrained(graphs(12))
    model.summary["roc_auc"] = float("nan")
    model.save(tmp_path / "model")
    assert TrainedModel.load(tmp_path / "model").summary["roc_auc"] is None


def test_other_kinds_of_graphs_are_read_with_the_same_features():
    data = graphs(8)
    model = untrained(data)
    torch.testing.assert_close(model.predictions(model.read(data.to_pyg())), model.predictions(data))


FULL_DISK = """
import resource, signal, sys
sys.path.insert(0, {here!r})
from helpers.small_models import graphs, untrained
from ssread.errors import InputError
from ssread.models.consensus import match_members
model = untrained(graphs(12), hidden_channels=64)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    model.save({folder!r})
except InputError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(tmp_path):
    """A limit on the size of files stands for a full disk."""
    code = FULL_DISK.format(here=str(Path(__file__).parents[1]), folder=str(tmp_path / "model"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "cannot be written" in done.stdout
    assert "Nothing was left there" in done.stdout
    assert list(tmp_path.iterdir()) == []
