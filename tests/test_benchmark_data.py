"""benchmarks/measuring.py: no figure of a dataset comes from other graphs."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
try:
    measuring = importlib.import_module("measuring")
    molecules = importlib.import_module("molecules")
finally:
    sys.path.remove(str(Path(__file__).parents[1] / "benchmarks"))


@pytest.fixture(autouse=True)
def _without_data(monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "MIRROR", tmp_path / "missing")
    monkeypatch.setattr(molecules, "FOLDER", tmp_path)


def test_only_a_quick_run_has_stand_ins_and_it_says_so(capsys, monkeypatch, tmp_path):
    graphs = measuring.dataset("NCI1", quick=True)
    assert graphs.name == "planted"
    assert "NCI1 is not on this machine: planted graphs" in capsys.readouterr().out
    monkeypatch.setenv("SSREAD_MIRROR", "http://localhost:9")
    with pytest.raises(SystemExit, match=r"Error: .*NCI1"):
        measuring.dataset("NCI1")


def test_a_name_that_is_no_dataset_of_the_paper_is_refused():
    with pytest.raises(SystemExit, match=r"no dataset 'NCI2'.*choose one of DD, MUTAG"):
        measuring.dataset("NCI2", quick=True)


def test_a_missing_file_of_molecules_is_named(capsys):
    pytest.importorskip("rdkit")
    with pytest.raises(SystemExit, match=r"esol\.csv is missing: put it there"):
        molecules.molecules("esol", 60, quick=False)
    assert len(molecules.molecules("esol", 60, quick=True)) == 60
    assert "mutag.csv stands in for it" in capsys.readouterr().out
