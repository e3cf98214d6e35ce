import pytest

from ssread.models import ARCHITECTURES
from ssread.published import PaperResult, paper_result
from ssread.published.datasets import TABLE_1

DATASETS = [row.name for row in TABLE_1]
AGGREGATIONS = ("sum", "max", "mean", "attention", "set2set", "sort")


def pairs(cells: list[tuple], learning: str = "supervised") -> list[tuple[PaperResult, PaperResult]]:
    found = [[paper_result(*cell, readout, learning) for readout in ("global", "ssread")] for cell in cells]
    assert all(result is not None for pair in found for result in pair)
    return [(before, after) for before, after in found if before is not None and after is not None]


def counts(found: list[tuple[PaperResult, PaperResult]]) -> tuple[int, int, int, float]:
    gains = [after.mean - before.mean for before, after in found]
    better = sum(gain > 0 for gain in gains)
    return len(found), better, sum(after.significant for _, after in found), round(sum(gains) / len(gains), 1)


def test_the_tables_add_up_to_what_the_paper_says() -> None:
    table3 = [(dataset, "gcn", aggr) for dataset in DATASETS for aggr in AGGREGATIONS]
    others = [name for name in ARCHITECTURES if name not in ("gcn", "structure_blind")]
    table4 = [(dataset, arch, ARCHITECTURES[arch].aggr) for dataset in DATASETS for arch in others]
    table5 = [(dataset, "gin", "sum") for dataset in DATASETS]
    assert counts(pairs(table3)) == (42, 42, 38, 1.5)
    assert counts(pairs(table4)) == (35, 31, 28, 1.1)
    assert counts(pairs(table5, "graphcl") + pairs(table5, "infograph")) == (14, 14, 14, 2.2)


def test_figures_as_printed() -> None:
    assert paper_result("MUTAG", "gcn", "sum", "global") == (84.84, 1.24, False)
    assert paper_result("MUTAG", "gin", "sum", "ssread", learning="GraphCL") == (88.21, 0.73, True)


@pytest.mark.parametrize("aggr", [["max", "mean"], ("mean", "max"), "max,mean", "max, mean", "max+mean"])
def test_several_aggregations_however_they_are_written(aggr: str | list[str]) -> None:
    assert paper_result("mutag", "sagpool", aggr, "ssread") == paper_result(
        "MUTAG", "sagpool", ["max", "mean"], "ssread"
    )
    assert paper_result("mutag", "sagpool", aggr, "ssread") is not None


@pytest.mark.parametrize(
    "cell",
    [
        ("AIDS", "gcn", "sum", "ssread"),
        ("MUTAG", "gin", "mean", "ssread"),
        ("MUTAG", "structure_blind", "sum", "global"),
        ("MUTAG", "gcn", "sum", "unknown"),
        ("MUTAG", "gcn", "sum", "ssread", "other"),
    ],
)
def test_what_the_paper_does_not_have_is_none(cell: tuple) -> None:
    assert paper_result(*cell) is None
