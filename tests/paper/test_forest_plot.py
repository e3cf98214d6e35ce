"""The picture of all differences."""

from dataclasses import replace

import pytest
from helpers.findings import BETTER, EQUAL, UNDECIDED, WORSE, part

from ssread.evaluate.report import Together
from ssread.paper.forest_plot import FINDINGS, draw_differences, finding_of


def test_findings_are_told_apart():
    assert [finding_of(found) for found in (BETTER, WORSE, EQUAL, UNDECIDED)] == list(FINDINGS)


@pytest.mark.parametrize("cells", [[UNDECIDED], [BETTER, WORSE, EQUAL, UNDECIDED]])
def test_the_picture_has_a_row_per_cell_and_the_same_bytes_again(cells, tmp_path):
    first, second = (
        draw_differences({"table3": cells, "table4": []}, tmp_path / name, ["svg"])[0] for name in ("one", "two")
    )
    assert first.read_bytes() == second.read_bytes()
    text = first.read_text()
    assert text.count(">sum<") + text.count("NCI1: sum<") == len(cells)
    assert "Table III: GCN with six aggregations" in text
    assert "Table IV" not in text, "tables without a cell are left out"


def test_tables_stand_side_by_side(tmp_path):
    tables = {"table3": [BETTER], "table4": [replace(WORSE, arch="gin")], "table5": [replace(EQUAL, learn="graphcl")]}
    (picture,) = draw_differences(tables, tmp_path / "all", ["svg"])
    text = picture.read_text()
    assert all(title in text for title in ("Table III", "Table IV", "Table V"))
    assert all(f"NCI1: {name}<" in text for name in ("sum", "gin", "graphcl"))


def test_all_cells_of_a_dataset_are_a_row(tmp_path):
    together = [Together("NCI1", [EQUAL, BETTER]), Together("MUTAG", [WORSE]), Together("DD", [BETTER, part(0)])]
    (picture,) = draw_differences({"table3": [EQUAL, BETTER]}, tmp_path / "all", ["svg"], together)
    text = picture.read_text()
    assert "All cells of a dataset together" in text
    assert "NCI1, 2 cells<" in text
    assert "MUTAG, 1 cell<" in text
    assert "DD, 2 cells, 5 of 10 pairs<" in text
    assert together[0].paper_gain == pytest.approx(1.81)
    assert together[0].comparison.difference == pytest.approx(0.0105)


def test_without_a_cell_it_says_so(tmp_path):
    (picture,) = draw_differences({"table3": []}, tmp_path / "none", ["svg"])
    assert "nothing trained yet" in picture.read_text()
