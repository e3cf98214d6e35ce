"""``ssread compare`` as a function: reports, pages, objectives, tasks, splits."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers.remote_runner import RemoteRunner
from rich.console import Console

from ssread.commands.compare import Saved, compare_dataset
from ssread.data import Fold, load, write_splits
from ssread.data.duplicates import duplicate_groups
from ssread.data.scaffold import scaffold_groups
from ssread.errors import InputError
from ssread.evaluate import Report, Store
from ssread.train.runs import RunResult

SMALL = {
    "positions": 2,
    "dropout": 0.0,
    "folds": 2,
    "seeds": 1,
    "epochs": 1,
    "batch_size": 16,
    "model": {"hidden_channels": 8},
}
PLANTED = {"num_graphs": 40, "nodes": 13, "seed": 1}


def compare(out: Path, dataset: Any = "planted", data: dict | None = None, **settings: Any) -> tuple[Report, Saved]:
    data = PLANTED if data is None else data
    console = Console(file=io.StringIO())
    arguments = {"device": "cpu", "workers": 1, "out": out, "console": console}
    return compare_dataset(str(dataset), {**SMALL, **settings}, data=data, **arguments)


def stored(out: Path) -> list[RunResult]:
    with Store(out / "results.sqlite") as store:
        return list(store.results(store.table()["key"]).values())


def test_the_report_and_a_page_are_written(tmp_path):
    report, saved = compare(tmp_path)
    assert [(cell.dataset, cell.arch, cell.comparison.pairs) for cell in report.cells] == [("planted", "gcn", 2)]
    assert saved.markdown.read_text() == report.markdown()
    assert json.loads(saved.json.read_text()) == json.loads(json.dumps(report.as_dict()))
    assert saved.to_look_at == [tmp_path / "compare-planted-report.html"]
    assert "Does SSRead help on planted?" in saved.page.read_text()
    assert len(stored(tmp_path)) == 4


def test_the_model_of_the_page_is_trained_here_where_only_the_cluster_has_a_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr("ssread.commands.compare.make_runner", lambda *_: RemoteRunner())
    _, saved = compare(tmp_path, split="duplicates")
    assert "Does SSRead help on planted?" in saved.page.read_text()


@pytest.fixture
def molecules(tmp_path) -> Path:
    """An amine and an alcohol on each of 24 rings; every third molecule occurs twice."""
    pytest.importorskip("rdkit")
    rings = [f"C1{'C' * size}{atom}1" for size in range(1, 13) for atom in "CO"]
    rows = [f"{tail}{ring},{label}" for ring in rings for tail, label in (("N", "no"), ("O", "yes"))]
    rows += rows[::3]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["structure,active", *rows]) + "\n")
    return path


COLUMNS = {"smiles": "structure", "label": "active"}


@pytest.fixture
def no_page(monkeypatch) -> None:
    """Leaves out the page, which takes most of the time of a small comparison."""
    monkeypatch.setattr("ssread.commands.compare.write_comparison_page", lambda *_: None)


def test_own_molecules_are_compared_like_a_benchmark(molecules, tmp_path, no_page):
    report, saved = compare(tmp_path, molecules, COLUMNS)
    assert report.cells[0].dataset == "mine"
    assert saved.markdown == tmp_path / "compare-mine.md"


def test_rows_that_cannot_be_used_are_left_out_of_a_comparison(molecules, tmp_path, no_page):
    with molecules.open("a") as file:
        file.write("xyz,yes\n")
    report, _ = compare(tmp_path, molecules, COLUMNS)
    assert report.cells[0].dataset == "mine"
    assert (tmp_path / "compare-mine.skipped.csv").read_text().endswith("line 66,xyz,RDKit cannot read it\n")


def test_properties_of_molecules_are_drawn(molecules, tmp_path):
    report, saved = compare(tmp_path, molecules, COLUMNS, task="rings", learn="supervised")
    assert [(cell.arch, cell.task) for cell in report.cells] == [("gin", "rings")]
    assert [path.name for path in saved.to_look_at] == ["compare-mine-properties.svg", "compare-mine-properties.png"]


def test_training_without_labels_is_compared_the_same_way(tmp_path):
    report, saved = compare(tmp_path, learn="graphcl,infograph", folds=3)
    assert [(cell.arch, cell.learn, cell.comparison.pairs) for cell in report.cells] == [
        ("gin", "graphcl", 3),
        ("gin", "infograph", 3),
    ]
    assert "epoch: the last of a fixed number (1), on all graphs without labels, one encoder per seed" in report.rule
    assert saved.markdown == tmp_path / "compare-planted-graphcl-infograph.md"
    assert saved.to_look_at == [], "a page explains a classifier"
    assert len(stored(tmp_path)) == 12
    compare(tmp_path, learn="graphcl", folds=3)
    assert len(stored(tmp_path)) == 12, "nothing is trained again"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"learn": "magic"}, "'magic'. Choose from supervised, graphcl, infograph"),
        ({"task": "colour"}, "There is no task 'colour'. Choose from class, rings"),
        ({"task": "rings"}, "planted has neither SMILES nor labels of atoms and bonds"),
        ({"split": "fair"}, "There is no split 'fair': choose random, scaffold, duplicates, groups:COLUMN"),
        ({"split": "scaffold"}, "SMILES"),
    ],
)
def test_wrong_settings_get_a_sentence(tmp_path, settings, sentence):
    pytest.importorskip("rdkit")
    with pytest.raises(InputError, match=sentence):
        compare(tmp_path / "runs", **settings)
    assert not (tmp_path / "runs").exists()


def together(groups: Sequence[int], ids: Sequence[int]) -> bool:
    """Whether all graphs of every group are in a part, or none."""
    inside = {groups[number] for number in ids}
    return sorted(ids) == [number for number, group in enumerate(groups) if group in inside]


@pytest.mark.parametrize("split", ["scaffold", "duplicates"])
def test_groups_stay_together(molecules, tmp_path, no_page, split):
    report, _ = compare(tmp_path, molecules, COLUMNS, split=split)
    graphs = load(molecules, **COLUMNS)
    groups = (scaffold_groups if split == "scaffold" else duplicate_groups)(graphs).tolist()
    assert len(set(groups)) < len(graphs)
    assert len(stored(tmp_path)) == 4
    assert all(together(groups, result.test_ids.tolist()) for result in stored(tmp_path))
    assert f"2 folds by {split} x 1 seed" in report.rule


def write_folds(path: Path, num_graphs: int, num_folds: int) -> list[list[int]]:
    """Writes a file of folds and returns their test parts."""
    numbers = torch.arange(num_graphs)
    folds = []
    for fold in range(num_folds):
        rest = numbers[numbers % num_folds != fold]
        folds.append(Fold(rest[6:], rest[:6], numbers[numbers % num_folds == fold]))
    write_splits(folds, path)
    return [fold.test.tolist() for fold in folds]


def test_a_file_decides_the_folds_and_their_number(tmp_path, no_page):
    tests = write_folds(tmp_path / "folds.json", 40, num_folds=3)
    report, _ = compare(tmp_path, split=str(tmp_path / "folds.json"), folds=2)
    assert report.cells[0].comparison.pairs == 3
    assert sorted(result.test_ids.tolist() for result in stored(tmp_path)) == sorted(tests * 2)


def test_results_of_different_splits_are_kept_apart(molecules, tmp_path, no_page):
    write_folds(tmp_path / "two.json", len(load(molecules, **COLUMNS)), num_folds=2)
    write_folds(tmp_path / "three.json", len(load(molecules, **COLUMNS)), num_folds=3)
    expected = 0
    for split in ("random", "scaffold", "duplicates", str(tmp_path / "two.json"), str(tmp_path / "three.json")):
        for _ in range(2):  # the second time nothing is trained again
            compare(tmp_path, molecules, COLUMNS, split=split)
        expected += 6 if "three" in split else 4
        assert len(stored(tmp_path)) == expected


def test_a_file_for_other_graphs_gets_a_sentence(tmp_path):
    write_folds(tmp_path / "folds.json", 51, num_folds=2)
    with pytest.raises(InputError, match=r"folds\.json"):
        compare(tmp_path / "runs", split=str(tmp_path / "folds.json"))


@pytest.mark.parametrize(
    ("task", "metric", "wrong"), [("multilabel", "roc_auc", "r2"), ("regression", "spearman", "accuracy")]
)
def test_labels_and_numbers_are_compared_by_a_metric_that_fits(tmp_path, task, metric, wrong):
    graphs = load("planted", **{**PLANTED, "nodes": (13, 30)})
    size, kind = graphs.node_counts.float(), graphs.y.float()
    y = torch.stack([kind, (size > size.median()).float()], dim=1) if task == "multilabel" else size.unsqueeze(1)
    names = ("kind", "large")[: y.size(1)]
    replace(graphs, y=y, task=task, class_names=(), target_names=names).save(tmp_path / "set.safetensors")
    report, saved = compare(tmp_path, tmp_path / "set.safetensors", {}, metric=metric)
    assert (report.metric, report.cells[0].comparison.pairs) == (metric, 2)
    assert f"epoch: best validation {metric.replace('_', ' ')}" in report.rule
    assert saved.page.is_file()
    with pytest.raises(InputError, match=f"is a task of {task}, which cannot be compared by {wrong}: choose --metric"):
        compare(tmp_path, tmp_path / "set.safetensors", {}, metric=wrong)
