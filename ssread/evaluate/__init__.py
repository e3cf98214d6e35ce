"""Whether a readout helps: metrics, paired statistics, the results store, reports."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports

if TYPE_CHECKING:
    from ssread.evaluate.keys import DatasetId, fingerprint, identify, run_key
    from ssread.evaluate.metrics import METRICS, score
    from ssread.evaluate.report import Cell, Report, selection_rule
    from ssread.evaluate.results_export import export
    from ssread.evaluate.statistics import Comparison, Summary, compare, holm, summarize
    from ssread.evaluate.store import Store

__all__ = [
    "METRICS",
    "Cell",
    "Comparison",
    "DatasetId",
    "Report",
    "Store",
    "Summary",
    "compare",
    "export",
    "fingerprint",
    "holm",
    "identify",
    "run_key",
    "score",
    "selection_rule",
    "summarize",
]

lazy_exports(
    __name__,
    {
        "keys": ["DatasetId", "fingerprint", "identify", "run_key"],
        "metrics": ["METRICS", "score"],
        "report": ["Cell", "Report", "selection_rule"],
        "results_export": ["export"],
        "statistics": ["Comparison", "Summary", "compare", "holm", "summarize"],
        "store": ["Store"],
    },
)
