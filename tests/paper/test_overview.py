"""All pairs at a glance: counts, sentences and the picture follow from the cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssread.evaluate import Cell, compare
from ssread.paper.forest_plot import FINDINGS, finding_of
from ssread.paper.overview import Overview
from ssread.paper.stored_results import MissingCell
from ssread.published.results import paper_result

PAIRS = np.array([[-1.0, 1.0, -1.0, 1.0, 0.0], [1.0, -1.0, 1.0, -1.0, 0.0]]) / 100


def cell(difference: float, spread: float = 0.1, dataset: str = "NCI1", aggr: str = "sum") -> Cell:
    """A cell of this mean difference and spread, in points."""
    before = np.full(PAIRS.shape, 0.8)
    papers = {f"paper_{readout}": paper_result(dataset, "gcn", aggr, readout) for readout in ("global", "ssread")}
    return Cell(dataset, "gcn", aggr, 4, compare(before, before + difference / 100 + spread * PAIRS), **papers)


BETTER, WORSE, EQUAL, UNDECIDED = cell(2.0), cell(-2.0), cell(0.1), cell(0.5, spread=10.0)
NOT_YET = MissingCell("DD", "gcn", "sum", 0, 100)


def overview(*cells: Cell | MissingCell) -> Overview:
    return Overview({"table3": cells, "table4": [NOT_YET], "table5": []}, "fair")


def test_findings_are_told_apart():
    assert [finding_of(found) for found in (BETTER, WORSE, EQUAL, UNDECIDED)] == list(FINDINGS)


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


def test_many_cells_are_counted_by_dataset():
    cells = [*[cell(0.1)] * 5, *[cell(0.1, dataset="MUTAG")] * 4]
    assert "**Equal within 1 point:** 9 cells (NCI1 5, MUTAG 4)." in overview(*cells).markdown("x.svg")


def test_nothing_trained_yet(tmp_path):
    text = overview(NOT_YET).markdown("x.svg")
    assert "**0 of 2 cells trained** with the recipe `fair`. There is nothing to compare yet." in text
    assert "nothing trained yet" in overview(NOT_YET).draw(tmp_path / "none", ["svg"])[0].read_text()


@pytest.mark.parametrize("cells", [[UNDECIDED], [BETTER, WORSE, EQUAL, UNDECIDED]])
def test_the_picture_has_a_row_per_cell_and_the_same_bytes_again(cells, tmp_path):
    first, second = (overview(*cells).draw(tmp_path / name, ["svg"])[0] for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    text = first.read_text()
    assert text.count(">sum<") + text.count("NCI1   sum<") == len(cells)
    assert "Table III: GCN with six aggregations" in text
    assert "Table IV" not in text, "tables without a cell are left out"


@settings(max_examples=10)
@given(st.lists(st.sampled_from([BETTER, WORSE, EQUAL, UNDECIDED, NOT_YET]), max_size=20))
def test_findings_add_up(cells):
    lines = overview(*cells).markdown("x.svg").splitlines()
    labels = ("SSRead better", "SSRead worse", "equal within", "undecided", "not trained yet")
    counts = [int(line.split("|")[2]) for line in lines if line.startswith(tuple(f"| {label}" for label in labels))]
    assert len(counts) == len(labels)
    assert sum(counts) == len(cells) + 1
