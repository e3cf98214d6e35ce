"""The columns of a comparison of both readouts, as text."""

import math

from ssread.evaluate.statistics import Comparison, Summary, format_p

__all__ = ["HEADINGS", "comparison_columns", "mean_and_sd"]

HEADINGS = ["pairs", "GRead", "SSRead", "difference", "p", "corrected p"]


def comparison_columns(comparison: Comparison | None, pairs: str = "-") -> list[str]:
    """The columns of :data:`HEADINGS`, in percent.

    Args:
        comparison: The comparison, or None while it is missing.
        pairs: What the column ``pairs`` says while it is missing.
    """
    if comparison is None:
        return [pairs, "missing", "missing", "missing", "-", "-"]
    results = [mean_and_sd(comparison.baseline), mean_and_sd(comparison.candidate)]
    p_values = [format_p(comparison.p), format_p(comparison.corrected_p)]
    return [str(comparison.pairs), *results, f"{100 * comparison.difference:+.2f}", *p_values]


def mean_and_sd(result: Summary) -> str:
    """The mean in percent with its standard deviation; ``failed`` if no training gave a number."""
    return f"{100 * result.mean:.2f} ({100 * result.sd:.2f})" if math.isfinite(result.mean) else "failed"
