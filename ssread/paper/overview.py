"""All pairs of Tables III to V at a glance: counts by finding, mean differences, what holds and what does not."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ssread.common.markdown import markdown_table
from ssread.evaluate.report import Cell, TableCell, Together, format_interval, format_points
from ssread.evaluate.significance import ALPHA
from ssread.evaluate.statistics import format_p, holm
from ssread.paper.comparison_tables import TABLE_3, TABLE_4, TABLE_5, ComparisonTable
from ssread.paper.forest_plot import FINDINGS, draw_differences, finding_of
from ssread.paper.registry import DATASETS, heading
from ssread.paper.stored_results import MissingCell

__all__ = ["TABLES", "Overview"]

TABLES: dict[str, ComparisonTable] = {table.name: table for table in (TABLE_3, TABLE_4, TABLE_5)}
LISTED = 6  # more cells than this are counted by dataset
ROWS = {"better": "SSRead better", "worse": "SSRead worse", "equal": "equal within 1 point", "undecided": "undecided"}
PAPERS = attrgetter("paper_gain")
BY_DATASET = (
    "**All cells of a dataset together**: the mean accuracy of its cells on every (seed, fold) pair. Such a mean "
    "varies less than a cell does, and shows what single cells cannot. Holm p: corrected p, for all datasets together."
)
BY_CELL = "**Every cell by itself:**"


@dataclass(frozen=True)
class Overview:
    """The cells of Tables III to V.

    Args:
        tables: All cells by the name of their table, measured or missing.
        recipe: The recipe that they are trained with.
    """

    tables: Mapping[str, Sequence[Cell | MissingCell]]
    recipe: str

    @classmethod
    def of(cls, rows_of: Callable[[str], pd.DataFrame], recipe: str, settings: Mapping[str, Any]) -> "Overview":
        """Makes it from stored trainings.

        Args:
            rows_of: Returns the trainings for a table by its name.
            recipe: The recipe.
            settings: Further settings, as in a :class:`ssread.paper.registry.Context`.
        """
        own = {**settings, "recipe": recipe}
        return cls({name: table.cells(rows_of(name), own) for name, table in TABLES.items()}, recipe)

    @cached_property
    def measured(self) -> dict[str, list[Cell]]:
        """The measured cells of every table."""
        return {name: [cell for cell in cells if isinstance(cell, Cell)] for name, cells in self.tables.items()}

    @cached_property
    def together(self) -> list[Together]:
        """The measured cells of every dataset as one, in the order of the paper."""
        cells = [cell for table in self.measured.values() for cell in table]
        by_dataset = {name: [cell for cell in cells if cell.dataset == name] for name in DATASETS}
        return [Together(name, own) for name, own in by_dataset.items() if own]

    def draw(self, stem: Path, endings: Sequence[str] = ("svg", "png")) -> list[Path]:
        """Draws all differences; see :func:`ssread.paper.forest_plot.draw_differences`."""
        return draw_differences(self.measured, stem, endings, self.together)

    def markdown(self, picture: str) -> str:
        """One page: counts, mean differences, what holds, the picture.

        Args:
            picture: The address of the picture.
        """
        cells = [cell for table in self.measured.values() for cell in table]
        total = sum(map(len, self.tables.values()))
        parts = [f"**{len(cells)} of {total} cells trained** with the recipe `{self.recipe}`. {self._verdict(cells)}"]
        if self.together:
            parts += [BY_DATASET, self._by_dataset().strip(), BY_CELL]
        parts += [self._counts().strip(), "\n".join(f"- {line}" for line in self._findings(cells))]
        parts.append(f"![SSRead - GRead in every cell]({picture})")
        parts.append(
            "Every row is a cell, or all cells of a dataset: the mean difference over (seed, fold) pairs and its 95 % "
            "interval by the corrected resampled t-test. Better and worse are by this test, equal by two one-sided "
            "tests within one point (shaded), undecided is the rest. Diamonds are the paper's differences."
        )
        return "\n\n".join(parts) + "\n"

    def _verdict(self, cells: Sequence[Cell]) -> str:
        if not cells:
            return "There is nothing to compare yet."
        counts = Counter(map(finding_of, cells))
        of_datasets = {
            finding: ", ".join(_leaning(group) for group in self.together if finding_of(group) == finding)
            for finding in FINDINGS
        }
        return (
            f"Mean difference over these cells: {_mean(cells, _ours)} points; in the paper {_mean(cells, PAPERS)} on "
            "the same cells. All cells of a dataset together, SSRead is better than the global readout on "
            f"{of_datasets['better'] or 'none'}, worse on {of_datasets['worse'] or 'none'}, equal within 1 point on "
            f"{of_datasets['equal'] or 'none'}, undecided on {of_datasets['undecided'] or 'none'}. Cell by cell it is "
            f"better in {counts['better']}, worse in {counts['worse']}, equal within 1 point in {counts['equal']}, "
            f"undecided in {counts['undecided']}."
        )

    def _by_dataset(self) -> str:
        """What all cells of a dataset say together, and all datasets."""
        corrected = holm([group.comparison.corrected_p for group in self.together])
        rows = []
        for group, holm_p in zip(self.together, corrected, strict=True):
            found = group.comparison
            results = (format_points(result.mean) for result in (found.baseline, found.candidate))
            p_values = (format_p(p) for p in (found.corrected_p, holm_p))
            difference = f"{format_points(found.difference, '+.2f')} {format_interval(found)}"
            row = [group.dataset, f"{len(group.cells)}{group.pairs}", *results, difference]
            rows.append([*row, f"{group.paper_gain:+.2f}", *p_values, found.finding])
        headings = ["dataset", "cells", "GRead", "SSRead", "difference, 95 % interval", "the paper", "corrected p"]
        return markdown_table([*headings, "Holm p", "finding"], rows)

    def _counts(self) -> str:
        """Cells by finding and mean differences, for all tables and each."""
        groups = {"all": [cell for table in self.tables.values() for cell in table], **self.tables}
        headings = ["", *("all" if name == "all" else heading(name).split(":")[0] for name in groups)]
        measured = {name: [cell for cell in cells if isinstance(cell, Cell)] for name, cells in groups.items()}
        found = {name: Counter(map(finding_of, cells)) for name, cells in measured.items()}
        rows = [[ROWS[finding], *(str(found[name][finding]) for name in groups)] for finding in FINDINGS]
        rows += [["not trained yet", *(str(len(groups[name]) - len(measured[name])) for name in groups)]]
        rows += [["mean difference, ours", *(_mean(cells, _ours) for cells in measured.values())]]
        rows += [["in the paper, the same cells", *(_mean(cells, PAPERS) for cells in measured.values())]]
        rows += [["in the paper, all cells", *(_mean(cells, PAPERS) for cells in groups.values())]]
        return markdown_table(headings, rows)

    def _findings(self, cells: Sequence[Cell]) -> list[str]:
        """What holds, what does not, what is equal, what is open, in sentences."""
        if not cells:
            return ["Nothing can be said yet."]
        better, worse, equal, undecided = (
            [cell for cell in cells if finding_of(cell) == finding] for finding in FINDINGS
        )
        corrected = holm([cell.comparison.corrected_p for cell in cells])
        sure = Counter(finding_of(cell) for cell, p in zip(cells, corrected, strict=True) if p <= ALPHA)
        outside = [cell for cell in cells if cell.paper_gain > 100 * cell.comparison.interval[1]]
        perhaps = Counter(cell.comparison.finding for cell in undecided)
        return [
            f"**Holds:** SSRead is better in {_named(better)}{_holm(better, sure['better'])}.",
            f"**Does not hold:** the paper's gain lies above our 95 % interval in {_named(outside, papers=True)}. "
            f"SSRead is worse in {_named(worse)}{_holm(worse, sure['worse'])}.",
            f"**Equal within 1 point:** {_named(equal)}.",
            f"**Undecided:** {_named(undecided)}{_reach(undecided)}. The paired t-test alone, which is too sure, calls "
            f"{perhaps['perhaps better']} of them better and {perhaps['perhaps worse']} worse.",
        ]


def _leaning(group: Together) -> str:
    """A dataset, and what the plain t-test alone says of all its cells together."""
    finding = group.comparison.finding
    return f"{group.dataset} ({finding})" if finding.startswith("perhaps") else group.dataset


def _ours(cell: TableCell) -> float:
    return 100 * cell.comparison.difference if isinstance(cell, Cell) else math.nan


def _mean(cells: Sequence[TableCell], value: Callable[[TableCell], float]) -> str:
    values = [number for number in map(value, cells) if math.isfinite(number)]
    return f"{np.mean(values):+.2f}" if values else "-"


def _named(cells: Sequence[Cell], papers: bool = False) -> str:
    """The number of cells, their names and differences, also the paper's; of many, how many each dataset has."""
    if not cells:
        return "no cell"
    count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
    if len(cells) > LISTED:
        datasets = Counter(cell.dataset for cell in cells)
        return f"{count} ({', '.join(f'{dataset} {number}' for dataset, number in datasets.items())})"
    names = [
        f"{cell.dataset} {cell.model} {cell.aggr} {_ours(cell):+.2f}" + f" against {cell.paper_gain:+.2f}" * papers
        for cell in cells
    ]
    return f"{count} ({', '.join(names)})"


def _holm(cells: Sequence[Cell], sure: int) -> str:
    """How many of the cells remain after Holm's correction."""
    return f"; after Holm's correction for all cells, in {sure} of them" if cells else ""


def _reach(cells: Sequence[Cell]) -> str:
    """How far the intervals of cells extend."""
    reaches = [100 * (high - low) / 2 for low, high in (cell.comparison.interval for cell in cells) if low < high]
    if not reaches:
        return ""
    ends = dict.fromkeys([f"{min(reaches):.1f}", f"{max(reaches):.1f}"])
    return f", whose 95 % intervals extend {' to '.join(ends)} points to either side of the difference"
