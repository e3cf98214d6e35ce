"""The paper's figures and ours by every recipe side by side, for the base classifier on every dataset."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ssread.common.markdown import markdown_table
from ssread.evaluate.experiment import BASE
from ssread.evaluate.report import Cell
from ssread.paper.comparison_tables import TABLE_3
from ssread.paper.forest_plot import finding_of
from ssread.paper.stored_results import MissingCell
from ssread.published.fair_comparison import best_fair_result, fair_comparison_note

__all__ = ["recipe_table"]

#: Recipes from theirs to ours, and what they are.
COLUMNS = {
    "public": "recipe public: the authors' code",
    "paper": "recipe paper: the paper's text",
    "fair": "recipe fair: ours",
}
NOT_YET = "not trained yet"


def recipe_table(rows_of: Callable[[str], pd.DataFrame], settings: Mapping[str, Any]) -> str:
    """GRead / SSRead (difference) in Markdown: the paper's, by every recipe, and the best under a fair protocol.

    Args:
        rows_of: Returns the trainings of a recipe by its name.
        settings: Further settings, as in a :class:`ssread.paper.registry.Context`.
    """
    own = {**settings, "aggr": BASE[1:]}
    columns = [TABLE_3.cells(rows_of(recipe), {**own, "recipe": recipe}) for recipe in COLUMNS]
    rows, datasets = [], [cell.dataset for cell in columns[0]]
    for cells in zip(*columns, strict=True):
        fair = best_fair_result(cells[0].dataset)
        rows.append(
            [cells[0].dataset, _paper(cells[0]), *map(_ours, cells), "-" if fair is None else f"{fair.mean:.1f}"]
        )
    gains = [
        [cell.paper_gain for cell in columns[0] if math.isfinite(cell.paper_gain)],
        *([100 * cell.comparison.difference for cell in column if isinstance(cell, Cell)] for column in columns),
    ]
    rows.append(["mean difference", *(_mean(gain, len(datasets)) for gain in gains), "-"])
    table = markdown_table(["dataset", "the paper", *COLUMNS.values(), "best published, fair"], rows)
    return (
        f"{table}\nGCN with the sum: accuracy of GRead / SSRead (difference, and the finding where something is shown) "
        f"in percent. {fair_comparison_note(datasets)}\n"
    )


def _paper(cell: Cell | MissingCell) -> str:
    before, after = cell.paper_global, cell.paper_ssread
    return "-" if before is None or after is None else _pair(before.mean, after.mean, cell.paper_gain)


def _ours(cell: Cell | MissingCell) -> str:
    if isinstance(cell, MissingCell):
        return NOT_YET
    found, finding = cell.comparison, finding_of(cell)
    shown = "" if finding == "undecided" else f", {finding}"
    return _pair(100 * found.baseline.mean, 100 * found.candidate.mean, 100 * found.difference, shown)


def _pair(before: float, after: float, difference: float, finding: str = "") -> str:
    return f"{before:.2f} / {after:.2f} ({round(difference, 2) + 0.0:+.2f}{finding})"  # never -0.00


def _mean(gains: Sequence[float], total: int) -> str:
    if not gains:
        return NOT_YET
    return f"{np.mean(gains):+.2f}" + (f" ({len(gains)} of {total} sets)" if len(gains) < total else "")
