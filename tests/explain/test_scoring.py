"""Scores of all methods over seeds, from real trainings."""

from dataclasses import replace

import pandas as pd
import pytest

from ssread.data import planted
from ssread.errors import InputError
from ssread.explain import rivals
from ssread.explain.scores import Scores
from ssread.explain.scoring import score_explanations
from ssread.explain.study import Study
from ssread.train.runs import Training

GRAPHS = planted(60, seed=0, feature_noise=0.2)
SMALL = Study(positions=3, seeds=2, explained=2, training=Training(epochs=2), model={"hidden_channels": 16})


@pytest.fixture(scope="module", autouse=True)
def few_steps():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "GNN_EXPLAINER_EPOCHS", 2)
        patch.setattr(rivals, "PG_EXPLAINER_EPOCHS", 1)
        yield


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return []


@pytest.fixture(scope="module")
def scores(lines) -> Scores:
    return score_explanations(GRAPHS, SMALL, workers=1, progress=lines.append)


def test_every_method_has_a_value_for_every_seed(scores):
    methods = scores.table.groupby("part")["method"].unique()
    assert set(methods["models"]) == {"SSRead", "global readout", "TopKPool", "DiffPool"}
    assert set(methods["agreement"]) == {
        "SSRead positions",
        "TopKPool, poolings survived",
        "DiffPool clusters",
        "spectral clusters (EigenPool)",
        "random",
    }
    explained = {f"SSRead {name}" for name in rivals.METHODS.keys() - {"attention", "random"}}
    assert set(methods["localisation"]) == explained | {"global readout decomposition", "random"}
    assert (scores.table.groupby(["part", "method", "measure"]).size() == 2).all()
    assert scores.table["value"].notna().all()
    assert scores.truth == "roles: planted; motif: the one that decides"


def test_the_callback_gets_a_line_after_each_model_of_each_seed(scores, lines):
    assert [line.split(":")[0] for line in lines] == [f"{done} of 10" for done in range(1, 11)]
    assert "10 of 10: no model, seed 1" in lines


@pytest.mark.slow
def test_scores_are_the_same_a_second_time_and_in_other_processes(scores):
    again = score_explanations(GRAPHS, SMALL, workers=2)
    # Times differ, and other processes do not know of the fewer steps of GNNExplainer and PGExplainer.
    same = (scores.table["measure"] != "ms per graph") & ~scores.table["method"].str.contains("GNNExpl|PGExpl")
    pd.testing.assert_frame_equal(scores.table[same], again.table[same])


def test_what_cannot_be_scored_is_refused_with_a_sentence():
    with pytest.raises(InputError, match="Explanations of planted cannot be scored"):
        score_explanations(replace(GRAPHS, node_columns={}))
