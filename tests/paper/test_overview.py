"""All pairs at a glance: counts, sentences and the picture follow from the cells."""

import numpy as np
import pytest
from helpers.findings import BETTER, EQUAL, NOT_YET, UNDECIDED, WORSE, cell, part
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.evaluate import Cell
from ssread.paper.forest_plot import finding_of
from ssread.paper.overview import Overview
from ssread.paper.stored_results import MissingCell


def overview(*cells: Cell | MissingCell) -> Overview:
    return Overview({"table3": cells, "table4": [NOT_YET], "table5": []}, "fair")


def test_what_only_the_plain_test_says_is_undecided():
    perhaps = cell(2.0, spread=2.2)
    assert perhaps.comparison.finding == "perhaps better"
    assert finding_of(perhaps) == "undecided"
    assert "calls 1 of them better and 0 worse" in overview(perhaps).markdown("x.svg")


def test_the_page_counts_and_names_cells():
    text = overview(BETTER, WORSE, EQUAL, UNDECIDED).markdown("images/all.svg")
    assert "**4 of 5 cells trained** with the recipe `fair`." in text
    assert "| SSRead better | 1 | 1 | 0 | 0 |" in text
    assert "| not trained yet | 1 | 0 | 1 | 0 |" in text
    assert "| mean difference, ours | +0.15 | +0.15 | - | - |" in text
    assert "**Holds:** SSRead is better in 1 cell (NCI1 gcn sum +2.00); after Holm's correction" in text
    assert "SSRead is worse in 1 cell (NCI1 gcn sum -2.00)" in text
    assert "above our 95 % interval in 2 cells (NCI1 gcn sum -2.00 against +1.81, NCI1 gcn sum +0.10 against" in text
    assert "**Equal within 1 point:** 1 cell (NCI1 gcn sum +0.10)." in text
    assert "![SSRead - GRead in every cell](images/all.svg)" in text


def test_all_cells_of_a_dataset_stand_in_one_row():
    cells = [cell(0.9), cell(-0.3), cell(-4.0, dataset="MUTAG"), NOT_YET]
    lines = overview(*cells).markdown("x.svg").splitlines()
    assert [line.split(" | ")[:4] for line in lines if line.startswith(("| NCI1 |", "| MUTAG |"))] == [
        ["| MUTAG", "1", "80.00", "76.00"],
        ["| NCI1", "2", "80.00", "80.30"],
    ]
    (nci1,) = (line for line in lines if line.startswith("| NCI1 |"))
    assert " | +0.30 \\[0.17, 0.43\\] | +1.81 | " in nci1
    assert nci1.endswith("| better |")
    assert "All cells of a dataset together" not in overview(NOT_YET).markdown("x.svg")


def test_cells_of_a_dataset_are_compared_on_the_pairs_that_all_have():
    """One seed of a cell takes part with this seed of the others."""
    cells = [cell(0.9), cell(-0.3), part(1, 3.0)]
    (group,) = overview(*cells).together
    seed = np.mean([found.comparison.scores[:, 1] for found in cells], axis=0)
    assert group.comparison.pairs == seed.shape[1] == 5
    assert group.comparison.baseline.failed == 0
    assert group.comparison.difference == pytest.approx((seed[1] - seed[0]).mean()) == pytest.approx(0.012)
    assert "| NCI1 | 3, 5 of 10 pairs | 80.00 | 81.20 |" in overview(*cells).markdown("x.svg")


def test_cells_without_a_common_pair_are_not_compared(tmp_path):
    view = overview(part(0), part(1))
    assert "| NCI1 | 2, 0 of 10 pairs | - | - | - | +1.81 | - | - | too few pairs |" in view.markdown("x.svg")
    assert "nan" not in view.markdown("x.svg")
    assert "NCI1, 2 cells, 0 of 10 pairs<" in view.draw(tmp_path / "all", ["svg"])[0].read_text()


def test_many_cells_are_counted_by_dataset():
    cells = [*[cell(0.1)] * 5, *[cell(0.1, dataset="MUTAG")] * 4]
    assert "**Equal within 1 point:** 9 cells (NCI1 5, MUTAG 4)." in overview(*cells).markdown("x.svg")


def test_nothing_trained_yet(tmp_path):
    text = overview(NOT_YET).markdown("x.svg")
    assert "**0 of 2 cells trained** with the recipe `fair`. There is nothing to compare yet." in text
    assert [path.name for path in overview(NOT_YET).draw(tmp_path / "none")] == ["none.svg", "none.png"]


@settings(max_examples=10)
@given(st.lists(st.sampled_from([BETTER, WORSE, EQUAL, UNDECIDED, NOT_YET]), max_size=20))
def test_findings_add_up(cells):
    lines = overview(*cells).markdown("x.svg").splitlines()
    labels = ("SSRead better", "SSRead worse", "equal within", "undecided", "not trained yet")
    counts = [int(line.split("|")[2]) for line in lines if line.startswith(tuple(f"| {label}" for label in labels))]
    assert len(counts) == len(labels)
    assert sum(counts) == len(cells) + 1
