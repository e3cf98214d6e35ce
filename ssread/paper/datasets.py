"""The paper's datasets one after another: that with the least to do first, and none stops the others."""

from collections.abc import Callable, Sequence

import pandas as pd

from ssread.data.graphset import GraphSet
from ssread.data.load import load
from ssread.errors import InputError
from ssread.evaluate.experiment import Experiment
from ssread.evaluate.progress import TrainingProgress
from ssread.evaluate.trainer import Watch
from ssread.paper.registry import Context
from ssread.paper.stored_results import StoredResults
from ssread.published.datasets import TABLE_1

__all__ = ["nearly_done_first", "paper_dataset", "train_datasets"]


def train_datasets(
    context: Context, datasets: Sequence[str], experiment: Experiment, work: Callable[[GraphSet, Watch], None]
) -> list[str]:
    """Does the work of every dataset; nothing where the context says not to train.

    Args:
        context: What the work is done with.
        datasets: Their names.
        experiment: Whose trainings are counted to see which dataset lacks least.
        work: Given a dataset, and whom to tell of progress.

    Returns:
        A sentence for every dataset that could not be done, to be raised when the others have been shown.
    """
    if not context.train:
        return []
    context.console.print(f"On {context.runner!r}", markup=False, highlight=False)
    problems = []
    for dataset in nearly_done_first(context.trainings(), datasets, experiment):
        try:
            graphs = paper_dataset(dataset)
            with TrainingProgress(dataset, context.console) as live:
                work(graphs, live.watch)
        except InputError as error:
            problems.append(f"{dataset} is not done: {error}")
            context.console.print(problems[-1], markup=False, highlight=False)
    return problems


def nearly_done_first(rows: pd.DataFrame, datasets: Sequence[str], experiment: Experiment) -> list[str]:
    """Datasets by how many trainings of an experiment they lack; among equals the smaller first."""
    sizes = {row.name: row.graphs * row.mean_nodes for row in TABLE_1}

    def lacks(dataset: str) -> tuple[int, float]:
        done, total = StoredResults(rows, dataset, experiment).progress()
        return total - done, sizes[dataset]

    return sorted(datasets, key=lacks)


def paper_dataset(name: str) -> GraphSet:
    """A dataset of the paper, loaded; a sentence where what has this name is another one."""
    graphs = load(name)
    row = next(row for row in TABLE_1 if row.name == name)
    if not row.agrees_with(graphs.statistics()):
        raise InputError(
            f"What is here as {name} is not the paper's dataset: its sizes differ from Table I (ssread datasets shows "
            "both). Remove it from the data folder or the mirror."
        )
    return graphs
