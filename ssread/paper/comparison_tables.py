"""Tables III to V: both readouts on every dataset, trained under the fair protocol, beside the paper's figures."""

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
from ssread.evaluate.trainer import Watch
from ssread.evaluate.trainings_csv import read_trainings
from ssread.paper.datasets import train_datasets
from ssread.paper.paper_table import PaperTable
from ssread.paper.registry import DATASETS, PAPER, Context, Progress, heading
from ssread.paper.stored_results import StoredResults

__all__ = ["TABLE_3", "TABLE_4", "TABLE_5", "ComparisonTable"]


@dataclass(frozen=True)
class ComparisonTable:
    """A table of the paper with both readouts.

    Attributes:
        name: By which it is asked for.
        arch: Its architectures.
        aggr: Its aggregations; none for every architecture's own.
        learn: What its encoders learn from.
    """

    name: str
    arch: tuple[str, ...]
    aggr: tuple[str, ...] = ()
    learn: tuple[str, ...] = ("supervised",)

    def progress(self, context: Context) -> Progress:
        """How many of the trainings of the chosen datasets and rows the store has."""
        rows, datasets = context.trainings(), context.chosen_datasets()
        asked = [(dataset, experiment) for dataset in datasets for experiment in self._questions(context)]
        counts = [StoredResults(rows, dataset, experiment).progress() for dataset, experiment in asked]
        return Progress(sum(done for done, _ in counts), sum(total for _, total in counts))

    def run(self, context: Context) -> list[Path]:
        """Trains what is missing, the dataset with the least missing first; the table is written after every one."""
        experiments = self._questions(context)
        chosen = context.chosen_datasets()

        def train(graphs: GraphSet, watch: Watch) -> None:
            compare_all(graphs, experiments, context.runner, context.store, watch)
            self._write(context)

        problems = train_datasets(context, chosen, experiments[0], train)
        files = self._write(context)
        context.console.print(self._sheet(context.trainings(), experiments, chosen).table())
        if problems:
            raise InputError(" ".join(problems))
        return files

    def page(self, folder: Path) -> str:
        """The table in Markdown from every CSV file of trainings in a folder, with the remarks there."""
        rows = read_trainings(sorted(folder.glob("*.csv")))
        return self._sheet(rows, self._all({}), DATASETS, _remarks(folder)).markdown()

    def _write(self, context: Context) -> list[Path]:
        """The whole table, whatever part of it was asked for."""
        folder, rows = context.folder(self.name), context.trainings()
        experiments = self._all(context.settings)
        sheet = self._sheet(rows, experiments, DATASETS, _remarks(folder))
        used = [StoredResults(rows, dataset, experiment).used() for dataset in DATASETS for experiment in experiments]
        return [
            write_text(folder / f"{self.name}.md", sheet.markdown()),
            write_json(folder / f"{self.name}.json", sheet.as_dict()),
            write_csv(folder / "runs.csv", pd.concat(used)),
        ]

    def _sheet(
        self, rows: pd.DataFrame, experiments: Sequence[Experiment], datasets: Sequence[str], remarks: str = ""
    ) -> PaperTable:
        asked = [StoredResults(rows, dataset, experiment) for dataset in datasets for experiment in experiments]
        cells = [cell for evidence in asked for cell in evidence.cells()]
        without = [evidence.dataset for evidence in asked if evidence.settled and evidence.experiment.dropout == 0]
        none = f"; without dropout: {', '.join(dict.fromkeys(without)) or 'nowhere'}"
        rule = experiment_rule(experiments[0]) + (none if experiments[0].dropout == "auto" else "")
        return PaperTable(heading(self.name), cells, rule, remarks)

    def _questions(self, context: Context) -> list[Experiment]:
        """What the chosen rows ask: rows are ways to learn or aggregations where there are several, else models."""
        for name, there in (("learn", self.learn), ("aggr", self.aggr), ("arch", self.arch)):
            if len(there) > 1 or name == "arch":
                return self._all({name: context.chosen_rows(there), **context.settings})
        raise AssertionError("a table has rows")

    def _all(self, settings: Mapping[str, Any]) -> list[Experiment]:
        """An experiment for every way to learn."""
        ways = settings.get("learn", self.learn)
        own: dict[str, Any] = {"arch": self.arch, "aggr": self.aggr}
        if self.learn == ("supervised",):
            own["dropout"] = "auto"
        return [Experiment.of({**own, **settings, "learn": learn}) for learn in ways]


TABLE_3 = ComparisonTable("table3", ("gcn",), aggr=PAPER["table3"].rows)
TABLE_4 = ComparisonTable("table4", arch=PAPER["table4"].rows)
TABLE_5 = ComparisonTable("table5", ("gin",), ("sum",), learn=PAPER["table5"].rows)


def _remarks(folder: Path) -> str:
    path = folder / "remarks.md"
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
