"""The fair protocol: the same folds, seeds and training for both readouts, K by validation, the test folds once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ssread.data.graphset import GraphSet
from ssread.data.splits import stratified_folds
from ssread.data.table1 import TABLE_1
from ssread.errors import InputError
from ssread.evaluate.keys import identify, run_key
from ssread.evaluate.metrics import score
from ssread.evaluate.question import BASE, POSITIONS, Question
from ssread.evaluate.report import Cell, Report, selection_rule
from ssread.evaluate.runners import Runner
from ssread.evaluate.statistics import compare
from ssread.evaluate.store import Store, aggregation_name
from ssread.paper.results import PaperResult, paper_result
from ssread.train.runs import Run, RunResult

__all__ = ["Watch", "best_positions", "compare_readouts", "trainings"]

#: Told what is to be done (with how much of it the store has), and then of every result.
Watch = Callable[[int, int, RunResult | None], None]

Aggr = str | list[str]


def compare_readouts(
    graphs: GraphSet, question: Question, runner: Runner, store: Store, watch: Watch = lambda *_: None
) -> Report:
    """Trains every classifier with the global readout and with SSRead, and compares them.

    Results go into the store as they come; what it has already is not trained again.

    Args:
        graphs: The dataset.
        question: What is compared, and how.
        runner: Where trainings happen.
        store: Where results are kept.
        watch: Told of progress: how many trainings are done, of how many, and the newest result.
    """
    _check(graphs, question)
    asked = _Asked(graphs, question, runner, store, watch)
    cells = question.cells()
    globals_ = [asked.runs(arch, aggr, None) for arch, aggr in cells]
    candidates = [asked.runs(*BASE, k) for k in POSITIONS] if question.positions is None else []
    later = sum(len(runs) for cell, runs in zip(cells, globals_, strict=True) if not (candidates and cell == BASE))
    asked.train([run for group in [*globals_, *candidates] for run in group], later)
    positions = question.positions or best_positions([asked.valid_accuracies(group) for group in candidates])
    ssreads = [asked.runs(arch, aggr, positions) for arch, aggr in cells]
    asked.train([run for group in ssreads for run in group])
    report_cells = []
    for (arch, aggr), before, after in zip(cells, globals_, ssreads, strict=True):
        name = aggregation_name(arch, aggr)
        report_cells.append(
            Cell(
                graphs.name,
                arch,
                name,
                positions,
                compare(asked.scores(before), asked.scores(after)),
                *(_paper(graphs, question, arch, aggr, readout) for readout in ("global", "ssread")),
            )
        )
    rule = selection_rule(
        question.training,
        num_folds=question.folds,
        num_seeds=question.seeds,
        positions_chosen=question.positions is None,
    )
    return Report(report_cells, rule, question.metric)


def trainings(question: Question, arch: str, aggr: Aggr, positions: int | None) -> list[Run]:
    """Every seed and fold of one classifier: with SSRead of K positions, or with the global readout (None)."""
    model: dict[str, Any] = {**question.model, "name": arch, "aggr": aggr}
    if positions is None:
        model["readout"] = "global"
    else:
        model.update(readout="ssread", num_positions=positions, gamma=question.gamma)
    return [Run(model, seed, fold, question.folds) for seed in range(question.seeds) for fold in range(question.folds)]


def best_positions(valid_accuracies: Sequence[Sequence[float]]) -> int:
    """The K of :data:`POSITIONS` with the best mean validation accuracy (never test); among equals the smaller.

    Args:
        valid_accuracies: Of the trainings with each K that did not fail.
    """
    if not all(len(group) for group in valid_accuracies):
        raise InputError(f"K cannot be chosen: every training of {' + '.join(BASE)} failed; give --positions.")
    return POSITIONS[int(np.argmax([np.mean(group) for group in valid_accuracies]))]


class _Asked:
    """The trainings a question asks for, and their way into the store."""

    def __init__(self, graphs: GraphSet, question: Question, runner: Runner, store: Store, watch: Watch):
        self._graphs, self._question, self._runner, self._store, self._watch = graphs, question, runner, store, watch
        self._dataset = identify(graphs)
        self._done: set[str] = set()

    def runs(self, arch: str, aggr: Aggr, positions: int | None) -> list[Run]:
        """Every seed and fold of one classifier."""
        return trainings(self._question, arch, aggr, positions)

    def train(self, runs: Sequence[Run], later: int = 0) -> None:
        """Trains what the store does not have yet; ``later`` more trainings are to follow."""
        by_key = {self._key(run): run for run in runs}
        there = self._store.has(by_key)
        self._done |= there
        total = len(self._done | by_key.keys()) + later
        self._watch(len(self._done), total, None)
        missing = [run for key, run in by_key.items() if key not in there]
        if not missing:
            return
        for result in self._runner.train(self._graphs, missing, self._question.training):
            self._store.add(self._dataset, result, self._question.training, self._runner.device)
            self._done.add(self._key(result.run))
            self._watch(len(self._done), total, result)

    def valid_accuracies(self, runs: Sequence[Run]) -> list[float]:
        """The validation accuracies of the runs that did not fail."""
        return [result.valid_accuracy for result in self.results(runs) if not result.failed]

    def results(self, runs: Sequence[Run]) -> list[RunResult]:
        """The stored results of runs, in their order."""
        keys = [self._key(run) for run in runs]
        results = self._store.results(keys)
        return [results[key] for key in keys]

    def scores(self, runs: Sequence[Run]) -> np.ndarray:
        """The metric on the test folds, [seeds, folds]."""
        values = [score(result, self._question.metric) for result in self.results(runs)]
        return np.array(values).reshape(self._question.seeds, self._question.folds)

    def _key(self, run: Run) -> str:
        return run_key(self._dataset, run, self._question.training)


def _check(graphs: GraphSet, question: Question) -> None:
    """What would only come to light in the middle of the work."""
    stratified_folds(graphs, question.folds)
    largest = int(graphs.node_counts.max())
    if question.positions is not None and question.positions > largest:
        raise InputError(
            f"{question.positions} positions are more than the {largest} nodes of the largest graph of {graphs.name}; "
            f"choose fewer."
        )


def _paper(graphs: GraphSet, question: Question, arch: str, aggr: Aggr, readout: str) -> PaperResult | None:
    """The paper's figure, where ours is of the same metric on the same dataset (and not on one of the same name)."""
    same = any(row.name == graphs.name and row.agrees_with(graphs.statistics()) for row in TABLE_1)
    return paper_result(graphs.name, arch, aggr, readout) if same and question.metric == "accuracy" else None
