"""Every table and figure of the paper by name, and what each needs to be made here.

A table or figure joins with one line in :data:`PAPER` that names its code, ``module`` or ``module:object``, which is
imported when it is needed. The code is anything with these two functions (see :class:`Item`):

    def progress(context: Context) -> Progress: ...    # how much of it is there; quick, no dataset is loaded
    def run(context: Context) -> list[Path]: ...       # makes what is missing, shows it, writes it; gives the files

``run`` does only what is missing, so that it goes on after a kill, trains nothing where ``context.train`` is False (it
then shows what there is), prints to ``context.console`` and writes into ``context.folder(name)``: ``NAME.md`` for
people, pictures as ``NAME.svg`` and ``NAME.png`` (:mod:`ssread.common.figure_style`), CSV files for programs. That
folder, copied to ``results/NAME`` with a ``remarks.md`` by hand, is what ``docs/results.py`` puts on the results page.
Where that page is to be made anew from CSV files, such as those of several machines, the code has a third function:

    def page(folder: Path) -> str: ...                 # Markdown

Importing this module imports no torch, so that a wrong name is refused at once.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from rich.console import Console

from ssread.common.files import make_folder
from ssread.errors import InputError
from ssread.models.architectures import ARCHITECTURES
from ssread.published.datasets import TABLE_1, canonical_name

if TYPE_CHECKING:
    import pandas as pd

    from ssread.evaluate.runners import Runner
    from ssread.evaluate.store import Store

__all__ = ["DATASETS", "PAPER", "Context", "Entry", "Item", "Progress", "check_parts", "heading", "item"]

#: The paper's, in the order of Table I.
DATASETS = tuple(row.name for row in TABLE_1)


class Progress(NamedTuple):
    """How much of a table or figure is there.

    Attributes:
        done: Parts that are there.
        total: Parts in all.
        unit: What a part is.
    """

    done: int
    total: int
    unit: str = "trainings"


@dataclass(frozen=True)
class Context:
    """What a table or figure is made with.

    Attributes:
        store: Keeps the trainings; several tables share some.
        out: The folder that everything is written to.
        datasets: Those wanted, by name; none for all that the paper has there.
        rows: Rows of a table wanted, such as ``sum`` or ``gin``; none for all.
        settings: What differs from the paper's protocol: fields of :class:`ssread.evaluate.experiment.Experiment` and
            of :class:`ssread.train.Training`, such as ``seeds`` or ``folds``.
        train: Whether what is missing is made; if not, what there is is shown.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU where there is one.
        workers: Worker processes on a CPU, by default one per core.
        on: ``here``, or a Ray cluster.
        console: For people.
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
        """Where trainings happen."""
        from ssread.evaluate.runners import make_runner

        return make_runner(self.device, self.workers, self.on, lambda text: self.console.print(text, markup=False))

    def trainings(self) -> pd.DataFrame:
        """What the store holds now, a row per training: see :meth:`Store.table`."""
        return self.store.table()

    def folder(self, name: str) -> Path:
        """Where a table or figure writes its files."""
        return make_folder(self.out / name)

    def chosen_datasets(self, there: Sequence[str] = DATASETS) -> list[str]:
        """The datasets wanted among those that a table or figure has, by their TU names."""
        return _chosen("dataset", [canonical_name(name) or name for name in self.datasets], there)

    def chosen_rows(self, there: Sequence[str]) -> list[str]:
        """The rows wanted among those that a table has."""
        return _chosen("row", self.rows, there)


class Item(Protocol):
    """A table or figure that can be made: see the top of this module."""

    def progress(self, context: Context) -> Progress:
        """How much of it is there."""

    def run(self, context: Context) -> list[Path]:
        """Makes what is missing, shows and writes it; the files."""


class Entry(NamedTuple):
    """A table or figure of the paper.

    Attributes:
        title: What it shows.
        code: ``module`` or ``module:object`` that makes it; empty where nothing can be made.
        remark: Why nothing can be made.
        datasets: Those that it is about.
        rows: The rows that can be chosen; none where it is made as a whole.
    """

    title: str
    code: str = ""
    remark: str = "not yet"
    datasets: tuple[str, ...] = DATASETS
    rows: tuple[str, ...] = ()


SCHEME = "a scheme: nothing to measure"
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
    "figure1": Entry("node vectors by t-SNE", "ssread.paper.figure1", datasets=("MUTAG",)),
    "figure2": Entry("architecture of a graph classifier", remark=SCHEME),
    "figure3": Entry("structural semantic readout", remark=SCHEME),
    "figure4": Entry("structural properties from graph vectors", "ssread.paper.figure4", datasets=("MUTAG",)),
    "figure5": Entry("positions beside poolings", "ssread.paper.figure5", datasets=("MUTAG",)),
    "figure6": Entry("class activation", "ssread.paper.figure6", datasets=("MUTAG",)),
    "figure7": Entry("sensitivity to K and gamma", "ssread.paper.figure7", datasets=("MUTAG", "NCI1", "IMDB-MULTI")),
    "figure8": Entry("training time against K", "ssread.paper.figure8", datasets=("NCI1", "DD"), rows=IN_TABLE_2),
}


def heading(name: str) -> str:
    """What a table or figure is called in a document.

    >>> heading("table4"), heading("figure8")
    ('Table IV: five more classifiers', 'Figure 8: training time against K')
    """
    kind, number = name[:-1], int(name[-1])
    numeral = ("I", "II", "III", "IV", "V")[number - 1] if kind == "table" else str(number)
    return f"{kind.capitalize()} {numeral}: {PAPER[name].title}"


def _entry(name: str) -> Entry:
    """The entry of a table or figure that can be made."""
    entry = PAPER.get(name)
    if entry is None:
        raise InputError(f"The paper has no {name!r}. Choose from {', '.join(PAPER)}.")
    if not entry.code:
        raise InputError(f"{name} ({entry.title}) cannot be made: {entry.remark}.")
    return entry


def item(name: str) -> Item:
    """What makes a table or figure, by its name."""
    return cast(Item, pkgutil.resolve_name(_entry(name).code))


def check_parts(name: str, datasets: Sequence[str], rows: Sequence[str]) -> None:
    """Raises an ``InputError`` for datasets or rows that a table or figure does not have."""
    entry = _entry(name)
    _chosen("dataset", [canonical_name(dataset) or dataset for dataset in datasets], entry.datasets)
    if rows and not entry.rows:
        raise InputError(f"{name} has no rows to choose from: leave out --rows.")
    _chosen("row", rows, entry.rows)


def _chosen(what: str, wanted: Sequence[str], there: Sequence[str]) -> list[str]:
    for name in wanted:
        if name not in there:
            raise InputError(f"There is no {what} {name!r} here. Choose from {', '.join(there)}.")
    return [name for name in there if name in wanted or not wanted]
