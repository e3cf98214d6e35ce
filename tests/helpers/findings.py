"""Cells of every finding."""

from dataclasses import replace

import numpy as np

from ssread.evaluate import Cell, compare
from ssread.paper.stored_results import MissingCell
from ssread.published.results import paper_result

PAIRS = np.array([[-1.0, 1.0, -1.0, 1.0, 0.0], [1.0, -1.0, 1.0, -1.0, 0.0]]) / 100


def cell(difference: float, spread: float = 0.1, dataset: str = "NCI1", aggr: str = "sum") -> Cell:
    """A cell of this mean difference and spread, in points."""
    before = np.full(PAIRS.shape, 0.8)
    papers = {f"paper_{readout}": paper_result(dataset, "gcn", aggr, readout) for readout in ("global", "ssread")}
    return Cell(dataset, "gcn", aggr, 4, compare(before, before + difference / 100 + spread * PAIRS), **papers)


def part(seed: int, difference: float = 2.0) -> Cell:
    """A cell of which one seed is trained."""
    whole = cell(difference)
    scores = np.full_like(whole.comparison.scores, np.nan)
    scores[:, seed] = whole.comparison.scores[:, seed]
    before, after = scores[:, [seed]]
    return replace(whole, comparison=replace(compare(before, after), scores=scores))


BETTER, WORSE, EQUAL, UNDECIDED = cell(2.0), cell(-2.0), cell(0.1), cell(0.5, spread=10.0)
NOT_YET = MissingCell("DD", "gcn", "sum", 0, 100)
