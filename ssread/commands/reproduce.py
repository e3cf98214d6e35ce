"""``ssread reproduce`` as a function: a table or figure of the paper, all of them, or a list."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ssread.commands.reproduce_all import reproduce_all
from ssread.evaluate.store import Store
from ssread.paper.registry import ALL, PAPER, Context, check_parts, item

__all__ = ["listing", "reproduce_item"]

WHY_LEFT_OUT = (
    "their keys are not those of their settings, because they were changed, or because this version of ssread would "
    "train them with another result."
)


def reproduce_item(
    name: str | None,
    *,
    datasets: Sequence[str] = (),
    rows: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    train: bool = True,
    add: Sequence[str | os.PathLike[str]] = (),
    device: str = "auto",
    workers: int | None = None,
    on: str = "here",
    out: str | os.PathLike[str] = "runs",
    console: Console | None = None,
) -> list[Path]:
    """Makes what is missing of a table or figure of the paper; without a name, lists all of them.

    Args:
        name: A name of :data:`ssread.paper.registry.PAPER`, ``all``, or None.
        datasets: See :class:`ssread.paper.registry.Context`, as for all arguments that are not listed here.
        add: Results files of other machines, or ``.csv`` files that were exported from them; their trainings are added
            first.
        out: The folder of the results file. Trainings of :func:`ssread.commands.compare.compare_dataset` with the same
            folder count here too.

    Returns:
        The files that were written.
    """
    if name is not None:
        check_parts(name, datasets, rows)
    make = reproduce_all if name == ALL else None if name is None else item(name).run
    with Store(Path(out) / "results.sqlite") as store:
        context = Context(
            store,
            Path(out),
            datasets,
            rows,
            settings or {},
            train,
            device,
            workers,
            on,
            console or Console(),
        )
        for other in add:
            merged = store.merge(other)
            context.print_line(f"{merged.added} trainings added from {other}")
            if merged.left_out:
                context.print_line(f"{merged.left_out} of its rows are left out: {WHY_LEFT_OUT}")
        if make is None:
            context.console.print(listing(context))
            return []
        files = make(context)
    context.print_line(f"Saved: {', '.join(map(str, files))}")
    return files


def listing(context: Context) -> Table:
    """A table of all tables and figures of the paper, with how much of each is done."""
    table = Table(title=f"The paper's tables and figures, and how much of them {context.out} has", box=box.SIMPLE)
    for heading in ("", "title", "done", "of", ""):
        table.add_column(heading, justify="right" if heading in ("done", "of") else "left", no_wrap=True)
    for name, entry in PAPER.items():
        if entry.code:
            done, total, unit = item(name).progress(context)
            table.add_row(name, entry.title, f"{done:,}", f"{total:,}", unit)
        else:
            table.add_row(name, entry.title, "", "", entry.remark, style="dim")
    return table
