"""Figure 7: accuracy over K and over gamma."""

import dataclasses

import pytest
from helpers.paper_runs import SMALL, context, random_trainings

from ssread.evaluate import Store
from ssread.evaluate.experiment import POSITIONS, Experiment
from ssread.paper import figure7
from ssread.train.recipes import RECIPES

BASE = Experiment(folds=2, seeds=2)


def curves(store, datasets=("MUTAG",)):
    rows = random_trainings(store, BASE, datasets)
    return [point for dataset in figure7.DATASETS for point in figure7.points(rows, dataset, BASE)]


def test_trained_drawn_and_not_trained_again(mutag, tmp_path):
    made = context(tmp_path)
    files = figure7.run(made)
    assert {path.name for path in files} == {"figure7.svg", "figure7.png", "figure7.md", "runs.csv"}
    rows = made.trainings()
    assert len(rows) == (2 + len(POSITIONS) + len(figure7.GAMMAS) - 1) * 2, "GRead with either dropout"
    assert figure7.progress(made) == (20, 20, "trainings")
    before = [path.read_bytes() for path in files]
    assert [path.read_bytes() for path in figure7.run(context(tmp_path, train=False))] == before
    assert made.trainings().equals(rows)
    assert "9 of 27 points are complete" in (tmp_path / "figure7" / "figure7.md").read_text()
    assert figure7.progress(context(tmp_path, datasets=[])) == (20, 60, "trainings")


@pytest.mark.parametrize("recipe", RECIPES)
def test_k_is_varied_with_every_recipe(recipe, tmp_path):
    made = context(tmp_path, settings={**SMALL, "recipe": recipe}, train=False)
    assert figure7.progress(made)[1] >= 2 * len(POSITIONS)


def test_curves_meet_where_they_share_a_point(tmp_path):
    """Gamma is varied with the K that validation chose; with the default gamma that is a point of the curve over K."""
    with Store(tmp_path / "results.sqlite") as store:
        points = [point for point in curves(store) if point.dataset == "MUTAG"]
    over_k = {point.positions: point.cell for point in points if point.varied == "K"}
    (shared,) = [point for point in points if point.varied == "gamma" and point.gamma == BASE.gamma]
    assert list(over_k) == list(POSITIONS)
    assert shared.cell is not None
    assert shared.cell == over_k[shared.positions]


def test_missing_points_are_named_in_the_picture(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        points = curves(store, ("MUTAG", "NCI1"))
    lacking = [
        dataclasses.replace(point, cell=None)
        if (point.dataset, point.varied, point.positions) == ("NCI1", "K", 8)
        else point
        for point in points
    ]
    svg, png = figure7.draw(lacking, tmp_path / "figure7")
    text = svg.read_text()
    assert text.count(">missing: 8<") == 1
    assert text.count(">missing<") == 2, "both curves of IMDB-MULTI"
    assert text.count(">missing: 0, 0.001, 0.1, 1<") == 2, "gamma was varied nowhere"
    first = svg.read_bytes(), png.read_bytes()
    assert tuple(path.read_bytes() for path in figure7.draw(lacking, tmp_path / "figure7")) == first


def test_without_trainings_every_curve_is_missing(tmp_path):
    made = context(tmp_path, train=False, settings=SMALL)
    svg = figure7.run(made)[0]
    assert svg.read_text().count(">missing<") == 6


def test_the_page_is_made_from_the_csv(tmp_path):
    made = context(tmp_path, train=False, settings={}, datasets=[])
    random_trainings(made.store, Experiment(), ("NCI1",))
    figure7.run(made)
    assert figure7.page(tmp_path / "figure7", {}) == (tmp_path / "figure7" / "figure7.md").read_text()
