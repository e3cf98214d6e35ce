"""The best accuracies that others published under a fair protocol."""

import csv
import functools
from collections.abc import Iterable
from importlib import resources
from typing import NamedTuple

__all__ = ["FAIR_COMPARISON", "FairResult", "best_fair_result", "fair_comparison_note"]

#: Where they were published.
FAIR_COMPARISON = (
    'Errica et al., "A Fair Comparison of Graph Neural Networks for Graph Classification", ICLR 2020: '
    "10 folds, models selected on held-out graphs"
)


class FairResult(NamedTuple):
    """An accuracy in percent.

    Attributes:
        mean: The mean accuracy.
        model: The classifier that reached it.
        degree: Whether the degrees of nodes were features.
    """

    mean: float
    model: str
    degree: bool

    def __str__(self) -> str:
        return f"{self.mean:.1f} ({self.model})"


def best_fair_result(dataset: str) -> FairResult | None:
    """Returns the best of the fair comparison on a dataset by its TU name; ``None`` where it has none.

    >>> print(best_fair_result("NCI1"))
    80.0 (GIN)
    >>> best_fair_result("MUTAG") is None
    True
    """
    return max(_results().get(dataset, []), default=None)


def fair_comparison_note(datasets: Iterable[str]) -> str:
    """Returns a sentence on what :func:`best_fair_result` is for these datasets; empty if it has none of them."""
    known = {name: result for name in datasets if (result := best_fair_result(name)) is not None}
    if not known:
        return ""
    degrees = [name for name, result in known.items() if result.degree]
    numbers = ", ".join(f"{name} {result}" for name, result in known.items())
    features = f" There {' and '.join(degrees)} have degrees as node features, here a constant." if degrees else ""
    return f"Best published under a fair protocol ({FAIR_COMPARISON}): {numbers}.{features}"


@functools.cache
def _results() -> dict[str, list[FairResult]]:
    text = resources.files("ssread.published").joinpath("fair_comparison.csv").read_text(encoding="utf-8")
    results: dict[str, list[FairResult]] = {}
    for row in csv.DictReader(text.splitlines()):
        result = FairResult(float(row["accuracy"]), row["model"], row["degree"] == "1")
        results.setdefault(row["dataset"], []).append(result)
    return results
