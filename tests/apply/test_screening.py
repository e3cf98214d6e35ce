"""Libraries of molecules: parts, a manifest, and a command that goes on where it was killed."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pandas as pd
import pytest
import torch
from helpers.small_models import AROMATIC, SMILES, untrained
from typer.testing import CliRunner

from ssread.apply import chunks, embed, predict, screening
from ssread.apply.features import Features
from ssread.apply.screening import screen
from ssread.cli import app
from ssread.data import from_smiles, load
from ssread.data.graph_features import with_graph_features
from ssread.errors import InputError

pytest.importorskip("rdkit")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def model(tmp_path):
    untrained(from_smiles(SMILES, AROMATIC)).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def library(tmp_path):
    """Three files of different kinds, 75 rows, two of them bad."""
    folder = tmp_path / "library" / "deep"
    folder.mkdir(parents=True)
    rows = [*SMILES[:20], "C1CC", *SMILES[20:]]
    pd.DataFrame({"smiles": rows, "name": [f"a{n}" for n in range(33)]}).to_csv(folder / "a.csv", index=False)
    with gzip.open(folder / "b.smi.gz", "wt") as file:
        file.writelines(f"{text} b{number}\n" for number, text in enumerate([*SMILES[:20], "nonsense"]))
    pd.DataFrame({"smiles": SMILES[:21]}).to_parquet(folder / "c.parquet")
    return tmp_path / "library"


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 4)
    monkeypatch.setattr(screening, "PART_CHUNKS", 2)


@pytest.fixture
def in_this_process(monkeypatch):
    """Worker processes take seconds to start; the tests of kills use them."""
    monkeypatch.setattr(screening, "run_parts", lambda work, tasks, *_: (work(*task) for task in tasks))


def together(folder):
    parts = [pd.read_parquet(path) for path in sorted(folder.glob("part-*.parquet"))]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.usefixtures("in_this_process")
def test_every_row_of_every_file_is_predicted_once_and_as_ssread_predict_does(model, library, tmp_path):
    done = screen(model, library, tmp_path / "out")
    assert (done.rows, done.problems, done.found) == (75, 2, 0)
    found = together(tmp_path / "out")
    assert found["file"].tolist() == ["deep/a.csv"] * 33 + ["deep/b.smi.gz"] * 21 + ["deep/c.parquet"] * 21
    for name in ("deep/a.csv", "deep/b.smi.gz", "deep/c.parquet"):
        own, expected = found[found["file"] == name].reset_index(drop=True), predict(model, library / name)
        assert own["id"].tolist() == expected["id"].tolist()
        assert own["problem"].isna().tolist() == expected["problem"].isna().tolist()
        assert own["p(yes)"].tolist() == pytest.approx(expected["p(yes)"].tolist(), abs=1e-6, nan_ok=True)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert sum(part["rows"] for part in manifest["parts"]) == manifest["rows"] == 75
    files = [part["file"] for part in manifest["parts"] for _ in range(part["rows"])]
    assert files == found["file"].tolist()
    assert [entry["name"] for entry in manifest["inputs"]] == sorted(set(files))
    bad = pd.read_csv(tmp_path / "out" / "skipped.csv")
    assert bad["file"].tolist() == ["deep/a.csv", "deep/b.smi.gz"]
    assert set(bad["problem"]) == {"RDKit cannot read it"}


def test_rows_of_a_part_are_not_kept_when_it_is_done(model, library, tmp_path, monkeypatch):
    rows, alive = [], []

    def work_and_look(work, tasks, *_):
        for job, task in tasks:
            alive.append([chunk() is not None for chunk in rows])
            rows.append(weakref.ref(task.chunks[0]))
            yield work(job, task)

    monkeypatch.setattr(screening, "run_parts", work_and_look)
    screen(model, library, tmp_path / "out")
    assert len(alive) > 4
    assert not any(any(earlier[:-1]) for earlier in alive), "the last one may be in the variables of a loop"


@pytest.mark.usefixtures("in_this_process")
def test_the_same_call_does_only_what_is_missing_and_another_one_is_refused(model, library, tmp_path):
    out = tmp_path / "out"
    first = screen(model, library, out)
    before = together(out)
    for number in (0, 4, 9):
        (out / f"part-{number:06d}.parquet").unlink()
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*.parquet")}
    again = screen(model, library, out)
    assert (again.rows, again.parts, again.found) == (75, first.parts, first.parts - 3)
    pd.testing.assert_frame_equal(together(out), before)
    assert all((out / name).stat().st_mtime_ns == time for name, time in kept.items())
    with pytest.raises(InputError, match="was begun with other options"):
        screen(model, library, out, what="embed")
    with pytest.raises(InputError, match="was begun with other inputs"):
        screen(model, library / "deep" / "*.csv", out)
    (out / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="was begun with other options"):
        screen(model, library, out)
    (out / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="is not valid JSON"):
        screen(model, library, out)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(InputError, match=r"has no manifest\.json"):
        screen(model, library, tmp_path / "full")


@pytest.mark.usefixtures("in_this_process")
def test_a_command_that_cannot_begin_leaves_nothing(model, library, tmp_path):
    out = tmp_path / "out"
    for wrong, sentence in (
        ({"top": 5, "by": "nope"}, "There is no column 'nope' to choose rows by; choose one of p"),
        ({"top": 5, "by": "class"}, "There is no column 'class' to choose rows by"),
        ({"smiles": "SMILES"}, r"a\.csv has no column 'SMILES'"),
        ({"by": "p(yes)"}, "--by says which rows --top keeps: give --top N too"),
        ({"top": 0}, "--top must be 1 or more, but 0 was given"),
    ):
        with pytest.raises(InputError, match=sentence):
            screen(model, library, out, **wrong)
        assert not out.exists()
    screen(model, library, out, top=5, contributions=True, by="p(yes)")


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("remedy", ["repaired", "removed"])
@pytest.mark.parametrize(("name", "content"), [("b.smi.gz", None), ("c.parquet", b"PAR1"), ("b2.csv", b"")])
def test_parts_of_good_files_are_kept_when_a_bad_one_is_repaired_or_removed(
    model, library, tmp_path, name, content, remedy
):
    bad, out = library / "deep" / name, tmp_path / "out"
    whole = bad.read_bytes() if bad.exists() else b"smiles\nCCO\n"
    bad.write_bytes(whole[: len(whole) // 2] if content is None else content)
    with pytest.raises(InputError, match=f"{name}.*When the file is corrected or removed, the same command continues"):
        screen(model, library, out)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("part-*.parquet")}
    if remedy == "repaired":
        bad.write_bytes(whole)
    else:
        bad.unlink()
    done = screen(model, library, out)
    assert done.found == len(kept) > 3
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    screen(model, library, tmp_path / "anew")
    pd.testing.assert_frame_equal(together(out), together(tmp_path / "anew"))
    assert (out / "manifest.json").read_text() == (tmp_path / "anew" / "manifest.json").read_text()


@pytest.mark.usefixtures("in_this_process")
def test_a_file_that_changed_after_parts_of_it_were_made_is_refused(model, tmp_path):
    """Also one that has as many bytes as before."""
    out, changed = tmp_path / "out", tmp_path / "library" / "b.csv"
    changed.parent.mkdir()
    (changed.parent / "a.csv").write_text("smiles\nCCC\n")
    changed.write_text("smiles\nCCO\nCCN\n")
    screen(model, changed.parent, out)
    changed.write_text("smiles\nCCF\nCCI\n")
    sentence = r"b\.csv was changed, added or removed since\): .*remove part-000001\.parquet and all parts after it"
    with pytest.raises(InputError, match=sentence):
        screen(model, changed.parent, out)
    (out / "part-000001.parquet").unlink()
    assert screen(model, changed.parent, out).found == 1
    assert together(out)["smiles"].tolist() == ["CCC", "CCF", "CCI"]


@pytest.mark.usefixtures("in_this_process")
def test_a_library_can_grow_at_its_end(model, library, tmp_path):
    first = screen(model, library, tmp_path / "out")
    (library / "deep" / "d.smi").write_text("CCO last\n")
    again = screen(model, library, tmp_path / "out")
    assert (again.rows, again.parts, again.found) == (first.rows + 1, first.parts + 1, first.parts)
    (library / "deep" / "0.smi").write_text("CCO first\n")
    with pytest.raises(InputError, match=r"begun with other inputs .*0\.smi was changed, added or removed"):
        screen(model, library, tmp_path / "out")


@pytest.mark.usefixtures("in_this_process")
def test_the_output_may_lie_in_the_library(model, library, tmp_path):
    out = library / "deep" / "out"
    first = screen(model, library, out)
    again = screen(model, library, out)
    assert (again.rows, again.found) == (first.rows, first.parts)
    assert screen(model, library, tmp_path / "other").rows == first.rows


@pytest.mark.usefixtures("in_this_process")
def test_long_texts_that_cannot_be_read_are_listed_shortened(model, tmp_path, monkeypatch):
    """What a part says of its bad rows is in the metadata of its file, which Parquet limits to 100 MB."""
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 1000)
    monkeypatch.setattr(screening, "PART_CHUNKS", 20)
    (tmp_path / "bad.smi").write_text("".join(f"{'x' * 6000} name{row}\n" for row in range(20_000)))
    done = screen(model, tmp_path / "bad.smi", tmp_path / "out", top=3)
    assert (done.rows, done.problems, done.parts) == (20_000, 20_000, 1)
    listed = pd.read_csv(tmp_path / "out" / "skipped.csv")
    assert listed["id"].tolist() == [f"name{row}" for row in range(20_000)]
    assert listed["smiles"].str.len().max() <= 200


@pytest.mark.usefixtures("in_this_process")
def test_the_best_rows_of_all_parts_are_the_best_of_all_rows(model, library, tmp_path):
    screen(model, library, tmp_path / "out", top=7, by="p(yes)")
    found = pd.read_parquet(tmp_path / "out" / "top.parquet")["p(yes)"].tolist()
    screen(model, library, tmp_path / "all")
    assert found == pytest.approx(sorted(together(tmp_path / "all")["p(yes)"].dropna(), reverse=True)[:7], abs=1e-6)
    with pytest.raises(InputError, match="There is no column 'nonsense' to choose rows by"):
        screen(model, library, tmp_path / "wrong", top=7, by="nonsense")
    done = screen(model, library, tmp_path / "vectors", what="embed")
    assert done.rows == 75
    assert together(tmp_path / "vectors").filter(regex=r"^v\d+$").shape == (75, 24)


@pytest.mark.usefixtures("in_this_process")
def test_options_of_a_file_hold_for_a_folder_or_are_refused(model, library, tmp_path):
    words = ["predict", str(model), str(library), "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*words, "--contributions"])
    assert done.exit_code == 0, done.output
    terms = together(tmp_path / "out").filter(regex=r"^contribution\(")
    alone = predict(model, library / "deep" / "c.parquet", contributions=True).filter(regex=r"^contribution\(")
    assert terms.columns.tolist() == alone.columns.tolist()
    assert terms.to_numpy()[-21:] == pytest.approx(alone.to_numpy(), abs=1e-5)
    refused = CliRunner().invoke(app, [*words[:-1], str(tmp_path / "other"), "--strict"])
    assert refused.exit_code == 1
    assert "--strict needs a file as output" in refused.output
    assert not (tmp_path / "other").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu_is_a_sentence_and_leaves_no_folder(model, library, tmp_path):
    with pytest.raises(InputError, match="There is no GPU that torch can use for --device cuda; use cpu"):
        screen(model, library, tmp_path / "out", device="cuda")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("in_this_process")
def test_columns_that_a_model_needs_are_read(library, tmp_path):
    """Those that ``ssread train --with COLUMN`` has put beside the structure."""
    table = pd.DataFrame({"smiles": SMILES, "aromatic": AROMATIC, "length": [float(len(text)) for text in SMILES]})
    table.to_csv(tmp_path / "new.csv", index=False)
    data, _ = with_graph_features(load(tmp_path / "new.csv", label="aromatic", keep=["length"]), ["length"])
    taking_lengths = untrained(data)
    taking_lengths.features = Features.of(data, {"graph_features": "length"})
    taking_lengths.save(tmp_path / "with_lengths")
    for what, alone in (("predict", predict), ("embed", embed)):
        done = screen(tmp_path / "with_lengths", tmp_path / "new.csv", tmp_path / what, what=what)
        assert (done.rows, done.problems) == (32, 0)
        expected = alone(tmp_path / "with_lengths", tmp_path / "new.csv")
        name = "p(yes)" if what == "predict" else "v0"
        first = expected[name] if what == "predict" else expected[:, 0]
        assert together(tmp_path / what)[name].tolist() == pytest.approx(list(first), abs=1e-6)
    with pytest.raises(InputError, match=r"c\.parquet has no column 'length'"):
        screen(tmp_path / "with_lengths", library / "deep" / "c.parquet", tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
def test_where_this_process_evaluates_the_parts_are_the_same(model, library, device, tmp_path, monkeypatch):
    """As with a GPU: worker processes read the rows, this process evaluates the model and writes."""
    screen(model, library, tmp_path / "by_cores", device="cpu")
    monkeypatch.setattr(screening, "_evaluates_here", lambda _: True)
    out, seen = tmp_path / "out", []
    first = screen(model, library, out, device=device, workers=2, progress=seen.append)
    assert (first.rows, first.problems, first.found, seen[-1]) == (75, 2, 0, 75)
    assert seen == sorted(seen)
    for number in (0, 4, first.parts - 1):
        (out / f"part-{number:06d}.parquet").unlink()
    again = screen(model, library, out, device=device, workers=2)
    assert (again.rows, again.found) == (75, first.parts - 3)
    pd.testing.assert_frame_equal(together(out), together(tmp_path / "by_cores"), atol=1e-4)
    names = [path.name for path in sorted(out.iterdir())]
    assert names == [path.name for path in sorted((tmp_path / "by_cores").iterdir())]
    assert (out / "skipped.csv").read_text() == (tmp_path / "by_cores" / "skipped.csv").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("here", [False, True], ids=["by workers", "by this process, as with a GPU"])
def test_killed_in_the_middle_it_goes_on_and_no_row_is_lost_or_doubled(model, here, tmp_path):
    (tmp_path / "many.smi").write_text("".join(f"{SMILES[n % 32]} m{n}\n" for n in range(20_000)))
    out = tmp_path / "out"
    small = f"chunks.CHUNK_ROWS, screening.PART_CHUNKS = 200, 5; screening._evaluates_here = lambda _: {here}"
    call = f"print(screening.screen({str(model)!r}, {str(tmp_path / 'many.smi')!r}, {str(out)!r}, workers=2))"
    command = [sys.executable, "-c", f"from ssread.apply import chunks, screening; {small}; {call}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, start_new_session=True) as process:
        while not list(out.glob("part-*.parquet")) and process.poll() is None:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
    done = len(list(out.glob("part-*.parquet")))
    assert 0 < done < 20
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert f"rows=20000, problems=0, parts=20, found={done}" in told
    assert together(out)["id"].tolist() == [f"m{n}" for n in range(20_000)]
