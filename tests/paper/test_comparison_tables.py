import json
import os
import signal
import subprocess
import sys
import time

import pytest
from helpers.paper_runs import SMALL, context, imagined, printed

from ssread.data import sources
from ssread.errors import InputError
from ssread.evaluate import Store
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.trainings_csv import KINDS, read_trainings
from ssread.paper.comparison_tables import TABLE_3, TABLE_4
from ssread.paper.datasets import nearly_done_first, paper_dataset
from ssread.paper.registry import DATASETS


def test_parts_add_up_to_the_same_table(mutag, tmp_path):
    TABLE_3.run(context(tmp_path / "parts", rows=["sum"]))
    first = context(tmp_path / "parts").trainings()
    part = context(tmp_path / "parts", rows=["sum", "max"])
    TABLE_3.run(part)
    later = part.trainings()
    assert later.merge(first).shape == first.shape, "nothing was trained again"
    TABLE_3.run(context(tmp_path / "whole", rows=["sum", "max"]))
    for name in ("table3.md", "table3.json"):
        parts, whole = (tmp_path / folder / "table3" / name for folder in ("parts", "whole"))
        assert parts.read_text() == whole.read_text()
    assert "40 of 42 cells are missing." in (tmp_path / "parts" / "table3" / "table3.md").read_text()
    assert "NCI1" not in printed(part), "what was not asked for is not shown"


def test_what_is_written_makes_the_table_again(tmp_path):
    """Ten folds and five seeds, as the results page wants them; every training imagined."""
    experiment = Experiment(TABLE_3.arch, TABLE_3.aggr, dropout="auto")
    made = context(tmp_path, settings={}, train=False, datasets=[])
    imagined(made.store, experiment, ("MUTAG", "NCI1"))
    TABLE_3.run(made)
    folder = tmp_path / "table3"
    assert TABLE_3.page(folder) == (folder / "table3.md").read_text()
    assert json.loads((folder / "table3.json").read_text())["counts"]["missing"] == 42 - 12
    rows = (folder / "runs.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 800
    half = len(rows) // 2
    (folder / "runs.csv").unlink()
    (folder / "one.csv").write_text("\n".join(rows[: half + 100]) + "\n")
    (folder / "two.csv").write_text("\n".join([rows[0], *rows[half:]]) + "\n")
    assert TABLE_3.page(folder) == (folder / "table3.md").read_text(), "two machines that share some trainings"


def test_remarks_beside_the_table_are_heeded(tmp_path):
    made = context(tmp_path, settings={}, train=False, datasets=[])
    imagined(made.store, Experiment(TABLE_4.arch, dropout="auto"))
    TABLE_4.run(made)
    assert ": open" in (tmp_path / "table4" / "table4.md").read_text()
    (tmp_path / "table4" / "remarks.md").write_text("- MUTAG: imagined.\n")
    TABLE_4.run(made)
    assert ": open" not in (tmp_path / "table4" / "table4.md").read_text()


def test_datasets_that_lack_least_come_first(tmp_path):
    experiment = Experiment(TABLE_3.arch, TABLE_3.aggr, seeds=1, folds=2)
    with Store(tmp_path / "results.sqlite") as store:
        rows = imagined(store, experiment, ("NCI1", "PROTEINS"))
    rows = rows[(rows["dataset"] != "PROTEINS") | (rows["aggr"] == "sum")]
    order = nearly_done_first(rows, DATASETS, experiment)
    assert order[:3] == ["NCI1", "PROTEINS", "MUTAG"], "complete, begun, then the smallest"
    assert order[-1] == "DD"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"datasets": ["AIDS"]}, "There is no dataset 'AIDS' here. Choose from DD, MUTAG"),
        ({"rows": ["median"]}, "There is no row 'median' here. Choose from sum, max"),
        ({"settings": {"fold": 3}}, "There is no setting 'fold'"),
        ({"workers": 0}, "workers must be 1 or more"),
    ],
)
def test_wrong_words_get_a_sentence(options, sentence, tmp_path):
    with pytest.raises(InputError, match=sentence):
        TABLE_3.run(context(tmp_path, **options))


def test_a_dataset_that_cannot_be_had_stops_no_other(mutag, tmp_path, monkeypatch):
    if os.environ.get("SSREAD_MIRROR"):
        pytest.skip("MUTAG is not in an installed package, and the mirror that has it has NCI1 too")
    monkeypatch.setattr(sources, "COLLECTION", "http://127.0.0.1:9")  # nobody answers there
    made = context(tmp_path, datasets=["NCI1", "MUTAG"], rows=["sum"])
    with pytest.raises(InputError, match=r"^NCI1 is not done: .*NCI1\.zip"):
        TABLE_3.run(made)
    assert "41 of 42 cells are missing." in (tmp_path / "table3" / "table3.md").read_text()


def test_another_dataset_of_the_same_name_is_not_the_papers(tmp_path, monkeypatch):
    folder = tmp_path / "raw" / "MUTAG"
    folder.mkdir(parents=True)
    for name, text in {
        "A": "1, 2\n2, 1\n3, 4\n4, 3\n",
        "graph_indicator": "1\n1\n2\n2\n",
        "graph_labels": "0\n1\n",
    }.items():
        (folder / f"MUTAG_{name}.txt").write_text(text)
    monkeypatch.setenv("SSREAD_MIRROR", str(tmp_path / "raw"))
    with pytest.raises(InputError, match="is not the paper's dataset"):
        paper_dataset("MUTAG")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "cannot be read as CSV"),
        ("a,b\n1,2\n", "has no column 'key'"),
        (",".join(KINDS) + "\n" + ",".join("x" for _ in KINDS) + "\n", "'num_positions' of .* is not all numbers"),
    ],
)
def test_files_that_are_no_trainings_get_a_sentence(text, sentence, tmp_path):
    (tmp_path / "runs.csv").write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_trainings([tmp_path / "runs.csv"])


@pytest.mark.slow
@pytest.mark.alone
def test_killed_in_the_middle_it_goes_on(mutag, tmp_path):
    options = ["--datasets", "MUTAG", "--rows", "sum,max", "--folds", "2", "--seeds", "1", "--epochs", "20"]
    command = [sys.executable, "-m", "ssread", "reproduce", "table3", *options, "--workers", "1", "--device", "cpu"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([*command, "--out", str(tmp_path)], env=environment, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and trained(tmp_path) < 3:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    before = trained(tmp_path)
    assert 3 <= before < 16
    subprocess.run([*command, "--out", str(tmp_path)], env=environment, check=True, capture_output=True)
    assert trained(tmp_path) == 16
    subprocess.run([*command, "--out", str(tmp_path / "whole")], env=environment, check=True, capture_output=True)
    for name in ("table3.md", "table3.json"):
        assert (tmp_path / "table3" / name).read_text() == (tmp_path / "whole" / "table3" / name).read_text()


def trained(folder) -> int:
    path = folder / "results.sqlite"
    if not path.is_file():
        return 0
    try:
        with Store(path) as store:
            return len(store)
    except InputError:  # made this very moment
        return 0


def test_table4_has_the_papers_classifiers(tmp_path):
    made = context(tmp_path, train=False, settings=SMALL)
    TABLE_4.run(made)
    assert TABLE_4.progress(context(tmp_path, datasets=[], settings={})) == (0, 5600, "trainings")
    assert TABLE_3.progress(context(tmp_path, datasets=[], settings={})) == (0, 5600, "trainings")
    text = (tmp_path / "table4" / "table4.md").read_text()
    assert "The paper, of all 35 cells: better in 31, significantly in 28; mean gain +1.1 points." in text
