"""A table of the paper beside ours: cells that are there, cells that are missing, gaps between the two."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from ssread.common.markdown import markdown_table
from ssread.evaluate.report import Cell, Report
from ssread.evaluate.statistics import Summary, format_p
from ssread.paper.stored_results import MissingCell
from ssread.published.results import PaperResult

__all__ = ["WIDTH", "Gap", "PaperTable"]

WIDTH = 140  # columns of a terminal that the table needs
MISSING = "missing"
FAR = 2.0  # standard deviations from which on a gap to the paper has to be explained
FLAG = "!"


@dataclass(frozen=True)
class Gap:
    """A result of ours that is far from the paper's.

    Attributes:
        dataset: Its name.
        arch: The architecture's name, with what it learnt from where that is not the class.
        aggr: The aggregation.
        readout: ``GRead`` or ``SSRead``.
        paper: The paper's mean in percent.
        ours: Ours.
        deviations: Ours minus the paper's, in standard deviations of this difference.
        explained: Whether a remark speaks of it.
    """

    dataset: str
    arch: str
    aggr: str
    readout: str
    paper: float
    ours: float
    deviations: float
    explained: bool

    def __str__(self) -> str:
        points = f"{self.ours:.2f} against {self.paper:.2f}, {self.ours - self.paper:+.2f}"
        status = "explained in the remarks" if self.explained else "open"
        return f"{self.dataset}, {self.arch}, {self.aggr}, {self.readout}: {points}: {status}"


@dataclass(frozen=True)
class PaperTable:
    """A table with both readouts, ours beside the paper's.

    Args:
        title: What the table is.
        cells: Its cells in the order of the table.
        rule: How epochs and K were chosen: see :func:`ssread.evaluate.selection_rule`.
        remarks: Written by hand. A line ``- NCI1, gcn, sum, SSRead: ...`` explains the gap that these words name, with
            fewer of them (``- NCI1: ...``) every such gap.
    """

    title: str
    cells: Sequence[Cell | MissingCell]
    rule: str
    remarks: str = ""

    @cached_property
    def report(self) -> Report:
        """The cells that are there."""
        return Report([cell for cell in self.cells if isinstance(cell, Cell)], self.rule)

    @property
    def missing(self) -> list[MissingCell]:
        """The cells that are not there yet."""
        return [cell for cell in self.cells if isinstance(cell, MissingCell)]

    @cached_property
    def gaps(self) -> list[Gap]:
        """Results further from the paper's than two standard deviations of the difference."""
        explained = [
            set(re.split(r",\s*", names)) for names in re.findall(r"^- ([^:\n]+):", self.remarks, re.MULTILINE)
        ]
        gaps = []
        for cell in self.report.cells:
            for readout, ours, paper in _both(cell):
                words = {cell.dataset, cell.arch, cell.learn, cell.aggr, readout}
                deviations = _deviations(ours, paper)
                if paper is not None and abs(deviations) > FAR:
                    known = any(names <= words for names in explained)
                    where = (cell.dataset, cell.model, cell.aggr, readout)
                    gaps.append(Gap(*where, paper.mean, 100 * ours.mean, deviations, known))
        return gaps

    @property
    def counts(self) -> dict[str, float]:
        """In how many cells SSRead is better here, and in the whole table of the paper."""
        pairs = [(cell.paper_global, cell.paper_ssread) for cell in self.cells]
        gains = [after.mean - before.mean for before, after in pairs if before is not None and after is not None]
        found = [100 * cell.comparison.difference for cell in self.report.cells]
        return {
            **self.report.counts,
            "missing": len(self.missing),
            "mean_gain": sum(found) / len(found) if found else math.nan,
            "whole_table": len(self.cells),
            "paper_whole_better": sum(gain > 0 for gain in gains),
            "paper_whole_significantly_better": sum(after is not None and after.significant for _, after in pairs),
            "paper_whole_mean_gain": sum(gains) / len(gains) if gains else math.nan,
        }

    def summary(self) -> list[str]:
        """The counts in sentences, the paper's beside ours."""
        n = self.counts
        sentences = []
        if n["missing"]:
            sentences.append(f"{n['missing']} of {n['whole_table']} cells are missing.")
        if n["cells"]:
            sentences.append(
                f"Ours: SSRead is better in {n['better']} of {n['cells']} cells, significantly (paired t-test, "
                f"p <= .05) in {n['significantly_better']}, by the corrected test in {n['better_by_corrected_test']}, "
                f"after Holm's correction in {n['better_after_holm']}; significantly worse (paired t-test) in "
                f"{n['significantly_worse']}; mean gain {n['mean_gain']:+.1f} points."
            )
            if n["missing"]:
                sentences.append(
                    f"The paper, of the same cells: better in {n['paper_better']} of {n['paper_cells']}, significantly "
                    f"in {n['paper_significantly_better']}."
                )
        sentences.append(
            f"The paper, of all {n['whole_table']} cells: better in {n['paper_whole_better']}, significantly in "
            f"{n['paper_whole_significantly_better']}; mean gain {n['paper_whole_mean_gain']:+.1f} points."
        )
        return sentences

    def markdown(self) -> str:
        """For a document: the table, the counts, the gaps, the notes."""
        headings = ["dataset", "model", "aggregation", "K", "pairs", "GRead, paper", "ours", "SSRead, paper", "ours"]
        headings += ["gain, paper", "ours, 95 % interval", "p", "corrected p", "Holm p", "finding"]
        parts = [markdown_table(headings, self._rows()).strip(), " ".join(self.summary())]
        if self.gaps:
            lines = [f"- {gap}" for gap in self.gaps]
            parts += [
                f"{FLAG}: further from the paper than two standard deviations of the difference:",
                "\n".join(lines),
            ]
        if self.report.cells:
            parts += self.report.notes
        return "\n\n".join(parts) + "\n"

    def table(self) -> Table:
        """For the terminal, from WIDTH columns on."""
        notes = [*self.summary(), *(f"{FLAG} {gap}" for gap in self.gaps)]
        notes += self.report.notes if self.report.cells else []
        table = Table(title=self.title, box=box.SIMPLE, pad_edge=False, caption_justify="left")
        table.caption = escape("\n".join(notes))
        for heading in ("dataset", "model", "aggregation"):
            table.add_column(heading, no_wrap=True)
        for heading in ("K", "GRead\npaper", "\nours", "SSRead\npaper", "\nours", "gain\npaper", "\nours", "p"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("finding")
        for row in self._rows():
            dataset, arch, aggr, k, _, *papers_and_ours, paper_gain, gain, p, _, _, finding = map(escape, row)
            short = [
                re.sub(r" \(.*\)", "", text) if place % 2 == 0 else text for place, text in enumerate(papers_and_ours)
            ]
            table.add_row(dataset, arch, aggr, k, *short, paper_gain, gain.split(" ")[0], p, finding)
        return table

    def as_dict(self) -> dict[str, Any]:
        """For programs: plain values ready for JSON, None where there is no number."""
        return {
            **self.report.as_dict(),
            "table": self.title,
            "counts": {name: value if math.isfinite(value) else None for name, value in self.counts.items()},
            "gaps": [asdict(gap) for gap in self.gaps],
            "missing": [
                {
                    **asdict(cell),
                    "paper_global": cell.paper_global and cell.paper_global._asdict(),
                    "paper_ssread": cell.paper_ssread and cell.paper_ssread._asdict(),
                }
                for cell in self.missing
            ],
        }

    def _rows(self) -> Iterable[list[str]]:
        """A row per cell, as text; what is missing says so."""
        flagged = {(gap.dataset, gap.arch, gap.aggr, gap.readout) for gap in self.gaps}
        holm = iter(self.report.holm)
        for cell in self.cells:
            where = [cell.dataset, cell.model, cell.aggr]
            papers = [_paper(cell.paper_global), _paper(cell.paper_ssread)]
            gain = "-"
            if cell.paper_global is not None and cell.paper_ssread is not None:
                gain = f"{cell.paper_ssread.mean - cell.paper_global.mean:+.2f}"
            if isinstance(cell, MissingCell):
                there = f"{cell.done} of {cell.total} trainings" if cell.done else MISSING
                yield [*where, "-", "-", papers[0], MISSING, papers[1], MISSING, gain, MISSING, "-", "-", "-", there]
                continue
            found = cell.comparison
            ours = [f"{_points(result)}{FLAG * ((*where, readout) in flagged)}" for readout, result, _ in _both(cell)]
            low, high = (100 * end for end in found.interval)
            interval = f" [{low:.2f}, {high:.2f}]" if math.isfinite(low) else ""
            p_values = [format_p(p) for p in (found.p, found.corrected_p, next(holm))]
            figures = [papers[0], ours[0], papers[1], ours[1], gain, f"{100 * found.difference:+.2f}{interval}"]
            yield [*where, str(cell.num_positions), str(found.pairs), *figures, *p_values, found.finding]


def _both(cell: Cell) -> list[tuple[str, Summary, PaperResult | None]]:
    found = cell.comparison
    return [("GRead", found.baseline, cell.paper_global), ("SSRead", found.candidate, cell.paper_ssread)]


def _deviations(ours: Summary, paper: PaperResult | None) -> float:
    """Ours minus the paper's in standard deviations of the difference; one seed has none, the paper's stands in."""
    if paper is None or not math.isfinite(ours.mean):
        return 0.0
    own = 100 * ours.sd if ours.sd_over == "seeds" else paper.std
    return (100 * ours.mean - paper.mean) / math.hypot(own, paper.std)


def _points(result: Summary) -> str:
    return f"{100 * result.mean:.2f} ({100 * result.sd:.2f})" if math.isfinite(result.mean) else "failed"


def _paper(result: PaperResult | None) -> str:
    return "-" if result is None else f"{result.mean:.2f} ({result.std:.2f}){'*' * result.significant}"
