"""``ssread reproduce`` as one call: the list of what there is, or one table or figure."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ssread.evaluate.store import Store
from ssread.paper.registry import PAPER, Context, check_parts, item

__all__ = ["listing", "reproduce_item"]


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
    """Makes a table or figure of the paper, as far as it is missing; without a name, lists all of them.

    Args:
        name: A name of :data:`ssread.paper.registry.PAPER`, or None.
        add: Results files of other machines, whose trainings are taken over first.
        out: The folder of the results file, the same as that of :func:`ssread.commands.compare.compare_dataset`, whose
            trainings count here too.
        datasets: See :class:`ssread.paper.registry.Context`, like the other arguments.

    Returns:
        The files that were written.
    """
    if name is not None:
        check_parts(name, datasets, rows)
    chosen = None if name is None else item(name)
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
            count = store.merge(other)
            context.console.print(f"{count} trainings taken over from {other}", markup=False, highlight=False)
        if chosen is None:
            context.console.print(listing(context))
            return []
        files = chosen.run(context)
    context.console.print(f"Saved: {', '.join(map(str, files))}", markup=False, highlight=False)
    return files


def listing(context: Context) -> Table:
    """Every table and figure of the paper, with how much of it is done."""
    table = Table(title=f"The paper's tables and figures, and what {context.out} has of them", box=box.SIMPLE)
    for heading in ("", "what", "done", "of", ""):
        table.add_column(heading, justify="right" if heading in ("done", "of") else "left", no_wrap=True)
    for name, entry in PAPER.items():
        if entry.code:
            done, total, unit = item(name).progress(context)
            table.add_row(name, entry.title, f"{done:,}", f"{total:,}", unit)
        else:
            table.add_row(name, entry.title, "", "", entry.remark, style="dim")
    return table
