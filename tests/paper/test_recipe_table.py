"""The paper's figures and ours by every recipe side by side."""

import pandas as pd
from helpers.paper_runs import random_trainings

from ssread.evaluate import Store
from ssread.evaluate.experiment import Experiment
from ssread.paper.recipe_table import recipe_table

SMALL = {"folds": 2, "seeds": 2}


def test_what_is_not_trained_says_so(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        nothing = store.table()
        fair = random_trainings(store, Experiment.of({**SMALL, "aggr": "sum"}), ["NCI1"])
    lines = recipe_table({"fair": fair, "paper": nothing, "public": nothing}.__getitem__, SMALL).splitlines()
    assert lines[0].startswith("| dataset | the paper | recipe public: the authors' code | recipe paper: the paper's")
    assert lines[2].startswith(
        "| DD | 67.25 / 70.23 (+2.98) | not trained yet | not trained yet | not trained yet | 78.4"
    )
    (nci1,) = (line for line in lines if line.startswith("| NCI1 |"))
    places = nci1.split(" | ")
    assert places[1:4] == ["79.79 / 81.60 (+1.81)", "not trained yet", "not trained yet"]
    assert "/" in places[4]
    assert places[5] == "80.0 |"
    (mean,) = (line for line in lines if line.startswith("| mean difference |"))
    assert mean.startswith("| mean difference | +1.61 | not trained yet | not trained yet |")
    assert "(1 of 7 sets)" in mean
    assert "IMDB-BINARY and IMDB-MULTI have degrees as node features" in lines[-1]


def test_every_recipe_has_its_own_trainings(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        for number, recipe in enumerate(("public", "paper", "fair")):
            experiment = Experiment.of({**SMALL, "aggr": "sum", "dropout": "auto", "recipe": recipe})
            random_trainings(store, experiment, ["NCI1"], seed=number)
        rows: pd.DataFrame = store.table()
    (nci1,) = (line for line in recipe_table(lambda _: rows, SMALL).splitlines() if line.startswith("| NCI1 |"))
    assert "not trained yet" not in nci1
    assert len(set(nci1.split(" | ")[1:5])) == 4
