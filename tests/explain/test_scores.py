"""Means, deviations and paired tests of a study's scores."""

import pandas as pd
import pytest

from ssread.evaluate.statistics import compare
from ssread.explain.scores import Scores
from ssread.explain.study import Study

VALUES = {
    ("agreement", "SSRead positions", "AMI"): [0.5, 0.6, 0.55],
    ("agreement", "random", "AMI"): [0.01, -0.02, 0.0],
    ("agreement", "random", "purity"): [0.3, 0.3, 0.4],
    ("models", "SSRead", "accuracy"): [0.9, 0.8, 0.85],
}


@pytest.fixture
def scores() -> Scores:
    rows = [(seed, *key, value) for key, values in VALUES.items() for seed, value in enumerate(values)]
    table = pd.DataFrame(rows, columns=["seed", "part", "method", "measure", "value"])
    return Scores("planted", "roles: planted", Study(positions=3, seeds=3), table)


def test_every_method_has_its_mean_and_deviation_over_the_seeds(scores):
    summary = scores.summary().set_index(["part", "method", "measure"])
    assert set(summary.index) == set(VALUES)
    for key, values in VALUES.items():
        assert summary.loc[key]["mean"] == pytest.approx(pd.Series(values).mean())
        assert summary.loc[key]["sd"] == pytest.approx(pd.Series(values).std())
        assert summary.loc[key]["seeds"] == 3


def test_methods_are_tested_against_ssread(scores):
    summary = scores.summary().set_index(["part", "method", "measure"])
    cell = summary.loc[("agreement", "random", "AMI")]
    pair = ([[value] for value in VALUES["agreement", method, "AMI"]] for method in ("random", "SSRead positions"))
    assert cell["p"] == pytest.approx(compare(*pair, test_to_train=1).p)
    assert cell["p"] < cell["corrected p"] < 1
    untested = [key for key in VALUES if key != ("agreement", "random", "AMI")]
    assert summary.loc[untested]["p"].isna().all()


def test_the_markdown_has_a_table_per_part_and_a_row_per_method(scores):
    text = scores.markdown()
    assert text.startswith("planted: roles: planted. K = 3; 3 seeds;")
    assert "**Agreement**\n\n| method | AMI | purity |" in text
    assert "| SSRead positions | 0.550 (0.050) | - |" in text
    assert "| SSRead | 0.850 (0.050) |" in text
