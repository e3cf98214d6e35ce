"""Published numbers: the dataset sizes and accuracies that the paper reports."""

from ssread.published.datasets import TABLE_1, PaperRow, canonical_name
from ssread.published.results import PaperResult, paper_result

__all__ = ["TABLE_1", "PaperResult", "PaperRow", "canonical_name", "paper_result"]
