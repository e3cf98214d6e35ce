"""Tables III and IV: both readouts on every dataset, trained under the fair protocol, beside the paper's figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.protocol import Watch, compare_readouts
from ssread.evaluate.question import Question
from ssread.evaluate.report import selection_rule
from ssread.paper.datasets import train_datasets
from ssread.paper.evidence import Evidence
from ssread.paper.items import DATASETS, Context, Progress, heading
from ssread.paper.sheet import Sheet
from ssread.paper.writing import read_trainings, write_csv, write_json, write_text

__all__ = ["TABLE_3", "TABLE_4", "ComparisonTable"]


@dataclass(frozen=True)
class ComparisonTable:
    """A table of the paper with both readouts.

    Attributes:
        name: By which it is asked for.
        arch: Its architectures.
        aggr: Its aggregations; none for every architecture's own.
    """

    name: str
    arch: tuple[str, ...]
    aggr: tuple[str, ...] = ()

    def progress(self, context: Context) -> Progress:
        """How many of the trainings of the chosen datasets and rows the store has."""
        question, rows = self._question(context), context.trainings()
        counts = [Evidence(rows, dataset, question).progress() for dataset in context.chosen_datasets()]
        return Progress(sum(done for done, _ in counts), sum(total for _, total in counts))

    def run(self, context: Context) -> list[Path]:
        """Trains what is missing, the dataset with the least missing first; the table is written after every one."""
        question = self._question(context)
        chosen = context.chosen_datasets()

        def train(graphs: GraphSet, watch: Watch) -> None:
            compare_readouts(graphs, question, context.runner, context.store, watch)
            self._write(context)

        problems = train_datasets(context, chosen, question, train)
        files = self._write(context)
        context.console.print(self._sheet(context.trainings(), question, chosen).table())
        if problems:
            raise InputError(" ".join(problems))
        return files

    def page(self, folder: Path) -> str:
        """The table in Markdown from every CSV file of trainings in a folder, with the remarks there."""
        rows = read_trainings(sorted(folder.glob("*.csv")))
        return self._sheet(rows, Question(self.arch, self.aggr), DATASETS, _remarks(folder)).markdown()

    def _write(self, context: Context) -> list[Path]:
        """The whole table, whatever part of it was asked for."""
        folder, rows = context.folder(self.name), context.trainings()
        question = Question.of({"arch": self.arch, "aggr": self.aggr, **context.settings})
        sheet = self._sheet(rows, question, DATASETS, _remarks(folder))
        used = [Evidence(rows, dataset, question).used() for dataset in DATASETS]
        return [
            write_text(folder / f"{self.name}.md", sheet.markdown()),
            write_json(folder / f"{self.name}.json", sheet.as_dict()),
            write_csv(folder / "runs.csv", pd.concat(used)),
        ]

    def _sheet(self, rows: pd.DataFrame, question: Question, datasets: Sequence[str], remarks: str = "") -> Sheet:
        cells = [cell for dataset in datasets for cell in Evidence(rows, dataset, question).cells()]
        chosen = question.positions is None
        rule = selection_rule(
            question.training, num_folds=question.folds, num_seeds=question.seeds, positions_chosen=chosen
        )
        return Sheet(heading(self.name), cells, rule, remarks)

    def _question(self, context: Context) -> Question:
        """What the chosen rows ask: rows are aggregations where there are several, else architectures."""
        rows = {"aggr": context.chosen_rows(self.aggr)} if self.aggr else {"arch": context.chosen_rows(self.arch)}
        return Question.of({"arch": self.arch, "aggr": self.aggr, **rows, **context.settings})


TABLE_3 = ComparisonTable("table3", ("gcn",), ("sum", "max", "mean", "attention", "set2set", "sort"))
TABLE_4 = ComparisonTable("table4", ("gin", "dgcnn", "diffpool", "sagpool", "gunet"))


def _remarks(folder: Path) -> str:
    path = folder / "remarks.md"
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
