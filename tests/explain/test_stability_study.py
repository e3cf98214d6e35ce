"""Agreement of positions over real trainings."""

from dataclasses import replace

import pytest

from ssread.data import planted
from ssread.errors import InputError
from ssread.explain.stability_study import VARIANTS, StabilityScores, score_stability
from ssread.explain.study import Study
from ssread.train.runs import Training

GRAPHS = planted(80, seed=0, feature_noise=0.1)
SMALL = Study(positions=5, seeds=2, training=Training(epochs=1), model={"hidden_channels": 8})


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return []


@pytest.fixture(scope="module")
def scores(lines) -> StabilityScores:
    return score_stability(GRAPHS, SMALL, workers=1, progress=lines.append)


def test_every_way_to_positions_has_a_row(scores, lines):
    assert list(scores.table["positions"]) == list(VARIANTS)
    assert scores.table.notna().all().all()
    assert len(lines) == 2 * len(VARIANTS)
    assert lines[-1].startswith("8 of 8: ")


def test_positions_from_the_structure_are_those_of_every_training_and_close_to_the_types(scores):
    structure = scores.table.set_index("positions").loc["structure, 0 hops"]
    assert structure["AMI between trainings"] > 0.95
    assert structure["same position"] > 0.95
    assert structure["certainty of the consensus"] > 0.95
    assert structure["AMI with roles"] > 0.5
    assert structure["AMI of the consensus with roles"] == pytest.approx(structure["AMI with roles"], abs=0.05)


def test_the_markdown_has_a_row_for_each(scores):
    text = scores.markdown()
    assert text.startswith("planted: positions of all nodes by 2 trainings")
    assert all(f"| {name} | " in text for name in VARIANTS)


def test_graphs_without_known_roles_are_compared_with_each_other_alone(monkeypatch):
    monkeypatch.setattr("ssread.explain.stability_study.VARIANTS", {"structure": {"position_hops": 0}})
    scores = score_stability(replace(GRAPHS, node_columns={}), SMALL, workers=1)
    assert scores.table["AMI with roles"].isna().all()
    assert "| - | - |" in scores.markdown()


def test_one_training_is_refused():
    with pytest.raises(InputError, match="needs two seeds or more, but 1 was given"):
        score_stability(GRAPHS, replace(SMALL, seeds=1))
