"""Published numbers: sizes and accuracies that the paper reports, the best of a fair comparison by others."""

from ssread.published.datasets import TABLE_1, PaperRow, canonical_name
from ssread.published.fair_comparison import FairResult, best_fair_result
from ssread.published.results import PaperResult, paper_result

__all__ = [
    "TABLE_1",
    "FairResult",
    "PaperResult",
    "PaperRow",
    "best_fair_result",
    "canonical_name",
    "paper_result",
]
