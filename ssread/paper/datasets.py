"""The paper's datasets, loaded and trained one after another."""

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

__all__ = ["least_missing_first", "paper_dataset", "train_datasets"]


def train_datasets(
    context: Context, datasets: Sequence[str], experiment: Experiment, train: Callable[[GraphSet, Watch], None]
) -> list[str]:
    """Calls ``train`` for every dataset, the one that lacks least first; does nothing if ``context.train`` is False.

    A dataset that cannot be loaded or trained does not stop the others.

    Args:
        context: What the table or figure is made with.
        datasets: Names of the datasets.
        experiment: The experiment whose missing trainings are counted.
        train: Called with a dataset and a progress callback.

    Returns:
        A sentence for every dataset that failed, to be raised once the results of the others are shown.
    """
    if not context.train:
        return []
    context.print_line(f"On {context.runner!r}")
    problems = []
    for dataset in least_missing_first(context.trainings(), datasets, experiment):
        try:
            graphs = paper_dataset(dataset)
            with TrainingProgress(dataset, context.console) as progress:
                train(graphs, progress.watch)
        except InputError as error:
            problems.append(f"{dataset} failed: {error}")
            context.print_line(problems[-1])
    return problems


def least_missing_first(rows: pd.DataFrame, datasets: Sequence[str], experiment: Experiment) -> list[str]:
    """Datasets by the number of missing trainings of an experiment; ties: the smaller dataset first."""
    sizes = {row.name: row.graphs * row.mean_nodes for row in TABLE_1}

    def missing(dataset: str) -> tuple[int, float]:
        done, total = StoredResults(rows, dataset, experiment).progress()
        return total - done, sizes[dataset]

    return sorted(datasets, key=missing)


def paper_dataset(name: str) -> GraphSet:
    """Loads a dataset of the paper; raises an ``InputError`` if its sizes are not those of Table I."""
    graphs = load(name)
    row = next(row for row in TABLE_1 if row.name == name)
    if not row.agrees_with(graphs.statistics()):
        raise InputError(
            f"This {name} is not the paper's dataset: its sizes differ from Table I (ssread datasets shows both). "
            "Remove it from the data folder or the mirror."
        )
    return graphs
