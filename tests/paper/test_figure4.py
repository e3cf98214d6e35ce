"""Figure 4: properties of molecules from graph vectors."""

import dataclasses
import importlib.util

import pytest
from helpers.paper_runs import SMALL, context, printed, random_trainings

from ssread.data.properties import PROPERTIES
from ssread.evaluate import Store
from ssread.evaluate.report import Cell
from ssread.paper import figure4
from ssread.paper.stored_results import MissingCell, all_results

EXPERIMENTS = figure4.experiments({"seeds": 2, "folds": 2})
needs_rdkit = pytest.mark.skipif(importlib.util.find_spec("rdkit") is None, reason="RDKit is not installed")


def cells(store: Store) -> list[Cell | MissingCell]:
    for number, experiment in enumerate(EXPERIMENTS):
        random_trainings(store, experiment, seed=number)
    return [cell for result in all_results(store.table(), ["MUTAG"], EXPERIMENTS) for cell in result.cells()]


def test_every_property_is_predicted_with_every_objective():
    assert [(experiment.learn, experiment.task) for experiment in EXPERIMENTS] == [
        (objective, task) for objective in ("supervised", "infograph", "graphcl") for task in PROPERTIES
    ]
    assert {experiment.arch for experiment in EXPERIMENTS} == {("gin",)}
    assert [experiment.training.epochs for experiment in EXPERIMENTS] == [150] * 3 + [100] * 6


@needs_rdkit
def test_trained_drawn_and_not_trained_again(mutag, tmp_path):
    made = context(tmp_path, settings={**SMALL, "positions": 2})
    files = figure4.run(made)
    assert {path.name for path in files} == {"figure4.svg", "figure4.png", "figure4.md", "runs.csv"}
    assert figure4.progress(made) == (36, 36, "trainings")
    rows = made.trainings()
    before = [path.read_bytes() for path in files]
    again = context(tmp_path, settings={**SMALL, "positions": 2}, train=False)
    assert [path.read_bytes() for path in figure4.run(again)] == before
    assert made.trainings().equals(rows)
    assert "9 of 9 cells are complete" in (tmp_path / "figure4" / "figure4.md").read_text()
    assert "aromatic rings" in printed(made)


def test_the_picture_has_the_same_bytes_for_the_same_data(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        found = cells(store)
    assert all(isinstance(cell, Cell) for cell in found)
    first = [path.read_bytes() for path in figure4.draw(found, tmp_path / "figure4")]
    assert [path.read_bytes() for path in figure4.draw(found, tmp_path / "figure4")] == first
    other = dataclasses.replace(found[0], comparison=found[-1].comparison)
    assert [path.read_bytes() for path in figure4.draw([other, *found[1:]], tmp_path / "figure4")] != first
    text = (tmp_path / "figure4.svg").read_text()
    assert [text.count(f">gin, {objective}<") for objective in ("supervised", "infograph", "graphcl")] == [1, 1, 1]


def test_missing_results_are_marked(tmp_path):
    nothing = context(tmp_path, train=False)
    figure4.run(nothing)
    assert ">missing<" in (tmp_path / "figure4" / "figure4.svg").read_text()
    text = (tmp_path / "figure4" / "figure4.md").read_text()
    assert "0 of 9 cells are complete" in text
    assert "on all graphs without labels, one encoder per seed" in text
