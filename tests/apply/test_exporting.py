"""Exported files run without ssread, for batches of any size, with the same output."""

import dataclasses

import pytest
import torch
from helpers.small_models import for_task, graphs, untrained

from ssread.apply import export, exporting
from ssread.apply.calibration import Calibration
from ssread.apply.exporting import example_inputs
from ssread.data import planted
from ssread.errors import InputError

ARCHITECTURES = ["gcn", "gin", "dgcnn", "diffpool", "sagpool", "gunet"]


def expected(model, inputs):
    arguments = [inputs["x"], inputs["edge_index"], inputs["batch"], inputs.get("edge_attr"), len(inputs["graphs"])]
    with torch.no_grad():
        return torch.stack([member(*arguments).softmax(-1) for member in model.models]).mean(0)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"name": "gcn"}, {"name": "gin"}, {"name": "gcn", "position_hops": 1}])
def test_torch_programs_take_any_size(settings, tmp_path):
    model = untrained(graphs(12), members=2, **settings)
    path = export(model, "torch", tmp_path / "model.pt2")
    program = torch.export.load(path).module()
    for seed, sizes in enumerate([(50, 120, 9), (2, 2, 1), (7, 0, 3)]):
        inputs = example_inputs(model, *sizes, seed=10 + seed)
        torch.testing.assert_close(program(*inputs.values())[0], expected(model, inputs), atol=1e-5, rtol=0)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_features_of_whole_graphs_are_one_more_input(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    data = dataclasses.replace(graphs(12), graph_attr=torch.randn(12, 3), graph_feature_names=("a", "b", "c"))
    model = untrained(data)
    path = export(model, "onnx", tmp_path / "model.onnx")
    inputs = example_inputs(model, 9, 10, 3)
    inputs["graph_attr"][1, 2] = torch.nan
    session = onnxruntime.InferenceSession(str(path))
    found = torch.from_numpy(session.run(None, {name: value.numpy() for name, value in inputs.items()})[0])
    with torch.no_grad():
        named = {"batch_size": len(inputs.pop("graphs")), **inputs}
        torch.testing.assert_close(found, model.models[0](**named).softmax(-1), atol=1e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["torch", "onnx"])
@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_every_task_is_exported_with_its_calibration(task, format, tmp_path):
    """The predictions are those of the model, in its unit: far from 0 where numbers are."""
    data = for_task(task)
    model = untrained(data, members=2)
    if task == "regression":
        for member in model.models:
            member.head[1].mean += 1e5
    model.calibration = Calibration.fit(task, data.y, model.predictions(data))
    path = export(model, format, tmp_path / ("model.pt2" if format == "torch" else "model.onnx"))
    inputs = {"x": data.x, "edge_index": data.batch(slice(None)).edge_index, "batch": data.batch(slice(None)).batch}
    inputs["graphs"] = torch.arange(len(data))
    if format == "torch":
        found = torch.export.load(path).module()(*inputs.values())[0]
    else:
        session = pytest.importorskip("onnxruntime").InferenceSession(str(path))
        assert session.get_outputs()[0].name == ("numbers" if task == "regression" else "probabilities")
        found = torch.from_numpy(session.run(None, {name: value.numpy() for name, value in inputs.items()})[0])
    torch.testing.assert_close(found, model.predictions(data), atol=1e-4, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"name": "gcn", "readout": "global"},
        {"name": "gcn", "position_hops": 1},
        *({"name": name} for name in (*ARCHITECTURES, "structure_blind")),
    ],
)
def test_onnx_files_run_in_onnxruntime_at_any_size(settings, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    model = untrained(graphs(12), members=3 if settings["name"] == "gcn" else 2, **settings)
    model.match_members(graphs(12))  # the file has the positions of the consensus, which export itself checks
    path = export(model, "onnx", tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(path))
    for seed, sizes in enumerate([(50, 120, 9), (2, 2, 1), (7, 0, 3)]):
        inputs = example_inputs(model, *sizes, seed=10 + seed)
        found, _ = session.run(None, {name: value.numpy() for name, value in inputs.items()})
        torch.testing.assert_close(torch.from_numpy(found), expected(model, inputs), atol=1e-4, rtol=0)


def test_a_file_with_another_output_is_not_kept(tmp_path, monkeypatch):
    model = untrained(graphs(12))
    written = exporting._write_torch

    def wrong(*arguments):
        run = written(*arguments)
        return lambda inputs: [value + 1 for value in run(inputs)]

    monkeypatch.setattr(exporting, "_write_torch", wrong)
    with pytest.raises(InputError, match="The probabilities of the exported model differ from ours by 1 for 12 nodes"):
        export(model, "torch", tmp_path / "model.pt2")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_model_whose_program_fits_one_size_gets_a_sentence(tmp_path):
    with pytest.raises(InputError, match="A diffpool model cannot be exported to torch for batches of any size"):
        export(untrained(graphs(12), name="diffpool"), "torch", tmp_path / "model.pt2")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("pickle",), "There is no format 'pickle'"),
        (("onnx", "model.bin"), "ends in .onnx"),
        (("onnx",), "name the file with out"),
    ],
)
def test_wrong_arguments_get_a_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        export(untrained(planted(10)), *arguments)


def test_the_file_is_put_next_to_the_folder_of_the_model(tmp_path):
    """With the whole name of the folder: v1.1 and v1.2 do not become the same file."""
    untrained(graphs(12)).save(tmp_path / "v1.1")
    assert export(tmp_path / "v1.1", "torch") == tmp_path / "v1.1.pt2"
    assert (tmp_path / "v1.1.pt2").is_file()


def test_a_place_that_cannot_be_written_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("a file, not a folder")
    with pytest.raises(InputError, match=r"model.pt2 cannot be written: (Not a directory|File exists)"):
        export(untrained(graphs(12)), "torch", tmp_path / "file" / "model.pt2")
