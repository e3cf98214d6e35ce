"""The fair protocol: the same folds, seeds and training for both readouts, K by validation, the test folds once."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ssread.data.cross_validation import folds_of
from ssread.data.graphset import GraphSet
from ssread.data.properties import with_properties
from ssread.errors import InputError
from ssread.evaluate.experiment import BASE, POSITIONS, SHARES, Experiment
from ssread.evaluate.keys import aggregation_name
from ssread.evaluate.metrics import score
from ssread.evaluate.report import Cell, Report, selection_rule
from ssread.evaluate.runners import Runner
from ssread.evaluate.statistics import Comparison, compare
from ssread.evaluate.store import Store
from ssread.evaluate.trainer import Trainer, Watch
from ssread.metrics import METRICS
from ssread.published.datasets import TABLE_1
from ssread.published.results import PaperResult, paper_result
from ssread.train.runs import Run, RunResult, Training

__all__ = [
    "best_dropout",
    "best_positions",
    "compare_all",
    "compare_readouts",
    "experiment_rule",
    "settled",
    "trainings",
]

Aggr = str | list[str]


def compare_readouts(
    graphs: GraphSet, experiment: Experiment, runner: Runner, store: Store, watch: Watch = lambda *_: None
) -> Report:
    """Trains every classifier with the global readout and with SSRead, and compares them.

    Results are stored as they arrive; trainings that are already stored are not repeated. Those from a CSV file are,
    if another metric than accuracy is asked for.

    Args:
        graphs: The dataset.
        experiment: What is compared, and how.
        runner: Where trainings run.
        store: Where results are kept.
        watch: Callback, called with (done, total, result).
    """
    return compare_all(graphs, [experiment], runner, store, watch)


def compare_all(
    graphs: GraphSet, experiments: Sequence[Experiment], runner: Runner, store: Store, watch: Watch = lambda *_: None
) -> Report:
    """:func:`compare_readouts` for several experiments in one report; an encoder they share is trained once."""
    for experiment in experiments:
        _check(graphs, experiment)
    rules = {experiment_rule(experiment): experiment.learn for experiment in experiments}
    graphs = with_properties(graphs, [experiment.task for experiment in experiments if experiment.task != "class"])
    only_accuracy = all(experiment.metric == "accuracy" for experiment in experiments)
    trainer = Trainer(graphs, runner, store, watch, only_accuracy)
    to_come = sum(_still_to_come(experiment) for experiment in experiments)
    groups = [_Trainings(settled(experiment, trainer, to_come), trainer) for experiment in experiments]
    if all(group.knows_positions() for group in groups):  # then nothing has to wait for the choice of K
        trainer.train([pair for group in groups for pair in (*group.first(), *group.second())])
    else:
        later = sum(group.later() for group in groups)
        trainer.train([pair for group in groups for pair in group.first()], later)
        trainer.train([pair for group in groups for pair in group.second()])
    rule = "; ".join(rules) if len(rules) == 1 else "; ".join(f"{learn}: {rule}" for rule, learn in rules.items())
    return Report([cell for group in groups for cell in group.cells()], rule, experiments[0].metric)


def trainings(experiment: Experiment, arch: str, aggr: Aggr, positions: int | None) -> list[Run]:
    """Returns every seed and fold of one classifier: with SSRead of K positions, or with the global readout (None)."""
    model: dict[str, Any] = {**experiment.model_of(arch), "name": arch, "aggr": aggr}
    if positions is None:
        model["readout"] = "global"
    else:
        model.update(readout="ssread", num_positions=positions, gamma=experiment.gamma)
        if experiment.position_hops is not None:
            model["position_hops"] = experiment.position_hops
    return [
        Run(model, seed, fold, experiment.folds, learn=experiment.learn, task=experiment.task, split=experiment.split)
        for seed in range(experiment.seeds)
        for fold in range(experiment.folds)
    ]


def experiment_rule(experiment: Experiment) -> str:
    """Returns the protocol of an experiment in one line: see :func:`ssread.evaluate.report.selection_rule`."""
    return selection_rule(
        experiment.training,
        num_folds=experiment.folds,
        num_seeds=experiment.seeds,
        positions_chosen=experiment.positions is None,
        learn=experiment.learn,
        task=experiment.task,
        dropout_chosen=experiment.dropout == "auto",
        split=experiment.split,
        position_hops=experiment.position_hops,
    )


def best_dropout(experiments: Sequence[Experiment], valid_accuracies: Sequence[Sequence[float]]) -> Experiment:
    """Returns the one of :meth:`Experiment.dropouts` with the best mean validation accuracy (never test).

    Args:
        experiments: The experiments.
        valid_accuracies: Those of each experiment's trainings with the global readout that did not fail.
    """
    means = [float(np.mean(group)) if len(group) else -np.inf for group in valid_accuracies]
    return experiments[int(np.argmax(means))]


def best_positions(valid_accuracies: Sequence[Sequence[float]], base: Sequence[str] = BASE) -> int:
    """Returns the K of :data:`POSITIONS` with the best mean validation accuracy (never test); the smaller of equals.

    Args:
        valid_accuracies: Those of the trainings with each K that did not fail.
        base: The classifier that was trained.
    """
    if not all(len(group) for group in valid_accuracies):
        raise InputError(f"K cannot be chosen: every training of {' + '.join(base)} failed; give --positions.")
    return POSITIONS[int(np.argmax([np.mean(group) for group in valid_accuracies]))]


def settled(experiment: Experiment, trainer: Trainer, later: int = 0) -> Experiment:
    """Returns the experiment with its dropout chosen, if it is ``auto``; ``later`` more trainings follow."""
    candidates = experiment.dropouts()
    if len(candidates) == 1:
        return experiment
    groups = [trainings(candidate, *candidate.base, None) for candidate in candidates]
    trainer.train([(run, experiment.training) for group in groups for run in group], later)
    results = [trainer.results(group, experiment.training) for group in groups]
    return best_dropout(candidates, [[r.valid_score for r in group if not r.failed] for group in results])


def _still_to_come(experiment: Experiment) -> int:
    """Returns how many trainings follow once the dropout is chosen; those used for the choice are not repeated."""
    cells = len([cell for cell in experiment.cells() if cell != experiment.base or experiment.dropout != "auto"])
    candidates = len(POSITIONS) if experiment.positions is None else 0
    shared = int(candidates > 0 and experiment.base in experiment.cells())
    return (cells + len(experiment.cells()) - shared + candidates) * experiment.seeds * experiment.folds


class _Trainings:
    """The trainings of one experiment: first those that do not depend on the chosen K, then those that do."""

    def __init__(self, experiment: Experiment, trainer: Trainer):
        self.experiment, self._trainer = experiment, trainer
        self._globals = [trainings(experiment, arch, aggr, None) for arch, aggr in experiment.cells()]
        chosen = experiment.positions is None
        self._candidates = [trainings(experiment, *experiment.base, k) for k in POSITIONS] if chosen else []

    def knows_positions(self) -> bool:
        """Whether K is given, or all trainings that choose it are stored."""
        return not self._trainer.missing(self._paired(self._candidates))

    def first(self) -> list[tuple[Run, Training]]:
        """Returns the trainings with the global readout, and those with every candidate for K."""
        return self._paired([*self._globals, *self._candidates])

    def later(self) -> int:
        """Returns how many trainings :meth:`second` adds to these."""
        shared = self.experiment.base if self._candidates else None
        return sum(
            len(runs) for cell, runs in zip(self.experiment.cells(), self._globals, strict=True) if cell != shared
        )

    def second(self) -> list[tuple[Run, Training]]:
        """Returns the trainings with SSRead."""
        return self._paired(self._ssreads)

    def cells(self) -> list[Cell]:
        """Returns the comparisons of both readouts."""
        experiment, graphs = self.experiment, self._trainer.graphs
        return [
            Cell(
                graphs.name,
                arch,
                aggregation_name(arch, aggr),
                self._positions,
                self._comparison(before, after),
                paper_global=_paper(graphs, experiment, arch, aggr, "global"),
                paper_ssread=_paper(graphs, experiment, arch, aggr, "ssread"),
                learn=experiment.learn,
                task=experiment.task,
            )
            for (arch, aggr), before, after in zip(experiment.cells(), self._globals, self._ssreads, strict=True)
        ]

    @cached_property
    def _positions(self) -> int:
        return self.experiment.positions or best_positions(
            [[r.valid_score for r in self._results(group) if not r.failed] for group in self._candidates],
            self.experiment.base,
        )

    @cached_property
    def _ssreads(self) -> list[list[Run]]:
        return [trainings(self.experiment, arch, aggr, self._positions) for arch, aggr in self.experiment.cells()]

    def _paired(self, groups: Sequence[Sequence[Run]]) -> list[tuple[Run, Training]]:
        return [(run, self.experiment.training) for group in groups for run in group]

    def _results(self, runs: Sequence[Run]) -> list[RunResult]:
        return self._trainer.results(runs, self.experiment.training)

    def _comparison(self, before: Sequence[Run], after: Sequence[Run]) -> Comparison:
        ratio, margin = self.experiment.test_to_train, self.experiment.margin / 100
        return compare(self._scores(before), self._scores(after), test_to_train=ratio, margin=margin)

    def _scores(self, runs: Sequence[Run]) -> np.ndarray:
        """Returns the metric on the test folds, [seeds, folds]."""
        values = [score(result, self.experiment.metric) for result in self._results(runs)]
        return np.array(values).reshape(self.experiment.seeds, self.experiment.folds)


def _check(graphs: GraphSet, experiment: Experiment) -> None:
    """Raises errors that would otherwise occur only after hours of training."""
    if graphs.y is None and experiment.learn != "supervised":
        raise InputError(
            f"{graphs.name} has no labels: {experiment.learn} learns without them (ssread.train.unsupervised.learn "
            "returns the graph vectors), but to evaluate them, every graph needs a class."
        )
    fitting = [name for name in SHARES if graphs.task in METRICS[name].tasks]
    if experiment.task == "class" and experiment.metric not in fitting:
        raise InputError(
            f"{graphs.name} is a task of {graphs.task}, which cannot be compared by {experiment.metric}: choose "
            f"--metric {' or '.join(fitting)}."
        )
    folds_of(graphs, experiment.split, experiment.folds, seed=0)
    largest = int(graphs.node_counts.max())
    if experiment.positions is not None and experiment.positions > largest:
        raise InputError(
            f"{experiment.positions} positions are more than the {largest} nodes of the largest graph of "
            f"{graphs.name}; choose fewer."
        )


def _paper(graphs: GraphSet, experiment: Experiment, arch: str, aggr: Aggr, readout: str) -> PaperResult | None:
    """Returns the paper's figure if metric and dataset are the same (and not just the dataset's name)."""
    same = any(row.name == graphs.name and row.agrees_with(graphs.statistics()) for row in TABLE_1)
    comparable = same and experiment.metric == "accuracy" and experiment.task == "class"
    return paper_result(graphs.name, arch, aggr, readout, experiment.learn) if comparable else None
