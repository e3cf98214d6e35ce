"""Does a readout help: metrics, paired statistics, the results store, reports."""

from ssread.evaluate.keys import DatasetId, fingerprint, identify, run_key
from ssread.evaluate.metrics import METRICS, score
from ssread.evaluate.statistics import Comparison, Summary, compare, holm, summarize
from ssread.evaluate.store import Store

__all__ = [
    "METRICS",
    "Comparison",
    "DatasetId",
    "Store",
    "Summary",
    "compare",
    "fingerprint",
    "holm",
    "identify",
    "run_key",
    "score",
    "summarize",
]
