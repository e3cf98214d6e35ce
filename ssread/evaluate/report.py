"""Reports of comparisons: a table for the terminal, Markdown, JSON."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table

from ssread.common.markdown import markdown_table
from ssread.common.plain_json import without_nan
from ssread.evaluate.keys import FIXED_BUDGET, LINEAR, selection
from ssread.evaluate.significance import ALPHA
from ssread.evaluate.statistics import Comparison, Summary, format_p, holm, pooled
from ssread.metrics import METRICS
from ssread.published.results import PaperResult
from ssread.train.recipes import recipe_named
from ssread.train.runs import Training

__all__ = [
    "Cell",
    "Report",
    "TableCell",
    "Together",
    "format_interval",
    "format_points",
    "model_name",
    "selection_rule",
]


@dataclass(frozen=True)
class TableCell:
    """A cell of a table: what it compares, and the paper's figures.

    Attributes:
        dataset: The dataset's name.
        arch: The architecture's name.
        aggr: The aggregation, ``max+mean`` for several.
        paper_global: The paper's figure for the global readout, if it has one.
        paper_ssread: The paper's figure for SSRead.
        learn: What the encoders learn from.
        task: What is predicted.
    """

    dataset: str
    arch: str
    aggr: str
    paper_global: PaperResult | None = field(default=None, kw_only=True)
    paper_ssread: PaperResult | None = field(default=None, kw_only=True)
    learn: str = field(default="supervised", kw_only=True)
    task: str = field(default="class", kw_only=True)

    @property
    def model(self) -> str:
        """A short description of the model."""
        return model_name(self.arch, self.learn, self.task)

    @property
    def paper_gain(self) -> float:
        """The paper's difference between both readouts in points; NaN if it has none."""
        before, after = self.paper_global, self.paper_ssread
        return math.nan if before is None or after is None else after.mean - before.mean


@dataclass(frozen=True)
class Cell(TableCell):
    """A cell that was measured.

    Attributes:
        num_positions: The K of SSRead.
        comparison: The results, as fractions (0.87).
    """

    num_positions: int
    comparison: Comparison


@dataclass(frozen=True)
class Together:
    """Measured cells of a dataset as one.

    Attributes:
        dataset: The dataset's name.
        cells: The cells.
    """

    dataset: str
    cells: Sequence[Cell]

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of their means: see :func:`ssread.evaluate.statistics.pooled`."""
        return pooled([cell.comparison for cell in self.cells])

    @property
    def paper_gain(self) -> float:
        """The mean of the paper's differences for the same cells."""
        return float(np.mean([cell.paper_gain for cell in self.cells]))

    @property
    def pairs(self) -> str:
        """How many (seed, fold) pairs all of the cells have, such as ``, 10 of 50 pairs``; empty if none is missing."""
        found, total = self.comparison.pairs, self.cells[0].comparison.scores[0].size
        return f", {found} of {total} pairs" if found < total else ""


def model_name(arch: str, learn: str = "supervised", task: str = "class") -> str:
    """Describes a model: its architecture, with what it learns from and predicts if that is not the default.

    >>> model_name("gcn"), model_name("gin", "graphcl"), model_name("gin", task="rings")
    ('gcn', 'gin by graphcl', 'gin, supervised, to rings')
    """
    if (learn, task) == ("supervised", "class"):
        return arch
    how = f"{arch} by {learn}" if learn != "supervised" else f"{arch}, supervised"
    return how if task == "class" else f"{how}, to {task}"


def selection_rule(
    training: Training,
    *,
    num_folds: int,
    num_seeds: int,
    positions_chosen: bool,
    learn: str = "supervised",
    task: str = "class",
    dropout_chosen: bool = False,
    split: str = "random",
    position_hops: int | None = None,
) -> str:
    """Returns the protocol behind every printed number, in one line.

    Args:
        training: How the models were trained.
        num_folds: The number of folds.
        num_seeds: How often the cross-validation was repeated.
        positions_chosen: Whether K was chosen by validation accuracy, or given.
        learn: What the encoders learnt from.
        task: What was predicted.
        dropout_chosen: Whether dropout was chosen by validation accuracy.
        split: How folds were drawn.
        position_hops: If positions are from the structure, within so many hops.

    >>> selection_rule(Training(), num_folds=10, num_seeds=5, positions_chosen=False)  # doctest: +ELLIPSIS
    'recipe paper; 10 folds x 5 seeds; epoch: best validation accuracy, ties by validation loss, ...'
    """
    linear = (learn, task) != ("supervised", "class")
    base = "gin + ssread(sum)" if linear else "gcn + ssread(sum)"
    by = "accuracy" if training.selection not in METRICS else training.selection.replace("_", " ")
    positions = f"by mean validation {by} of {base}" if positions_chosen else "given"
    if position_hops is not None:
        positions += f"; positions: from the structure within {position_hops} hop{'s' * (position_hops != 1)}"
    most = training.epochs
    epoch = f"{selection(training)}, "
    epoch += f"{most} epochs" if training.patience >= most else f"patience {training.patience}, at most {most} epochs"
    if training.averaging:
        epoch += f", weights averaged over the last {100 * training.averaging:.0f} %"
    if learn != "supervised":
        epoch = f"{FIXED_BUDGET} ({most}), on all graphs without labels, one encoder per seed"
    seeds = "1 seed" if num_seeds == 1 else f"{num_seeds} seeds"
    judge = f"; judge: {LINEAR}, then fitted to training and validation part" if linear else ""
    if dropout_chosen:
        candidates = " or ".join(
            "own" if share is None else f"{share:g}" for share in recipe_named(training.recipe).dropouts
        )
        positions += f"; dropout ({candidates}): by mean validation {by} of gcn + global(sum)"
    folds = f"{num_folds} folds" if split == "random" else f"{num_folds} folds by {split}"
    return f"recipe {training.recipe}; {folds} x {seeds}; epoch: {epoch}{judge}; K: {positions}; test folds used once"


@dataclass(frozen=True)
class Report:
    """A table of comparisons.

    Args:
        cells: Its cells; Holm's correction is over their corrected p-values.
        rule: How epochs and K were chosen: see :func:`selection_rule`.
        metric: What was measured.
    """

    cells: Sequence[Cell]
    rule: str
    metric: str = "accuracy"

    @cached_property
    def holm(self) -> list[float]:
        """The corrected p-value of each cell after Holm's correction for the number of cells."""
        return holm([cell.comparison.corrected_p for cell in self.cells])

    @cached_property
    def together(self) -> Together | None:
        """All cells as one; None unless there are several, all of one dataset."""
        kinds = {(cell.dataset, cell.learn, cell.task) for cell in self.cells}
        return Together(self.cells[0].dataset, self.cells) if len(kinds) == 1 < len(self.cells) else None

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        """What every cell says, and all of them together: what it is about, and the verdict."""
        found = [(f"{cell.dataset}, {cell.model}, {cell.aggr}", cell.comparison.verdict) for cell in self.cells]
        if (every := self.together) is not None:
            about = f"{every.dataset}, the mean of all {len(every.cells)} cells{every.pairs}"
            found.append((about, every.comparison.verdict))
        return found

    @property
    def counts(self) -> dict[str, int]:
        """In how many cells SSRead is better, by each test, and the paper's counts for the same cells."""
        found = [
            (cell.comparison.difference > 0, cell.comparison, p) for cell, p in zip(self.cells, self.holm, strict=True)
        ]
        paper = [(c.paper_global, c.paper_ssread) for c in self.cells]
        pairs = [(before, after) for before, after in paper if before is not None and after is not None]
        return {
            "cells": len(self.cells),
            "better": sum(better for better, _, _ in found),
            "significantly_better": sum(better and c.p <= ALPHA for better, c, _ in found),
            "significantly_worse": sum(c.difference < 0 and c.p <= ALPHA for _, c, _ in found),
            "better_by_corrected_test": sum(better and c.corrected_p <= ALPHA for better, c, _ in found),
            "better_after_holm": sum(better and p <= ALPHA for better, _, p in found),
            "paper_cells": len(pairs),
            "paper_better": sum(after.mean > before.mean for before, after in pairs),
            "paper_significantly_better": sum(after.significant for _, after in pairs),
        }

    @property
    def notes(self) -> list[str]:
        """What a reader needs to know about the numbers, the selection rule first."""
        comparisons = [cell.comparison for cell in self.cells]
        over = " or ".join(
            sorted({c.baseline.sd_over for c in comparisons} | {c.candidate.sd_over for c in comparisons})
        )
        notes = [
            f"{self.metric.replace('_', ' ')} in percent (standard deviation over {over}). {self.rule}.",
            "p: paired t-test over (seed, fold) pairs, as in the paper; corrected p and the 95 % interval: corrected "
            "resampled t-test, which allows for overlapping training parts"
            + ("; Holm p: corrected p, for all cells together." if len(self.cells) > 1 else "."),
        ]
        if any(cell.learn != "supervised" for cell in self.cells):
            notes.append(
                "Without labels all folds of a seed share one encoder per readout: the pairs of a seed differ in the "
                "graphs that the linear classifier is fitted to and judged by, not in the encoders."
            )
        failed = sum(c.baseline.failed + c.candidate.failed for c in comparisons)
        if failed:
            total = failed + sum(c.baseline.runs + c.candidate.runs for c in comparisons)
            notes.append(f"{failed} of {total} trainings failed and are left out.")
        if any(cell.paper_ssread is not None for cell in self.cells):
            notes.append("Paper: * marks what it calls significant (paired t-test, p <= .05).")
        return notes

    def table(self) -> Table:
        """Returns a table for terminals of 80 columns or more, with a few lines per cell."""
        several = len(self.cells) > 1
        caption = escape("\n".join(self.notes))
        table = Table(box=box.SIMPLE, leading=1, pad_edge=False, caption=caption, caption_justify="left")
        table.add_column("cell, finding")
        tests = "p\ncorrected\nHolm" if several else "p\ncorrected"
        for heading in ("GRead", "SSRead", "difference\n95 % interval", tests, "paper GRead\nSSRead"):
            table.add_column(heading, justify="right", no_wrap=True)
        for cell, holm_p in zip(self.cells, self.holm, strict=True):
            found = cell.comparison
            p_values = (found.p, found.corrected_p, holm_p) if several else (found.p, found.corrected_p)
            what = f"{cell.dataset}\n{cell.model}, {cell.aggr}, K = {cell.num_positions}"
            table.add_row(
                f"{escape(what)}\n[bold]{found.finding}[/bold]",
                _result(found.baseline).replace(" ", "\n"),
                _result(found.candidate).replace(" ", "\n"),
                escape(f"{format_points(found.difference, '+.2f')}\n{format_interval(found)}"),
                "\n".join(format_p(p) for p in p_values),
                f"{_paper(cell.paper_global)}\n{_paper(cell.paper_ssread)}",
            )
        return table

    def markdown(self) -> str:
        """Returns Markdown: the table, the counts beside the paper's, the notes."""
        headings = ["dataset", "model", "aggregation", "K", "paper GRead", "paper SSRead", "GRead", "SSRead"]
        headings += ["difference, 95 % interval", "p", "corrected p", "Holm p", "finding"]
        rows = [
            [
                *(cell.dataset, cell.model, cell.aggr, cell.num_positions),
                *(_paper(cell.paper_global), _paper(cell.paper_ssread)),
                *(_result(cell.comparison.baseline), _result(cell.comparison.candidate)),
                f"{format_points(cell.comparison.difference, '+.2f')} {format_interval(cell.comparison)}",
                *(format_p(p) for p in (cell.comparison.p, cell.comparison.corrected_p, holm_p)),
                cell.comparison.finding,
            ]
            for cell, holm_p in zip(self.cells, self.holm, strict=True)
        ]
        n = self.counts
        ours = (
            f"SSRead is better in {n['better']} of {n['cells']} cells, significantly (paired t-test, p <= .05) in "
            f"{n['significantly_better']}, by the corrected test in {n['better_by_corrected_test']}, after Holm's "
            f"correction in {n['better_after_holm']}; it is significantly worse (paired t-test) in "
            f"{n['significantly_worse']}."
        )
        paper = (
            f" In the paper it is better in {n['paper_better']} of {n['paper_cells']} of these cells, significantly in "
            f"{n['paper_significantly_better']}."
        )
        counted = ours + paper * bool(n["paper_cells"])
        together = [] if self.together is None else [f"{self.verdicts[-1][0]}: {self.verdicts[-1][1]}."]
        return "\n\n".join([markdown_table(headings, rows).strip(), counted, *together, *self.notes]) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values ready for JSON, fractions in percent, None for NaN."""
        cells = [
            {
                "dataset": cell.dataset,
                "arch": cell.arch,
                "learn": cell.learn,
                "task": cell.task,
                "aggr": cell.aggr,
                "num_positions": cell.num_positions,
                **_numbers(cell.comparison),
                "holm_p": holm_p,
                "paper_global": cell.paper_global and cell.paper_global._asdict(),
                "paper_ssread": cell.paper_ssread and cell.paper_ssread._asdict(),
            }
            for cell, holm_p in zip(self.cells, self.holm, strict=True)
        ]
        together = self.together and _numbers(self.together.comparison)
        return without_nan(
            {
                "metric": self.metric,
                "unit": "percent",
                "selection": self.rule,
                "counts": self.counts,
                "cells": cells,
                "together": together,
            }
        )


def format_points(share: float, form: str = ".2f") -> str:
    """Returns a fraction in percent, a dash where there is none."""
    return format(100 * share, form) if math.isfinite(share) else "-"


def _result(summary: Summary) -> str:
    return f"{format_points(summary.mean)} ({format_points(summary.sd)})"


def _paper(result: PaperResult | None) -> str:
    return "-" if result is None else f"{result.mean:.2f} ({result.std:.2f}){'*' * result.significant}"


def format_interval(found: Comparison) -> str:
    """Returns the 95 % interval of a difference in percent, an empty text where there is none."""
    low, high = found.interval
    return f"[{format_points(low)}, {format_points(high)}]" if math.isfinite(low) else ""


def _numbers(found: Comparison) -> dict[str, Any]:
    return {
        "global": _percent(found.baseline),
        "ssread": _percent(found.candidate),
        "difference": 100 * found.difference,
        "interval": [100 * end for end in found.interval],
        "p": found.p,
        "corrected_p": found.corrected_p,
        "pairs": found.pairs,
        "wins": found.wins,
        "ties": found.ties,
        "finding": found.finding,
        "verdict": found.verdict,
    }


def _percent(summary: Summary) -> dict[str, Any]:
    values = asdict(summary)
    return {
        **values,
        "mean": 100 * summary.mean,
        "sd": 100 * summary.sd,
        "interval": [100 * end for end in summary.interval],
    }
