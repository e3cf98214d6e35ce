"""The paper's tables, beside which ours are put."""

from ssread.paper.results import PaperResult, paper_result

__all__ = ["PaperResult", "paper_result"]
