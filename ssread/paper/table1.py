"""Table I: the sizes of the datasets, counted here, next to the paper's."""

from pathlib import Path

from ssread.common.files import write_text
from ssread.common.markdown import markdown_table
from ssread.data import sources
from ssread.data.listing import as_table, list_datasets
from ssread.paper.registry import DATASETS, Context, Progress

__all__ = ["progress", "run"]


def progress(context: Context) -> Progress:
    """How many of the datasets are on this machine."""
    return Progress(sum(sources.find(name).is_local for name in DATASETS), len(DATASETS), "datasets")


def run(context: Context) -> list[Path]:
    """Counts the datasets on this machine; downloads nothing."""
    chosen = context.chosen_datasets()
    listed = [row for row in list_datasets() if row.name in chosen]
    context.console.print(as_table(listed))
    rows = []
    for row in listed:
        ours = row.statistics or {}
        cells: list[object] = [row.name]
        for count, form in (("graphs", "d"), ("mean_nodes", ".2f"), ("mean_edges", ".2f"), ("classes", "d")):
            cells += [format(getattr(row.paper, count), form), format(ours[count], form) if ours else "missing"]
        rows.append([*cells, {True: "yes", False: "NO", None: "-"}[row.agrees]])
    headings = ["dataset"]
    headings += [
        f"{count}, {whose}" for count in ("graphs", "nodes", "edges", "classes") for whose in ("paper", "ours")
    ]
    text = markdown_table([*headings, "equal"], rows) + "\nNodes and edges: means per graph; an edge counts once.\n"
    return [write_text(context.folder("table1") / "table1.md", text)]
