"""Which datasets can be had, from where, and how their sizes compare with the paper's Table I."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from ssread.data import sources
from ssread.data.tu_statistics import tu_statistics
from ssread.errors import InputError
from ssread.published.datasets import TABLE_1, PaperRow


@dataclass(frozen=True)
class Listed:
    """A dataset: its name, where it would come from, its statistics if that is on this machine, the paper's row.

    ``problem`` is the sentence that says why a dataset on this machine cannot be read.
    """

    name: str
    source: sources.Source
    statistics: dict[str, Any] | None
    paper: PaperRow | None
    problem: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether ours equals the paper's row; ``None`` where one of them is missing."""
        if self.statistics is None or self.paper is None:
            return None
        return self.paper.agrees_with(self.statistics)


def list_datasets() -> list[Listed]:
    """The paper's seven datasets and every other on this machine; nothing is downloaded."""
    papers = {row.name: row for row in TABLE_1}
    others = [name for name in sources.local_names() if name not in papers]
    listed = []
    for name in [*papers, *others]:
        source = sources.find(name)
        statistics, problem = None, ""
        if isinstance(source.place, Path):
            try:
                statistics = tu_statistics(source.place)
            except InputError as error:
                problem = str(error)
        listed.append(Listed(name, source, statistics, papers.get(name), problem))
    return listed


def as_table(listed: list[Listed]) -> Table:
    """Ours beside the paper's numbers, for a terminal."""
    table = Table(title="Datasets (paper: Table I; means per graph; an edge counts once)", box=box.SIMPLE)
    for heading in ("dataset", "graphs", "paper", "nodes", "paper", "edges", "paper", "classes", "paper", "equal"):
        table.add_column(heading, justify="left" if heading == "dataset" else "right", no_wrap=True)
    table.add_column("from", min_width=17)
    for row in listed:
        cells = []
        for key, form in (("graphs", ",d"), ("mean_nodes", ".2f"), ("mean_edges", ".2f"), ("classes", "d")):
            cells.append("-" if row.statistics is None else format(row.statistics[key], form))
            cells.append("-" if row.paper is None else format(getattr(row.paper, key), form))
        equal = {True: "yes", False: "NO", None: "-"}[row.agrees]
        table.add_row(
            row.name, *cells, equal, row.source.kind if not row.problem else f"[red]{escape(row.problem)}[/red]"
        )
    return table
