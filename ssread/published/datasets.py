"""Table I of the paper: its datasets and their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PaperRow:
    """One row of Table I: a dataset's name in the TU collection, its name in the paper, and its size."""

    name: str
    paper_name: str
    graphs: int
    mean_nodes: float
    mean_edges: float
    classes: int

    def agrees_with(self, statistics: dict[str, Any]) -> bool:
        """Whether the statistics of a ``GraphSet`` equal the paper's to two decimals."""
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
    """Returns the TU name of a dataset of the paper in any of its spellings; ``None`` for other names.

    >>> canonical_name("imdb-b"), canonical_name("AIDS")
    ('IMDB-BINARY', None)
    """
    for row in TABLE_1:
        if name.casefold() in (row.name.casefold(), row.paper_name.casefold()):
            return row.name
    return None
