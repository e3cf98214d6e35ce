"""Choosing a model by cross-validation within a budget of trainings, before the final training."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssread.apply.quality import FoldPredictions, fold_predictions, quality
from ssread.apply.search import SPACE, Candidate, make_candidate, num_trainings, rounds
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.evaluate.runners import Runner
from ssread.evaluate.store import Store
from ssread.evaluate.trainer import Trainer, Watch
from ssread.metrics import METRICS
from ssread.train.runs import Run, RunResult, Training

__all__ = ["Choice", "choose", "structure_blind"]


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen candidate, its test predictions of every fold, and its cross-validation as plain data."""

    candidate: Candidate
    folds: list[FoldPredictions]
    cross_validation: dict[str, Any]


@dataclass
class _Tried:
    """A candidate with its results so far, one per fold."""

    candidate: Candidate
    results: list[RunResult]

    @property
    def failed(self) -> str:
        return next((result.failed for result in self.results if result.failed), "")

    def quality(self, metric: str) -> tuple[float, float]:
        """The mean metric on the validation parts and minus the mean loss there, more is better."""
        if self.failed:
            return -np.inf, -np.inf
        mean = float(np.mean([METRICS[metric].quality(result.valid_score) for result in self.results]))
        return mean, -float(np.mean([result.valid_loss for result in self.results]))


def choose(
    graphs: GraphSet,
    tried: Sequence[Candidate],
    training: Training,
    *,
    folds: int,
    seed: int,
    balanced: bool,
    split: str,
    runner: Runner,
    store: Store,
    watch: Watch = lambda *_: None,
    extend: Callable[[float], Sequence[Candidate]] | None = None,
) -> Choice:
    """Trains candidates on more and more folds, keeps the better ones, and estimates how good the best is.

    All are trained on the first fold, the best third on a second one, the best two on all. The mean of the metric
    ``training.selection`` on the validation parts decides (ties: their loss), never the test folds; these are evaluated
    once, for the chosen candidate. What the store has is not trained again.

    Args:
        graphs: The labelled graphs.
        tried: The candidates.
        training: How they are trained, but for the learning rate.
        folds: The number of folds.
        seed: Of the folds and of all random numbers.
        balanced: Whether every class has the same weight.
        split: How folds are drawn.
        runner: Where trainings run.
        store: Where results are kept.
        watch: Callback, called with (done, total, result).
        extend: Called with the mean time of the trainings of ``tried`` on the first fold, in seconds; returns all
            candidates, ``tried`` first. For a budget of time.
    """
    metric = training.selection
    trainer = Trainer(graphs, runner, store, watch)
    if extend is not None:
        first = [
            (_run(candidate, 0, folds, seed, balanced, split), _at_rate(training, candidate)) for candidate in tried
        ]
        trainer.train(first)
        tried = extend(float(np.mean([trainer.results([run], rated)[0].seconds for run, rated in first])))
    left = everything = [_Tried(candidate, []) for candidate in tried]
    to_come, before = num_trainings(len(tried), folds), 0
    for count, upto in rounds(len(tried), folds):
        if before:
            left = sorted(left, key=lambda one: one.quality(metric), reverse=True)[:count]
        runs = [[_run(one.candidate, fold, folds, seed, balanced, split) for fold in range(upto)] for one in left]
        trainings = [_at_rate(training, one.candidate) for one in left]
        to_come -= count * (upto - before)
        pairs = zip(runs, trainings, strict=True)
        trainer.train([(run, rated) for group, rated in pairs for run in group], later=to_come)
        for one, group, rated in zip(left, runs, trainings, strict=True):
            one.results = trainer.results(group, rated)
        before = upto
    usable = [one for one in left if not one.failed]
    if not usable:
        raise InputError(f"Every training on {graphs.name} failed: {left[0].failed}.")
    best = max(usable, key=lambda one: one.quality(metric))
    listed = [
        {
            "name": one.candidate.name,
            "folds": len(one.results),
            "score": None if one.failed else float(np.mean([result.valid_score for result in one.results])),
            "chosen": one is best,
        }
        for one in everything
    ]
    predicted = fold_predictions(best.results)
    found = {"folds": folds, "seed": seed, "split": split, **quality(graphs, predicted, metric)}
    found["trainings"] = sum(len(one.results) for one in everything)
    return Choice(best.candidate, predicted, {**found, "candidates": listed})


def structure_blind(
    graphs: GraphSet,
    training: Training,
    *,
    folds: int,
    seed: int,
    balanced: bool,
    split: str,
    runner: Runner,
    store: Store,
) -> list[FoldPredictions]:
    """Returns the test predictions of a model that ignores the edges, trained like the others on every fold.

    An MLP on the features of every node, their sum, and an MLP on that, in its usual settings: no search. Empty if a
    training failed.
    """
    blind = make_candidate("structure_blind", "global", None, {name: v[0] for name, v in SPACE.items()}, sizes=False)
    runs = [_run(blind, fold, folds, seed, balanced, split) for fold in range(folds)]
    trainer = Trainer(graphs, runner, store)
    trainer.train([(run, _at_rate(training, blind)) for run in runs])
    results = trainer.results(runs, _at_rate(training, blind))
    return [] if any(result.failed for result in results) else fold_predictions(results)


def _run(candidate: Candidate, fold: int, folds: int, seed: int, balanced: bool, split: str) -> Run:
    return Run(candidate.model, seed, fold, folds, balanced=balanced, split=split)


def _at_rate(training: Training, candidate: Candidate) -> Training:
    return dataclasses.replace(training, learning_rate=candidate.learning_rate)
