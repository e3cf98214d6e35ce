"""Figures of models on MUTAG: drawn once, on this machine, from the first seed and fold."""

from dataclasses import replace

import pytest
from helpers.paper_runs import context
from helpers.remote_runner import RemoteRunner

from ssread.common.files import write_text
from ssread.explain.retrain import trained_model
from ssread.paper.mutag_figure import MutagFigure, MutagModels
from ssread.paper.registry import item
from ssread.train.fit import fold_of_run
from ssread.train.recipes import RECIPES
from ssread.train.runs import Run

MODEL = {"name": "gcn", "readout": "ssread", "hidden_channels": 8}


def draw(models: MutagModels, stem):
    models.train(**MODEL)
    return [write_text(stem.with_suffix(".svg"), "a picture")], "A caption."


FIGURE = MutagFigure("figure1", draw)


def test_a_figure_is_drawn_with_its_caption(mutag, tmp_path):
    made = context(tmp_path, settings={"epochs": 1})
    assert FIGURE.progress(made) == (0, 1, "pictures")
    picture, page = FIGURE.run(made)
    assert (picture, page) == (tmp_path / "figure1" / "figure1.svg", tmp_path / "figure1" / "figure1.md")
    assert page.read_text().startswith("## Figure 1: node vectors by t-SNE\n\n![figure1](figure1.svg)\n\nA caption.")
    assert FIGURE.progress(made) == (1, 1, "pictures")


def test_models_are_those_of_the_protocol(mutag, tmp_path):
    models = MutagModels(context(tmp_path, settings={"epochs": 1}))
    run = Run({**MODEL, "normalize": True, "dropout": 0.0}, 0, 0, 10)
    expected, _ = trained_model(mutag, run, replace(RECIPES["fair"].training, epochs=1, patience=1))
    weights = models.train(**MODEL).state_dict()
    assert all(bool((weights[name] == value).all()) for name, value in expected.state_dict().items())
    assert models.fold.test.equal(fold_of_run(mutag, run).test)


def test_models_are_trained_here_where_only_the_cluster_has_a_gpu(mutag, tmp_path, monkeypatch):
    monkeypatch.setattr("ssread.evaluate.runners.make_runner", lambda *_: RemoteRunner())
    assert len(FIGURE.run(context(tmp_path, settings={"epochs": 1}, on="ray"))) == 2


@pytest.mark.parametrize("name", ["figure1", "figure5", "figure6"])
def test_nothing_is_trained_where_only_what_is_done_is_shown(name, tmp_path):
    assert item(name).run(context(tmp_path, train=False)) == []
    assert not list(tmp_path.rglob("*.svg"))
