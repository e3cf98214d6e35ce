"""Scores of several methods over seeds."""

import pandas as pd
import pytest
import torch

from ssread.data import GraphSet, from_smiles, planted
from ssread.errors import InputError
from ssread.explain import with_functional_groups
from ssread.explain.ground_truth import known_truth, with_motif
from ssread.explain.study import Scores, score_explanations
from ssread.explain.study_settings import Study
from ssread.train.runs import Training

SMALL = Study(positions=3, seeds=2, explained=2, training=Training(epochs=2), model={"hidden_channels": 16})


@pytest.fixture(scope="module")
def scores() -> Scores:
    return score_explanations(planted(60, seed=0, feature_noise=0.2), SMALL, workers=1)


def test_every_method_has_a_value_for_every_seed(scores):
    methods = scores.table.groupby("part")["method"].unique()
    assert set(methods["agreement"]) == {
        "SSRead positions",
        "TopKPool, poolings survived",
        "DiffPool clusters",
        "spectral clusters (EigenPool)",
        "random",
    }
    assert set(methods["localisation"]) == {
        "SSRead activation",
        "SSRead GNNExplainer",
        "global readout activation",
        "global readout GNNExplainer",
        "random",
    }
    assert (scores.table.groupby(["part", "method", "measure"]).size() == 2).all()
    assert scores.table["value"].notna().all()


@pytest.mark.slow
def test_scores_are_the_same_a_second_time_and_in_other_processes(scores):
    again = score_explanations(planted(60, seed=0, feature_noise=0.2), SMALL, workers=2)
    pd.testing.assert_frame_equal(scores.table, again.table)


def test_the_table_has_means_deviations_and_tests(scores):
    summary = scores.summary().set_index(["part", "method", "measure"])
    values = scores.table.query("method == 'random' and measure == 'AMI'")["value"]
    cell = summary.loc[("agreement", "random", "AMI")]
    assert cell["mean"] == pytest.approx(values.mean())
    assert cell["sd"] == pytest.approx(values.std())
    assert 0 <= cell["p"] <= cell["corrected p"] <= 1
    assert pd.isna(summary.loc[("agreement", "SSRead positions", "AMI")]["p"])
    text = scores.markdown()
    assert text.count("| SSRead positions |") == 1
    assert "K = 3; 2 seeds" in text


def test_molecules_are_scored_by_their_groups(tmp_path):
    pytest.importorskip("rdkit")
    smiles = ["c1ccccc1[N+](=O)[O-]", "CCN", "CCO", "c1ccccc1C"]
    graphs = from_smiles(smiles, ["mutagen", "mutagen", "nonmutagen", "nonmutagen"])
    truth = known_truth(graphs)
    assert with_motif(truth, graphs).tolist() == [0, 1]
    assert truth.deciding.tolist() == [False] * 6 + [True] * 3 + [False, False, True] + [False] * 10
    with_functional_groups(graphs).save(tmp_path / "kept.safetensors")
    assert torch.equal(known_truth(GraphSet.load(tmp_path / "kept.safetensors")).roles, truth.roles)


def test_graphs_about_which_nothing_is_known_get_a_sentence():
    graphs = planted(4)
    unknown = graphs.__class__(**{**vars(graphs), "node_columns": {}})
    with pytest.raises(InputError, match="Nothing is known about the nodes of planted"):
        score_explanations(unknown)


@pytest.mark.parametrize(
    "settings", [{"seeds": 0}, {"positions": 0}, {"explained": 0}, {"training": Training(epochs=0)}]
)
def test_numbers_out_of_range_get_a_sentence(settings):
    with pytest.raises(InputError, match="must be 1 or more, but 0 was given"):
        Study(**settings)
