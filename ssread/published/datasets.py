"""Table I of the paper, and the same numbers counted in the data at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PaperRow:
    """One row of Table I: the dataset by its name in the TU collection and in the paper, and its size."""

    name: str
    paper_name: str
    graphs: int
    mean_nodes: float
    mean_edges: float
    classes: int

    def agrees_with(self, statistics: dict[str, Any]) -> bool:
        """Whether counted statistics are those of the paper, to its two decimals."""
        ours = statistics["graphs"], statistics["mean_nodes"], statistics["mean_edges"], statistics["classes"]
        theirs = self.graphs, self.mean_nodes, self.mean_edges, self.classes
        return all(f"{a:.2f}" == f"{b:.2f}" for a, b in zip(ours, theirs, strict=True))


TABLE_1 = (
    PaperRow("DD", "D&D", 1178, 284.32, 715.66, 2),
    PaperRow("MUTAG", "MUTAG", 188, 17.93, 19.79, 2),
    PaperRow("Mutagenicity", "Mutagen", 4337, 30.32, 30.77, 2),
    PaperRow("NCI1", "NCI1", 4110, 29.87, 32.30, 2),
    PaperRow("PROTEINS", "PROTEINS", 1113, 39.06, 72.82, 2),
    PaperRow("IMDB-BINARY", "IMDB-B", 1000, 19.77, 96.53, 2),
    PaperRow("IMDB-MULTI", "IMDB-M", 1500, 13.00, 65.94, 3),
)


def canonical_name(name: str) -> str | None:
    """The TU name of one of the paper's datasets, however it is written; ``None`` if it is not one of them.

    >>> canonical_name("imdb-b"), canonical_name("AIDS")
    ('IMDB-BINARY', None)
    """
    for row in TABLE_1:
        if name.casefold() in (row.name.casefold(), row.paper_name.casefold()):
            return row.name
    return None
