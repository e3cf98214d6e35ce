"""The paper's datasets one after another: the one that lacks least first, and none stops the others."""

import pytest
from helpers.paper_runs import SMALL, context, printed, random_trainings

from ssread.errors import InputError
from ssread.evaluate import Store
from ssread.evaluate.experiment import Experiment
from ssread.paper import datasets
from ssread.paper.comparison_tables import TABLE_3
from ssread.paper.datasets import least_missing_first, paper_dataset, train_datasets
from ssread.paper.registry import DATASETS


def test_the_dataset_that_lacks_least_comes_first(tmp_path):
    experiment = Experiment(TABLE_3.arch, TABLE_3.aggr, seeds=1, folds=2)
    with Store(tmp_path / "results.sqlite") as store:
        rows = random_trainings(store, experiment, ("NCI1", "PROTEINS"))
    rows = rows[(rows["dataset"] != "PROTEINS") | (rows["aggr"] == "sum")]
    order = least_missing_first(rows, DATASETS, experiment)
    assert order[:3] == ["NCI1", "PROTEINS", "MUTAG"], "complete, begun, then the smallest"
    assert order[-1] == "DD"
    assert sorted(order) == sorted(DATASETS)


def test_a_dataset_that_fails_stops_no_other(tmp_path, monkeypatch):
    """One cannot be loaded, one cannot be trained."""

    def load(name):
        if name == "NCI1":
            raise InputError("no such file.")
        return name

    def train(graphs, watch):
        if graphs == "DD":
            raise InputError("no memory.")
        trained.append(graphs)

    trained: list[str] = []
    monkeypatch.setattr(datasets, "paper_dataset", load)
    made = context(tmp_path)
    problems = train_datasets(made, ["DD", "NCI1", "PROTEINS", "MUTAG"], Experiment.of(SMALL), train)
    assert trained == ["MUTAG", "PROTEINS"]
    assert problems == ["NCI1 failed: no such file.", "DD failed: no memory."]
    assert all(problem in printed(made) for problem in problems)


def test_nothing_is_trained_where_only_what_is_done_is_shown(tmp_path):
    assert train_datasets(context(tmp_path, train=False), ["MUTAG"], Experiment.of(SMALL), pytest.fail) == []


def test_another_dataset_of_the_same_name_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "raw" / "MUTAG"
    folder.mkdir(parents=True)
    for name, text in {
        "A": "1, 2\n2, 1\n3, 4\n4, 3\n",
        "graph_indicator": "1\n1\n2\n2\n",
        "graph_labels": "0\n1\n",
    }.items():
        (folder / f"MUTAG_{name}.txt").write_text(text)
    monkeypatch.setenv("SSREAD_MIRROR", str(tmp_path / "raw"))
    with pytest.raises(InputError, match="This MUTAG is not the paper's dataset"):
        paper_dataset("MUTAG")
