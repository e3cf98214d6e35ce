"""Tables III to V: both readouts on every dataset under the fair protocol, next to the paper's numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ssread.common.files import write_csv, write_json, write_text
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.protocol import compare_all, experiment_rule
from ssread.evaluate.report import Cell
from ssread.evaluate.trainer import Watch
from ssread.evaluate.trainings_csv import read_trainings
from ssread.paper.datasets import train_datasets
from ssread.paper.paper_table import PaperTable
from ssread.paper.registry import DATASETS, PAPER, Context, Progress, heading
from ssread.paper.stored_results import MissingCell, StoredResults, all_results
from ssread.train.recipes import DEFAULT

__all__ = ["TABLE_3", "TABLE_4", "TABLE_5", "ComparisonTable"]


@dataclass(frozen=True)
class ComparisonTable:
    """A table of the paper that compares both readouts.

    Attributes:
        name: Its name in the registry.
        arch: Its architectures.
        aggr: Its aggregations; empty for every architecture's own.
        learn: The objectives that its encoders are trained with.
    """

    name: str
    arch: tuple[str, ...]
    aggr: tuple[str, ...] = ()
    learn: tuple[str, ...] = ("supervised",)

    def progress(self, context: Context) -> Progress:
        """How many trainings of the chosen datasets and rows the store has."""
        return Progress.sum(result.progress() for result in self.results(context))

    def results(self, context: Context) -> list[StoredResults]:
        """The chosen datasets and rows, as far as they are stored."""
        return all_results(context.trainings(), context.chosen_datasets(), self._chosen_experiments(context))

    def run(self, context: Context) -> list[Path]:
        """Trains what is missing, the dataset that lacks least first; writes the table after every dataset."""
        experiments, datasets = self._chosen_experiments(context), context.chosen_datasets()

        def train(graphs: GraphSet, watch: Watch) -> None:
            compare_all(graphs, experiments, context.runner, context.store, watch)
            self._write(context)

        problems = train_datasets(context, datasets, experiments[0], train)
        files = self._write(context)
        chosen = all_results(context.trainings(), datasets, experiments)
        context.console.print(self._table(chosen, experiments[0]).table())
        if problems:
            raise InputError(" ".join(problems))
        return files

    def page(self, folder: Path, settings: Mapping[str, Any]) -> str:
        """The table in Markdown, from every CSV file of trainings in a folder and its remarks.

        With the usual recipe it has all datasets; with others those that something is stored of, and the others' names.
        """
        rows, experiments = read_trainings(sorted(folder.glob("*.csv"))), self._experiments(settings)
        absent = set() if settings.get("recipe", DEFAULT) == DEFAULT else set(DATASETS) - set(rows["dataset"])
        results = all_results(rows, [name for name in DATASETS if name not in absent], experiments)
        note = f"\nNot trained: {', '.join(name for name in DATASETS if name in absent)}.\n" if absent else ""
        return self._table(results, experiments[0], _remarks(folder)).markdown() + note

    def cells(self, rows: pd.DataFrame, settings: Mapping[str, Any]) -> list[Cell | MissingCell]:
        """Every cell of the table, from stored trainings.

        Args:
            rows: Trainings as :meth:`ssread.evaluate.Store.table` returns them.
            settings: As in a :class:`Context`; ``aggr`` leaves the other aggregations out.
        """
        results = all_results(rows, DATASETS, self._experiments(settings))
        return [cell for result in results for cell in result.cells()]

    def _write(self, context: Context) -> list[Path]:
        """Writes the whole table, also the rows and datasets that were not chosen."""
        folder, experiments = context.folder(self.name), self._experiments(context.settings)
        results = all_results(context.trainings(), DATASETS, experiments)
        table = self._table(results, experiments[0], _remarks(folder))
        return [
            write_text(folder / f"{self.name}.md", table.markdown()),
            write_json(folder / f"{self.name}.json", table.as_dict()),
            write_csv(folder / "runs.csv", pd.concat([result.used() for result in results])),
        ]

    def _table(self, results: Sequence[StoredResults], experiment: Experiment, remarks: str = "") -> PaperTable:
        cells = [cell for result in results for cell in result.cells()]
        rule = experiment_rule(experiment)
        if experiment.dropout == "auto":
            without = [result.dataset for result in results if result.dropout_chosen and result.experiment.dropout == 0]
            rule += f"; without dropout: {', '.join(dict.fromkeys(without)) or 'nowhere'}"
        return PaperTable(heading(self.name), cells, rule, remarks)

    def _chosen_experiments(self, context: Context) -> list[Experiment]:
        """The experiments of the chosen rows, which are objectives, aggregations or architectures."""
        kind = "learn" if len(self.learn) > 1 else "aggr" if len(self.aggr) > 1 else "arch"
        return self._experiments({kind: context.chosen_rows(getattr(self, kind)), **context.settings})

    def _experiments(self, settings: Mapping[str, Any]) -> list[Experiment]:
        """An experiment for every objective."""
        own: dict[str, Any] = {"arch": self.arch, "aggr": self.aggr}
        if self.learn == ("supervised",):
            own["dropout"] = "auto"
        objectives = settings.get("learn", self.learn)
        return [Experiment.of({**own, **settings, "learn": objective}) for objective in objectives]


TABLE_3 = ComparisonTable("table3", ("gcn",), aggr=PAPER["table3"].rows)
TABLE_4 = ComparisonTable("table4", arch=PAPER["table4"].rows)
TABLE_5 = ComparisonTable("table5", ("gin",), ("sum",), learn=PAPER["table5"].rows)


def _remarks(folder: Path) -> str:
    path = folder / "remarks.md"
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
