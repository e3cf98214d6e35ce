"""``ssread explain --score`` as a function."""

import io

import pandas as pd
import pytest
from rich.console import Console

from ssread.commands.score import score_dataset
from ssread.errors import InputError
from ssread.explain.study import Study
from ssread.train.runs import Training

STUDY = Study(positions=4, seeds=1, explained=1, training=Training(epochs=1))


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
