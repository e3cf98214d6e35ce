"""The paper's tables, beside which ours are put."""

from ssread.published.results import PaperResult, paper_result

__all__ = ["PaperResult", "paper_result"]
