import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from ssread.evaluate import Cell, Report, compare, holm, selection_rule
from ssread.evaluate.statistics import Comparison
from ssread.published import PaperResult, paper_result
from ssread.train.runs import Training

RULE = selection_rule(Training(), num_folds=10, num_seeds=5, positions_chosen=True)


def measured(gain: float, spread: float = 0.03, seed: int = 0, num_seeds: int = 5) -> Comparison:
    """Paired results with exactly this mean gain."""
    rng = np.random.default_rng(seed)
    before = 0.8 + rng.normal(0, 0.04, (num_seeds, 10))
    noise = rng.normal(0, spread, before.shape)
    return compare(before, before + gain + noise - noise.mean())


def cell(dataset: str, arch: str, aggr: str, comparison: Comparison) -> Cell:
    paper = {f"paper_{readout}": paper_result(dataset, arch, aggr, readout) for readout in ("global", "ssread")}
    return Cell(dataset, arch, aggr, 4, comparison, **paper)


@pytest.fixture
def report() -> Report:
    return Report(
        [
            cell("MUTAG", "gcn", "sum", measured(0.05)),
            cell("MUTAG", "gcn", "mean", measured(0.015, 0.05, seed=1)),
            cell("IMDB-BINARY", "gcn", "mean", measured(-0.05, seed=2)),
            cell("my [bold]set|", "gunet", "sum+max+mean", measured(0.0, seed=3)),
        ],
        RULE,
    )


def printed(report: Report, width: int = 80) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(report.table())
    return console.export_text()


def test_every_form_carries_the_selection_rule(report: Report) -> None:
    assert "K: by mean validation accuracy of gcn + ssread(sum); test folds used once" in RULE
    assert RULE in " ".join(printed(report).split())
    assert RULE in report.markdown()
    assert report.as_dict()["selection"] == RULE


def test_the_table_fits_eighty_columns_and_shows_paper_and_ours(report: Report) -> None:
    text = printed(report)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "…" not in text  # nothing cut off
    for expected in ("84.84 (1.24)", "87.16 (0.84)*", "+5.00", "+1.50", "-5.00", "my [bold]set|", "Holm", "worse"):
        assert expected in text
    assert "Holm" not in printed(Report(report.cells[:1], RULE))


def test_numbers_agree_in_all_forms(report: Report) -> None:
    holm_p = holm([c.comparison.corrected_p for c in report.cells])
    rows = report.markdown().splitlines()[2:6]
    for number, (found, row) in enumerate(zip(report.as_dict()["cells"], rows, strict=True)):
        ours = report.cells[number].comparison
        assert found["difference"] == pytest.approx(100 * ours.difference)
        assert found["global"]["mean"] == pytest.approx(100 * ours.baseline.mean)
        assert found["ssread"]["sd"] == pytest.approx(100 * ours.candidate.sd)
        assert found["holm_p"] == holm_p[number]
        assert found["verdict"] == ours.verdict
        for value in (found["global"]["mean"], found["ssread"]["mean"], *found["interval"]):
            assert f"{value:.2f}" in row
        assert row.endswith(f"| {ours.finding} |")


def test_counts_stand_beside_the_paper_s(report: Report) -> None:
    assert report.counts == {
        "cells": 4,
        "better": sum(c.comparison.difference > 0 for c in report.cells),
        "significantly_better": 2,
        "significantly_worse": 1,
        "better_by_corrected_test": 1,
        "better_after_holm": 1,
        "paper_cells": 3,
        "paper_better": 3,
        "paper_significantly_better": 2,
    }
    assert "In the paper it is better in 3 of 3 of these cells, significantly in 2." in report.markdown()


def test_all_cells_of_a_dataset_are_also_judged_together(report: Report) -> None:
    assert report.together is None, "cells of several datasets have no pairs in common"
    assert Report(report.cells[:1], RULE).together is None
    assert report.as_dict()["together"] is None
    two = Report(report.cells[:2], RULE)
    assert two.together is not None
    assert two.together.comparison.difference == pytest.approx(0.0325)
    assert two.as_dict()["together"]["difference"] == pytest.approx(3.25)
    what, verdict = two.verdicts[-1]
    assert (what, len(two.verdicts)) == ("MUTAG, the mean of all 2 cells", 3)
    assert verdict == two.together.comparison.verdict
    assert f"{what}: {verdict}." in two.markdown()


def test_all_cells_together_are_judged_on_the_pairs_that_all_have() -> None:
    scores = np.linspace(0.7, 0.9, 20).reshape(2, 10)
    failed = np.where(scores == scores[1, 3], math.nan, scores)
    cells = [
        cell("MUTAG", "gcn", aggr, compare(given, given + 0.01)) for aggr, given in (("sum", scores), ("max", failed))
    ]
    report = Report(cells, RULE)
    assert report.verdicts[-1][0] == "MUTAG, the mean of all 2 cells, 19 of 20 pairs"
    assert report.as_dict()["together"]["pairs"] == 19


def test_failed_trainings_and_missing_numbers_are_told() -> None:
    scores = np.full((1, 10), math.nan)
    scores[0, 0] = 0.8
    report = Report([Cell("MUTAG", "gcn", "sum", 4, compare(scores, np.full((1, 10), 0.9)))], RULE, "roc_auc")
    assert "9 of 20 trainings failed and are left out." in report.markdown()
    assert "roc auc in percent (standard deviation over folds)" in report.markdown()
    assert "nan" not in printed(report) + report.markdown()
    found = json.loads(json.dumps(report.as_dict(), allow_nan=False))["cells"][0]
    assert (found["p"], found["interval"], found["paper_ssread"]) == (None, [None, None], None)
    assert found["verdict"] == "+10.0 points, but one pair shows nothing"


def test_a_report_without_cells_is_still_one() -> None:
    report = Report([], RULE)
    assert report.as_dict()["counts"]["cells"] == 0
    assert RULE in report.markdown()
    assert printed(report)


def test_the_rule_names_what_is_not_the_default() -> None:
    rule = selection_rule(Training(epochs=30, patience=5), num_folds=3, num_seeds=1, positions_chosen=False)
    assert rule == (
        "recipe paper; 3 folds x 1 seed; epoch: best validation accuracy, ties by validation loss, patience 5, "
        "at most 30 epochs; K: given; test folds used once"
    )


def test_paper_figures_are_in_percent_too(report: Report) -> None:
    found = report.as_dict()["cells"][0]
    assert found["paper_ssread"] == PaperResult(87.16, 0.84, True)._asdict()


def test_pairs_without_labels_share_their_encoders(report: Report) -> None:
    told = "all folds of a seed share one encoder per readout"
    assert told not in " ".join(report.notes)
    unsupervised = replace(report, cells=[replace(cell, learn="graphcl") for cell in report.cells])
    assert told in " ".join(unsupervised.notes)
