"""A table of the paper next to ours: complete cells, missing cells, gaps between the paper's results and ours."""

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
from ssread.common.plain_json import without_nan
from ssread.evaluate.report import Cell, Report
from ssread.evaluate.statistics import Summary, format_p
from ssread.paper.comparison_columns import mean_and_sd
from ssread.paper.stored_results import MissingCell
from ssread.published.fair_comparison import best_fair_result, fair_comparison_note
from ssread.published.results import PaperResult

__all__ = ["WIDTH", "Gap", "PaperTable"]

WIDTH = 140  # terminal columns that the table needs
MISSING = "missing"
FAR = 2.0  # standard deviations; a larger gap to the paper must be explained
FLAG = "!"


@dataclass(frozen=True)
class Gap:
    """A result of ours that is far from the paper's.

    Attributes:
        dataset: The name of the dataset.
        arch: The architecture, with its objective if that is not supervised.
        aggr: The aggregation.
        readout: ``GRead`` or ``SSRead``.
        paper: The paper's mean in percent.
        ours: Our mean in percent.
        deviations: Our mean minus the paper's, in standard deviations of this difference.
        explained: Whether a remark explains it.
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
    """A table of both readouts, our results next to the paper's.

    Args:
        title: The title of the table.
        cells: Its cells in order.
        rule: How epochs and K were chosen: see :func:`ssread.evaluate.selection_rule`.
        remarks: Handwritten remarks. A line ``- NCI1, gcn, sum, SSRead: ...`` explains the gap of this cell and
            readout, a line with fewer names (``- NCI1: ...``) all gaps that match them.
    """

    title: str
    cells: Sequence[Cell | MissingCell]
    rule: str
    remarks: str = ""

    @cached_property
    def report(self) -> Report:
        """The report of the complete cells."""
        return Report([cell for cell in self.cells if isinstance(cell, Cell)], self.rule)

    @property
    def missing(self) -> list[MissingCell]:
        """The missing cells."""
        return [cell for cell in self.cells if isinstance(cell, MissingCell)]

    @cached_property
    def gaps(self) -> list[Gap]:
        """Results that differ from the paper's by more than two standard deviations of the difference."""
        explained = [
            set(re.split(r",\s*", names)) for names in re.findall(r"^- ([^:\n]+):", self.remarks, re.MULTILINE)
        ]
        gaps = []
        for cell in self.report.cells:
            for readout, ours, paper in _both(cell):
                names = {cell.dataset, cell.arch, cell.learn, cell.aggr, readout}
                deviations = _deviations(ours, paper)
                if paper is not None and abs(deviations) > FAR:
                    has_remark = any(remark <= names for remark in explained)
                    where = (cell.dataset, cell.model, cell.aggr, readout)
                    gaps.append(Gap(*where, paper.mean, 100 * ours.mean, deviations, has_remark))
        return gaps

    @property
    def counts(self) -> dict[str, float]:
        """The number of cells in which SSRead is better, in our table and in the whole table of the paper."""
        papers = [cell.paper_ssread for cell in self.cells]
        gains = [cell.paper_gain for cell in self.cells if math.isfinite(cell.paper_gain)]
        ours = [100 * cell.comparison.difference for cell in self.report.cells]
        return {
            **self.report.counts,
            "missing": len(self.missing),
            "mean_gain": sum(ours) / len(ours) if ours else math.nan,
            "whole_table": len(self.cells),
            "paper_whole_better": sum(gain > 0 for gain in gains),
            "paper_whole_significantly_better": sum(after is not None and after.significant for after in papers),
            "paper_whole_mean_gain": sum(gains) / len(gains) if gains else math.nan,
        }

    @property
    def fair_note(self) -> str:
        """What others reached on these datasets under a fair protocol, with labels; empty if there is nothing."""
        labelled = [cell.dataset for cell in self.cells if (cell.learn, cell.task) == ("supervised", "class")]
        return fair_comparison_note(dict.fromkeys(labelled))

    def summary(self) -> list[str]:
        """The counts in sentences, ours and the paper's."""
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
        """The table, the counts, the gaps and the notes in Markdown."""
        headings = ["dataset", "model", "aggregation", "K", "pairs", "GRead, paper", "ours", "SSRead, paper", "ours"]
        headings += ["gain, paper", "ours, 95 % interval", "p", "corrected p", "Holm p", "finding"]
        rows = list(self._rows())
        if self.fair_note:
            headings.insert(9, "best published, fair")
            for row, cell in zip(rows, self.cells, strict=True):
                fair = best_fair_result(cell.dataset)
                row.insert(9, "-" if fair is None else f"{fair.mean:.1f}")
        parts = [markdown_table(headings, rows).strip(), " ".join(self.summary())]
        if self.gaps:
            lines = [f"- {gap}" for gap in self.gaps]
            parts += [
                f"{FLAG}: differs from the paper by more than two standard deviations of the difference:",
                "\n".join(lines),
            ]
        if self.report.cells:
            parts += self.report.notes
        if self.fair_note:
            parts.append(self.fair_note)
        return "\n\n".join(parts) + "\n"

    def table(self) -> Table:
        """The table for a terminal of at least WIDTH columns."""
        notes = [*self.summary(), *(f"{FLAG} {gap}" for gap in self.gaps)]
        notes += self.report.notes if self.report.cells else []
        notes += [self.fair_note] if self.fair_note else []
        table = Table(title=self.title, box=box.SIMPLE, pad_edge=False, caption_justify="left")
        table.caption = escape("\n".join(notes))
        for heading in ("dataset", "model", "aggregation"):
            table.add_column(heading, no_wrap=True)
        for heading in ("K", "GRead\npaper", "\nours", "SSRead\npaper", "\nours", "gain\npaper", "\nours", "p"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("finding")
        for row in self._rows():
            dataset, arch, aggr, k, _, *papers_and_ours, paper_gain, gain, p, _, _, finding = map(escape, row)
            paper_global, ours_global, paper_ssread, ours_ssread = papers_and_ours
            means = (_without_sd(paper_global), ours_global, _without_sd(paper_ssread), ours_ssread)
            table.add_row(dataset, arch, aggr, k, *means, paper_gain, gain.split(" ")[0], p, finding)
        return table

    def as_dict(self) -> dict[str, Any]:
        """The table as plain values for JSON, None where there is no number."""
        content = {
            **self.report.as_dict(),
            "table": self.title,
            "counts": self.counts,
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
        return without_nan(content)

    def _rows(self) -> Iterable[list[str]]:
        """A row of text per cell."""
        flagged = {(gap.dataset, gap.arch, gap.aggr, gap.readout) for gap in self.gaps}
        holm = iter(self.report.holm)
        for cell in self.cells:
            where = [cell.dataset, cell.model, cell.aggr]
            papers = [_paper(cell.paper_global), _paper(cell.paper_ssread)]
            gain = f"{cell.paper_gain:+.2f}" if math.isfinite(cell.paper_gain) else "-"
            if isinstance(cell, MissingCell):
                done = f"{cell.done} of {cell.total} trainings" if cell.done else MISSING
                yield [*where, "-", "-", papers[0], MISSING, papers[1], MISSING, gain, MISSING, "-", "-", "-", done]
                continue
            comparison = cell.comparison
            ours = [
                f"{mean_and_sd(result)}{FLAG * ((*where, readout) in flagged)}" for readout, result, _ in _both(cell)
            ]
            low, high = (100 * end for end in comparison.interval)
            interval = f" [{low:.2f}, {high:.2f}]" if math.isfinite(low) else ""
            p_values = [format_p(p) for p in (comparison.p, comparison.corrected_p, next(holm))]
            numbers = [papers[0], ours[0], papers[1], ours[1], gain, f"{100 * comparison.difference:+.2f}{interval}"]
            yield [*where, str(cell.num_positions), str(comparison.pairs), *numbers, *p_values, comparison.finding]


def _both(cell: Cell) -> list[tuple[str, Summary, PaperResult | None]]:
    """The name, our result and the paper's result of both readouts."""
    comparison = cell.comparison
    return [("GRead", comparison.baseline, cell.paper_global), ("SSRead", comparison.candidate, cell.paper_ssread)]


def _deviations(ours: Summary, paper: PaperResult | None) -> float:
    """Ours minus the paper's in standard deviations of the difference; for one seed the paper's is taken for both."""
    if paper is None or not math.isfinite(ours.mean):
        return 0.0
    own = 100 * ours.sd if ours.sd_over == "seeds" else paper.std
    return (100 * ours.mean - paper.mean) / math.hypot(own, paper.std)


def _without_sd(text: str) -> str:
    return re.sub(r" \(.*\)", "", text)


def _paper(result: PaperResult | None) -> str:
    return "-" if result is None else f"{result.mean:.2f} ({result.std:.2f}){'*' * result.significant}"
