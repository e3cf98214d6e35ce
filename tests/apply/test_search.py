"""What a search tries within a budget of trainings."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssread.apply.search import SPACE, candidates, num_candidates, num_trainings, rounds


@given(st.integers(1, 200), st.integers(2, 10))
def test_a_search_stays_within_its_budget_and_uses_it(budget: int, folds: int) -> None:
    count = num_candidates(budget, folds)
    assert num_trainings(count, folds) <= max(budget, folds)
    assert num_trainings(count + 1, folds) > budget


@given(st.integers(1, 100), st.integers(2, 10))
def test_every_round_has_fewer_candidates_on_more_folds(count: int, folds: int) -> None:
    found = rounds(count, folds)
    assert found[0][0] == count
    assert found[-1][1] == folds
    for (kept, upto), (later, further) in itertools.pairwise(found):
        assert kept >= later
        assert upto <= further


@given(st.integers(1, 40), st.integers(0, 100))
def test_candidates_differ_and_the_seed_draws_them(count: int, seed: int) -> None:
    found = candidates(count, seed=seed)
    assert len(found) == count
    assert all(one != other for number, one in enumerate(found) for other in found[:number])
    assert found == candidates(count, seed=seed)
    assert [one.model["readout"] for one in found[:4]] == ["global", "ssread"][:count] * 2 if count >= 4 else True


@given(st.integers(1, 30), st.sampled_from(["gcn", "gin"]), st.sampled_from(["ssread", "global"]), st.integers(1, 9))
def test_what_is_named_is_fixed(count: int, arch: str, readout: str, positions: int) -> None:
    named = {"arch": arch, "readout": readout, "positions": positions, "position_hops": positions - 1}
    for one in candidates(count, aggr=["max", "mean"], **named):
        assert one.model.get("position_hops") == (positions - 1 if readout == "ssread" else None)
        assert ("hop" in one.name) == (readout == "ssread")
        assert (one.model["name"], one.model["readout"], one.model["aggr"]) == (arch, readout, ["max", "mean"])
        assert one.model.get("num_positions") == (positions if readout == "ssread" else None)
        assert one.learning_rate in SPACE["learning_rate"]
        assert arch in one.name
        assert ("SSRead" in one.name) == (readout == "ssread")


def test_positions_are_from_the_structure_where_a_model_can_have_such() -> None:
    for asked, gcn in ((None, 1), ("learnt", None), (0, 0)):
        (found,) = candidates(1, arch="gcn", readout="ssread", position_hops=asked)
        assert found.model.get("position_hops") == gcn
    (found,) = candidates(1, arch="gunet", readout="ssread")
    assert "position_hops" not in found.model


def test_the_usual_settings_come_first() -> None:
    first = candidates(1)[0]
    assert first.model == {"name": "gcn", "readout": "global", "dropout": 0.2, "normalize": True}
    assert first.learning_rate == pytest.approx(1e-3)
