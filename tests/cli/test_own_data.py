"""``ssread train``, ``predict``, ``embed`` and ``export`` as people type them."""

import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from helpers.small_models import for_task, untrained, write_assay
from typer.testing import CliRunner

from ssread.apply.calibration import Calibration
from ssread.cli import app
from ssread.common.versions import VERSION


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def test_from_a_file_to_predictions(tmp_path):
    pytest.importorskip("rdkit")
    path = write_assay(tmp_path / "assay.csv")
    model, out = tmp_path / "model", tmp_path / "out.csv"
    code, output = run("train", path, "-o", model, "--quick", "--epochs", 3, "--workers", 1, "--balanced")
    assert code == 0, output
    assert "in 3-fold cross-validation (random)" in output
    assert "Random forest on Morgan fingerprints" in output
    assert str(model / "card.md") in output
    with path.open("a") as file:
        file.write("broken,xyz,yes\n")
    code, output = run("predict", model, path, "-o", out, "--id", "name")
    assert (code, output.strip()) == (
        0,
        f"Wrote {out}: 33 rows, 1 of them without a prediction: line 34, 'xyz' (RDKit cannot read it). "
        f"Full list: {tmp_path / 'out.skipped.csv'}.",
    )
    table = pd.read_csv(out)
    assert table.columns.tolist()[:5] == ["name", "smiles", "label", "id", "class"]
    assert table["id"].tolist()[-1] == "broken"
    assert pd.read_csv(tmp_path / "out.skipped.csv").to_dict("records") == [
        {"where": "line 34", "text": "xyz", "reason": "RDKit cannot read it"}
    ]
    code, output = run("embed", model, path, "-o", tmp_path / "vectors.parquet", "--workers", 1)
    assert code == 0, output
    assert len(pd.read_parquet(tmp_path / "vectors.parquet")) == 33
    code, output = run("export", model, "--format", "torch")
    assert (code, output.strip()) == (0, f"Wrote {tmp_path / 'model.pt2'}; its output was compared with ours.")


def test_options_for_reading_come_from_a_file(tmp_path):
    pytest.importorskip("rdkit")
    path = write_assay(tmp_path / "assay.csv")
    (tmp_path / "config.yaml").write_text("features: labels\n")
    words = ["--config", tmp_path / "config.yaml", "--quick", "--epochs", 1, "--workers", 1]
    code, output = run("train", path, "-o", tmp_path / "model", *words)
    assert code == 0, output
    (tmp_path / "new.smi").write_text("CC\nC[U]\n")
    code, output = run("predict", tmp_path / "model", tmp_path / "new.smi", "-o", tmp_path / "out.csv")
    assert "2 rows, 1 of them without" in output
    assert "'U'" in pd.read_csv(tmp_path / "out.csv")["problem"][1]


@pytest.mark.parametrize("task", ["classification", "multilabel", "regression"])
def test_sets_and_intervals_of_a_coverage(task, tmp_path):
    data = for_task(task)
    data.save(tmp_path / "data.safetensors")
    model = untrained(data)
    words = (tmp_path / "data.safetensors", "-o", tmp_path / "out.csv", "--coverage", "0.8")
    model.save(tmp_path / "plain")
    code, output = run("predict", tmp_path / "plain", *words)
    assert (code, output.count("\n")) == (1, 1)
    assert "The model has no calibration" in output
    model.calibration = Calibration.fit(task, data.y, model.predictions(data))
    model.save(tmp_path / "model")
    code, output = run("predict", tmp_path / "model", *words)
    assert (code, output.strip()) == (0, f"Wrote {tmp_path / 'out.csv'}: 40 rows.")
    added = {"classification": "set", "multilabel": "set(second)", "regression": "high(second)"}[task]
    assert added in pd.read_csv(tmp_path / "out.csv")
    code, output = run("predict", tmp_path / "model", *words[:-1], "80")
    assert "coverage must lie between 0 and 1, such as 0.9, but 80.0 was given" in output


def test_bad_rows_are_left_out_and_listed_unless_strict(tmp_path):
    pytest.importorskip("rdkit")
    path = write_assay(tmp_path / "assay.csv")
    with path.open("a") as file:
        file.write("".join(f"bad,x{number},yes\n" for number in range(90)) + "empty,,no\nsalt,[Na+].[Cl-],no\n")
        file.write("again,c1ccccc1C,no\n")
    words = ["train", path, "-o", tmp_path / "model", "--quick", "--epochs", 1, "--workers", 1]
    code, output = run(*words, "--strict")
    assert code == 1
    assert "91 of 125 rows cannot be used: line 34, 'x0' (RDKit cannot read it)" in output
    assert output.endswith("and 88 more. Correct them, or leave out --strict.\n")
    assert "on_error" not in output
    code, output = run(*words)
    told = " ".join(output.split())
    assert code == 0, output
    assert "91 of 125 rows cannot be used and are left out: line 34, 'x0' (RDKit cannot read it)" in told
    assert "1 molecules of several fragments kept as one graph" in told
    assert "1 graph occurs more than once (2 rows), 1 of them with different labels." in told
    listed = pd.read_csv(tmp_path / "model.skipped.csv")
    assert len(listed) == 91
    assert listed.iloc[-1].tolist()[0::2] == ["line 124", "the cell is empty"]
    card = (tmp_path / "model" / "card.md").read_text()
    assert "of these with different labels: 1" in card
    (tmp_path / "new.csv").write_text(f"smiles\n{'C' * 3000}\nxyz\n")
    code, output = run("predict", tmp_path / "model", tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert "1 larger than every training graph: see the column outside." in output
    for verb in ("predict", "embed", "explain"):
        code, output = run(verb, tmp_path / "model", tmp_path / "new.csv", "-o", tmp_path / "out2.csv", "--strict")
        assert code == 1
        assert output.endswith("line 3, 'xyz' (RDKit cannot read it). Correct them, or leave out --strict.\n")
    assert not (tmp_path / "out2.csv").exists()


def test_options_are_spelled_as_they_are_typed(tmp_path):
    path = write_assay(tmp_path / "assay.csv")
    code, output = run("train", path, "-o", tmp_path / "model", "--smiles", "SMILES")
    assert code == 1
    assert "no column 'SMILES' (--smiles 'SMILES')" in output
    code, output = run("train", "planted", "-o", tmp_path / "model", "--label", "x")
    assert "There is no option --label for this data: the options here are num_graphs" in output


def test_the_version():
    assert run("--version") == (0, f"ssread {VERSION}\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("train", "nowhere.csv", "-o", "model"), "There is no file or folder nowhere.csv"),
        (("predict", "nowhere", "planted", "-o", "out.csv"), "nowhere is not a folder"),
        (("embed", "nowhere", "planted", "-o", "out.csv"), "nowhere is not a folder"),
        (("export", "nowhere"), "nowhere is not a folder"),
        (("export", "nowhere", "--format", "pickle"), "There is no format 'pickle'"),
    ],
)
def test_wrong_input_gives_a_sentence_and_nothing_else(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, output = run(*words)
    assert code == 1
    assert output.startswith("Error: ")
    assert sentence in output
    assert output.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_best_rows_need_a_number_and_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for out in ("out.csv", "parts"):
        code, output = run("predict", "model", "none.smi", "-o", out, "--by", "p(yes)")
        assert (code, output.count("--by says which rows --top keeps: give --top N too")) == (1, 1)
    code, output = run("predict", "model", "none.smi", "-o", "out.csv", "--by", "p(yes)", "--top", 3)
    assert "--on and --top write a folder of parts" in " ".join(output.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["predict", "embed", "explain", "train"])
def test_no_output_replaces_the_file_that_is_read(verb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    untrained(for_task("classification", 12)).save(tmp_path / "model")
    words = ("train",) if verb == "train" else (verb, "model")
    write_assay(tmp_path / "new.csv").rename("new.skipped.csv")
    (tmp_path / "link.csv").symlink_to("new.skipped.csv")
    before = (tmp_path / "new.skipped.csv").read_bytes()
    beside = "new" if verb == "train" else "new.csv"
    for data, out in (("new.skipped.csv", beside), ("./new.skipped.csv", "new.skipped.csv"), ("link.csv", "link.csv")):
        code, output = run(*words, data, "-o", out)
        assert code == 1
        assert "which would replace them" in " ".join(output.split()) or (
            verb == "train" and "exists already" in output
        )
    assert (tmp_path / "new.skipped.csv").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "model", "new.skipped.csv"]


@pytest.mark.slow
def test_interrupted_it_says_how_to_go_on(tmp_path, heeding_ctrl_c):
    command = [sys.executable, "-m", "ssread", "train", "planted", "-o", str(tmp_path / "model"), "--workers", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heeding_ctrl_c)
    while not (tmp_path / "model.training").exists():
        time.sleep(0.1)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command continues from there" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-o", "out.csv", "--device", "tpu"], "There is no device 'tpu'. Choose auto, cpu or cuda."),
        (["-o", "parts", "--device", "tpu"], "There is no device 'tpu'. Choose auto, cpu or cuda."),
        (
            ["-o", "parts", "--device", "cuda", "--on", "ray"],
            "A Ray cluster screens on cores: leave --device cuda out, or --on ray.",
        ),
    ],
)
def test_devices_that_cannot_be_get_a_sentence(tmp_path, words, sentence, monkeypatch):
    monkeypatch.chdir(tmp_path)
    untrained(for_task("classification", 12)).save(tmp_path / "model")
    for command in ("predict", "embed"):
        code, output = run(command, tmp_path / "model", "none.smi", *words)
        assert code == 1
        assert sentence in " ".join(output.split())
