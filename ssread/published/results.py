"""The accuracies of the paper's Tables III to V, looked up by the names of this package."""

import csv
import functools
import re
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from ssread.published.datasets import canonical_name

__all__ = ["PaperResult", "paper_result"]

READOUTS = {"global": "gread", "ssread": "ssread"}


class PaperResult(NamedTuple):
    """An accuracy of the paper, in percent.

    Attributes:
        mean: The mean accuracy.
        std: Its standard deviation.
        significant: Whether it is printed bold: significantly better than the global readout.
    """

    mean: float
    std: float
    significant: bool


def paper_result(
    dataset: str, arch: str, aggr: str | Sequence[str], readout: str, learning: str = "supervised"
) -> PaperResult | None:
    """Returns the paper's accuracy for a table cell; ``None`` where it has none.

    Args:
        dataset: In any spelling: ``IMDB-BINARY`` or ``imdb-b``.
        arch: A name of :data:`ssread.models.ARCHITECTURES`.
        aggr: One aggregation, or several: ``["max", "mean"]``, ``"max,mean"`` or ``"max+mean"``.
        readout: ``global`` or ``ssread``.
        learning: ``supervised``, ``graphcl`` or ``infograph``.

    >>> paper_result("MUTAG", "gcn", "sum", "ssread")
    PaperResult(mean=87.16, std=0.84, significant=True)
    >>> paper_result("MUTAG", "gin", "max", "ssread") is None
    True
    """
    name = canonical_name(dataset)
    return _results().get((learning.casefold(), arch, _aggregations(aggr), READOUTS.get(readout), name))


def _aggregations(aggr: str | Sequence[str]) -> frozenset[str]:
    return frozenset(re.split(r"\s*[,+]\s*", aggr.strip()) if isinstance(aggr, str) else aggr)


@functools.cache
def _results() -> dict[tuple, PaperResult]:
    text = resources.files("ssread.published").joinpath("results.csv").read_text(encoding="utf-8")
    return {
        (
            row["learning"].casefold(),
            row["architecture"].casefold(),
            _aggregations(row["aggregation"]),
            row["readout"].casefold(),
            row["dataset"],
        ): PaperResult(float(row["accuracy"]), float(row["std"]), row["significant"] == "1")
        for row in csv.DictReader(text.splitlines())
    }
