"""``ssread compare`` as a function: load a dataset, compare both readouts, store the trainings, report."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from ssread.apply.graph_inputs import read_usable
from ssread.apply.reading_notes import reading_notes
from ssread.common.files import write_json, write_text
from ssread.common.workers import one_thread
from ssread.data.cross_validation import num_file_folds, with_split
from ssread.data.duplicates import find_copies
from ssread.data.properties import with_properties
from ssread.evaluate.experiment import experiments_of
from ssread.evaluate.progress import TrainingProgress
from ssread.evaluate.protocol import compare_all, settled
from ssread.evaluate.report import Report
from ssread.evaluate.runners import local_device, make_runner
from ssread.evaluate.store import Store
from ssread.evaluate.trainer import Trainer
from ssread.paper.figure4 import draw as draw_properties
from ssread.report.comparison_page import write_comparison_page

__all__ = ["Saved", "compare_dataset"]


class Saved:
    """The files of a comparison, in one folder."""

    def __init__(self, folder: str | os.PathLike[str], dataset: str, kind: str = ""):
        self.folder = Path(folder)
        stem = Path(dataset).stem + (f"-{kind}" if kind else "")
        self.store = self.folder / "results.sqlite"
        self.markdown = self.folder / f"compare-{stem}.md"
        self.json = self.folder / f"compare-{stem}.json"
        self.page = self.folder / f"compare-{stem}-report.html"
        self.to_look_at: list[Path] = []

    def write(self, report: Report) -> None:
        """Writes the report as Markdown and JSON, each file all or nothing."""
        write_text(self.markdown, report.markdown())
        write_json(self.json, report.as_dict())


def compare_dataset(
    dataset: str,
    settings: Mapping[str, Any],
    *,
    data: Mapping[str, Any] | None = None,
    device: str = "auto",
    workers: int | None = None,
    on: str = "here",
    out: str | os.PathLike[str] = "runs",
    console: Console | None = None,
    on_error: str = "skip",
) -> tuple[Report, Saved]:
    """Trains both readouts under the fair protocol and reports whether SSRead helps on this dataset.

    Args:
        dataset: Anything :func:`ssread.data.load` takes.
        settings: The fields of :class:`ssread.evaluate.experiment.Experiment` and of :class:`ssread.train.Training`;
            ``learn`` and ``task`` may name several, ``split`` may be a JSON file of folds.
        data: Options for loading the dataset, such as the ``smiles`` and ``label`` columns.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one.
        workers: Worker processes, by default one per core on a CPU and at most 3 on a GPU.
        on: ``here``, or a Ray cluster: ``ray`` for the one this machine belongs to, ``ray://host:port`` for another.
        out: The folder that keeps the results; the same comparison continues there.
        console: Where progress is shown, by default standard error.
        on_error: ``"skip"``: rows that cannot be used are left out, and listed in ``compare-NAME.skipped.csv`` in
            ``out``; ``"raise"``: they raise an error.

    Returns:
        The report, and the files that were written.
    """
    console = console or Console(stderr=True)
    experiments = experiments_of(settings)
    split = experiments[0].split
    graphs, split = with_split(read_usable(dataset, on_error, split, **(data or {})), split)
    folds = num_file_folds(graphs) or experiments[0].folds
    experiments = [replace(experiment, split=split, folds=folds) for experiment in experiments]
    tasks = [experiment.task for experiment in experiments if experiment.task != "class"]
    graphs = with_properties(graphs, tasks, lambda text: console.print(text, markup=False, highlight=False))
    runner = make_runner(device, workers, on, lambda text: console.print(text, markup=False))
    unsupervised = dict.fromkeys(experiment.learn for experiment in experiments if experiment.learn != "supervised")
    saved = Saved(out, graphs.name, "properties" if tasks else "-".join(unsupervised))
    for text in (f"{graphs!r}, on {runner!r}", *reading_notes(graphs, find_copies(graphs), saved.markdown)):
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    started = time.perf_counter()
    with Store(saved.store) as store:
        with TrainingProgress(graphs.name, console) as live:
            report = compare_all(graphs, experiments, runner, store, live.watch)
        saved.write(report)
        if tasks:
            saved.to_look_at += draw_properties(report.cells, saved.markdown.with_suffix(""))
        if not any(experiment.linear for experiment in experiments):
            console.print("training the model that the page shows", highlight=False)
            trainer = Trainer(graphs, runner, store, only_accuracy=True)  # its test results are not read
            compared = settled(experiments[0], trainer)  # with the dropout that was chosen
            with one_thread():  # the same page whenever it is made
                write_comparison_page(saved.page, graphs, compared, report, store, local_device(runner))
            saved.to_look_at.append(saved.page)
    console.print(f"{time.perf_counter() - started:.0f} s", highlight=False)
    return report, saved
