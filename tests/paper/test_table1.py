"""Table I: sizes of the datasets, counted here."""

from helpers.paper_runs import context, printed

from ssread.data import sources
from ssread.paper import table1
from ssread.paper.registry import DATASETS


def test_counts_are_next_to_the_papers(mutag, tmp_path):
    made = context(tmp_path)
    (page,) = table1.run(made)
    line = next(line for line in page.read_text().splitlines() if line.startswith("| MUTAG |"))
    assert line == "| MUTAG | 188 | 188 | 17.93 | 17.93 | 19.79 | 19.79 | 2 | 2 | yes |"
    assert "MUTAG" in printed(made)
    assert "NCI1" not in page.read_text()


def test_a_dataset_that_is_not_on_this_machine_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("SSREAD_DATA", str(tmp_path / "empty"))
    (page,) = table1.run(context(tmp_path, datasets=["NCI1"]))
    assert page.read_text().count("missing") == 4
    assert page.read_text().splitlines()[2].endswith("| - |")


def test_progress_counts_the_datasets_on_this_machine(tmp_path):
    done, total, unit = table1.progress(context(tmp_path))
    assert done == sum(sources.find(name).is_local for name in DATASETS)
    assert (total, unit) == (7, "datasets")
