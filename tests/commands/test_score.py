"""``ssread explain --score`` as a function."""

import io

import pandas as pd
import pytest
from rich.console import Console

from ssread.commands.score import score_agreement, score_dataset, score_rules
from ssread.errors import InputError
from ssread.explain import rivals
from ssread.explain.standard_rules import rules_named
from ssread.explain.study import Study
from ssread.train.runs import Training

STUDY = Study(positions=4, seeds=1, explained=1, training=Training(epochs=1))


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    monkeypatch.setattr(rivals, "GNN_EXPLAINER_EPOCHS", 2)
    monkeypatch.setattr(rivals, "PG_EXPLAINER_EPOCHS", 1)


def test_scores_are_returned_and_every_value_is_written(tmp_path):
    console = Console(file=io.StringIO(), width=200)
    options = {"num_graphs": 40, "nodes": 13, "seed": 0}
    arguments = {"device": "cpu", "workers": 1, "console": console, "options": options}
    scores, (markdown, values) = score_dataset("planted", STUDY, out=tmp_path, **arguments)
    assert (markdown, values) == (tmp_path / "scores-planted.md", tmp_path / "scores-planted.csv")
    assert markdown.read_text() == scores.markdown()
    assert "| SSRead positions |" in scores.markdown()
    assert set(pd.read_csv(values)["part"]) == {"agreement", "localisation", "models"}
    assert "planted" in console.file.getvalue()


def test_data_that_cannot_be_loaded_get_a_sentence(tmp_path):
    with pytest.raises(InputError, match=r"There is no file or folder nowhere\.csv"):
        score_dataset("nowhere.csv", STUDY, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_molecules_of_a_file_are_labelled_by_rules_and_scored(tmp_path):
    chains = ["C" * length for length in range(2, 30)]
    rows = [f"{chain}O\n{chain}N\nN{chain}O" for chain in chains]
    (tmp_path / "mine.smi").write_text("\n".join([*rows, "not a molecule"]))
    rules = rules_named(["[OX2H1] and not N"])
    study = Study(positions=2, seeds=1, explained=2, training=Training(epochs=1), model={"hidden_channels": 16})
    console = Console(file=io.StringIO(), width=200)
    settings = {"out": tmp_path / "runs", "device": "cpu", "workers": 1, "console": console}
    scores, (markdown, values) = score_rules(tmp_path / "mine.smi", rules, study, size=50, **settings)
    assert (markdown.name, values.name) == ("rules-mine.md", "rules-mine.csv")
    assert markdown.read_text() == scores.markdown()
    assert "says nothing" in scores.markdown()  # after one epoch
    table = pd.read_csv(values)
    assert set(table["rule"]) == {"[OX2H1] and not N"}
    assert {"SSRead decomposition", "attention readout attention", "random"} <= set(table["method"])
    assert (tmp_path / "runs" / "rules-mine.skipped.csv").is_file()


def test_nothing_is_trained_when_one_of_the_rules_cannot_be_used(tmp_path):
    (tmp_path / "mine.smi").write_text("CCO\nCCN\n")
    with pytest.raises(InputError, match="holds for 1 different molecules of mine"):
        score_rules(tmp_path / "mine.smi", rules_named(["O"]), STUDY, out=tmp_path / "runs", device="cpu")
    assert not (tmp_path / "runs").exists()


def test_agreement_of_trainings_is_written_for_a_sample_with_cycles(tmp_path, monkeypatch):
    monkeypatch.setattr("ssread.explain.stability_study.VARIANTS", {"structure": {"position_hops": 0}})
    study = Study(positions=3, seeds=2, training=Training(epochs=1), model={"hidden_channels": 8})
    console = Console(file=io.StringIO(), width=200)
    settings = {"out": tmp_path, "workers": 1, "console": console, "options": {"num_graphs": 60}, "cycles": True}
    scores, (markdown, values) = score_agreement("planted", study, size=40, **settings)
    assert (markdown.name, values.name) == ("stability-planted.md", "stability-planted.csv")
    assert markdown.read_text() == scores.markdown()
    assert scores.table["AMI with roles"].item() > 0.1  # of cycles: the other feature is a constant
