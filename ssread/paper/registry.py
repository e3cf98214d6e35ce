"""The registry: every table and figure of the paper by name, and the code that makes it.

To add a table or figure, add a line to :data:`PAPER` that names its code, ``module`` or ``module:object``, which is
imported when it is needed. The code has these two functions (see :class:`Item`):

    def progress(context: Context) -> Progress: ...    # how much of it is done; quick, loads no dataset
    def run(context: Context) -> list[Path]: ...       # makes what is missing, prints and writes it; returns the files

``run`` makes only what is missing, so that it can continue after a kill. It trains nothing if ``context.train`` is
False, and then shows what is done. It prints to ``context.console`` and writes into ``context.folder(name)``:
``NAME.md`` for people, pictures as ``NAME.svg`` and ``NAME.png`` (:mod:`ssread.common.figure_style`), CSV files for
programs. A copy of that folder in ``results/RECIPE/NAME``, with a handwritten ``remarks.md``, goes onto the results
page (``docs/results.py``). If that page is to be made from the CSV files of several machines, the code has a third
function:

    def page(folder: Path, settings: Mapping) -> str: ...    # Markdown; settings name the recipe

If it is made from stored trainings, the code has a function that names them, so that the time left can be judged:

    def results(context: Context) -> list[StoredResults]: ...    # its experiments, as far as they are stored

Importing this module imports no torch, so that a wrong name is refused at once.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from rich import box
from rich.console import Console
from rich.table import Table

from ssread.common.files import make_folder
from ssread.errors import InputError
from ssread.models.architectures import ARCHITECTURES
from ssread.published.datasets import TABLE_1, canonical_name
from ssread.train.recipes import DEFAULT

if TYPE_CHECKING:
    import pandas as pd

    from ssread.evaluate.runners import Runner
    from ssread.evaluate.store import Store

__all__ = ["ALL", "DATASETS", "PAPER", "Context", "Entry", "Item", "Progress", "check_parts", "heading", "item"]

#: The name that stands for every table and figure.
ALL = "all"

#: The paper's datasets, in the order of Table I.
DATASETS = tuple(row.name for row in TABLE_1)


class Progress(NamedTuple):
    """How much of a table or figure is done.

    Attributes:
        done: Number of parts that are done.
        total: Number of all parts.
        unit: What a part is.
    """

    done: int
    total: int
    unit: str = "trainings"

    @classmethod
    def sum(cls, counts: Iterable[tuple[int, int]]) -> Progress:
        """Adds up (done, total) pairs of trainings.

        >>> Progress.sum([(1, 2), (3, 3)])
        Progress(done=4, total=5, unit='trainings')
        """
        pairs = list(counts)
        return cls(sum(done for done, _ in pairs), sum(total for _, total in pairs))


@dataclass(frozen=True)
class Context:
    """What a table or figure is made with.

    Attributes:
        store: Keeps the trainings, some of which several tables share.
        out: The folder that everything is written to.
        datasets: Names of the chosen datasets; empty for all of a table or figure.
        rows: The chosen rows of a table, such as ``sum`` or ``gin``; empty for all.
        settings: Deviations from the paper's protocol: fields of :class:`ssread.evaluate.experiment.Experiment` and
            of :class:`ssread.train.Training`, such as ``seeds`` or ``folds``.
        train: Whether to make what is missing, or only to show what is done.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one.
        workers: Worker processes, by default one per core on a CPU and at most 3 on a GPU.
        on: ``here``, or a Ray cluster.
        console: Where tables and progress are printed.
    """

    store: Store
    out: Path
    datasets: Sequence[str] = ()
    rows: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    train: bool = True
    device: str = "auto"
    workers: int | None = None
    on: str = "here"
    console: Console = field(default_factory=Console)

    @cached_property
    def runner(self) -> Runner:
        """Where trainings run."""
        from ssread.evaluate.runners import make_runner

        return make_runner(self.device, self.workers, self.on, self.print_line)

    def trainings(self) -> pd.DataFrame:
        """The trainings in the store, one per row: see :meth:`Store.table`."""
        return self.store.table()

    def folder_of(self, name: str) -> Path:
        """The folder of a table or figure; recipes other than the default one have their own."""
        recipe = self.settings.get("recipe", DEFAULT)
        return self.out / (name if recipe == DEFAULT else f"{name}-{recipe}")

    def folder(self, name: str) -> Path:
        """As :meth:`folder_of`; made if there is none."""
        return make_folder(self.folder_of(name))

    def chosen_datasets(self, available: Sequence[str] = DATASETS) -> list[str]:
        """The TU names of the chosen datasets among those of a table or figure."""
        return _chosen("dataset", [canonical_name(name) or name for name in self.datasets], available)

    def chosen_rows(self, available: Sequence[str]) -> list[str]:
        """The chosen rows among those of a table."""
        return _chosen("row", self.rows, available)

    def print_table(self, name: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Prints the numbers of a table or figure."""
        table = Table(*headings, title=heading(name), box=box.SIMPLE)
        for row in rows:
            table.add_row(*row)
        self.console.print(table)

    def print_line(self, text: str) -> None:
        """Prints plain text."""
        self.console.print(text, markup=False, highlight=False)


class Item(Protocol):
    """The code of a table or figure: see the top of this module."""

    def progress(self, context: Context) -> Progress:
        """Returns how much of it is done."""

    def run(self, context: Context) -> list[Path]:
        """Makes what is missing, prints and writes it; returns the files."""


class Entry(NamedTuple):
    """A table or figure of the paper.

    Attributes:
        title: What it shows.
        code: ``module`` or ``module:object`` that makes it; empty if there is nothing to make.
        remark: Why there is nothing to make.
        datasets: Those that it covers.
        rows: The rows that can be chosen; none if it is made as a whole.
    """

    title: str
    code: str = ""
    remark: str = ""
    datasets: tuple[str, ...] = DATASETS
    rows: tuple[str, ...] = ()


DIAGRAM = "a diagram: nothing to measure"
IN_TABLE_2 = tuple(name for name, architecture in ARCHITECTURES.items() if architecture.paper is not None)

#: In the order of the paper.
PAPER = {
    "table1": Entry("datasets", "ssread.paper.table1"),
    "table2": Entry("classifiers", "ssread.paper.table2", rows=IN_TABLE_2),
    "table3": Entry(
        "GCN with six aggregations",
        "ssread.paper.comparison_tables:TABLE_3",
        rows=("sum", "max", "mean", "attention", "set2set", "sort"),
    ),
    "table4": Entry(
        "five more classifiers",
        "ssread.paper.comparison_tables:TABLE_4",
        rows=tuple(name for name in IN_TABLE_2 if name != "gcn"),
    ),
    "table5": Entry("learning without labels", "ssread.paper.comparison_tables:TABLE_5", rows=("infograph", "graphcl")),
    "figure1": Entry("node vectors by t-SNE", "ssread.paper.figure1:FIGURE_1", datasets=("MUTAG",)),
    "figure2": Entry("architecture of a graph classifier", remark=DIAGRAM),
    "figure3": Entry("structural semantic readout", remark=DIAGRAM),
    "figure4": Entry("structural properties from graph vectors", "ssread.paper.figure4", datasets=("MUTAG",)),
    "figure5": Entry("positions compared with poolings", "ssread.paper.figure5:FIGURE_5", datasets=("MUTAG",)),
    "figure6": Entry("class activation", "ssread.paper.figure6:FIGURE_6", datasets=("MUTAG",)),
    "figure7": Entry("sensitivity to K and gamma", "ssread.paper.figure7", datasets=("MUTAG", "NCI1", "IMDB-MULTI")),
    "figure8": Entry("training time against K", "ssread.paper.figure8", datasets=("NCI1", "DD"), rows=IN_TABLE_2),
}


def heading(name: str) -> str:
    """The heading of a table or figure in a document.

    >>> heading("table4"), heading("figure8")
    ('Table IV: five more classifiers', 'Figure 8: training time against K')
    """
    kind, number = name[:-1], int(name[-1])
    numeral = ("I", "II", "III", "IV", "V")[number - 1] if kind == "table" else str(number)
    return f"{kind.capitalize()} {numeral}: {PAPER[name].title}"


def _entry(name: str) -> Entry:
    """The entry of a table or figure that can be made, by name."""
    entry = PAPER.get(name)
    if entry is None:
        raise InputError(f"The paper has no {name!r}. Choose from {', '.join(PAPER)}, or {ALL}.")
    if not entry.code:
        raise InputError(f"{name} ({entry.title}) cannot be made: {entry.remark}.")
    return entry


def item(name: str) -> Item:
    """What makes a table or figure, by its name."""
    return cast(Item, pkgutil.resolve_name(_entry(name).code))


def check_parts(name: str, datasets: Sequence[str], rows: Sequence[str]) -> None:
    """Raises an ``InputError`` for datasets or rows that a table or figure does not have."""
    entry = Entry("everything", rows=()) if name == ALL else _entry(name)
    _chosen("dataset", [canonical_name(dataset) or dataset for dataset in datasets], entry.datasets)
    if rows and not entry.rows:
        raise InputError(f"{name} has no rows to choose from: leave out --rows.")
    _chosen("row", rows, entry.rows)


def _chosen(kind: str, chosen: Sequence[str], available: Sequence[str]) -> list[str]:
    for name in chosen:
        if name not in available:
            raise InputError(f"There is no {kind} {name!r} here. Choose from {', '.join(available)}.")
    return [name for name in available if name in chosen or not chosen]
