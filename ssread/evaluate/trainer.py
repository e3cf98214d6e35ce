"""Trains runs into the results store; trainings that are already stored are not repeated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ssread.data.graphset import GraphSet
from ssread.evaluate.keys import SELECTIONS, identify, run_key
from ssread.evaluate.runners import Runner
from ssread.evaluate.store import Store
from ssread.train.runs import Run, RunResult, Training

__all__ = ["Trainer", "Watch"]

#: Callback, called with (done, total, result): once at the start, with None, then for every result.
Watch = Callable[[int, int, RunResult | None], None]


class Trainer:
    """Trains runs on a dataset and keeps their results.

    Args:
        graphs: The dataset.
        runner: Where trainings run.
        store: Where results are kept, as they arrive.
        watch: Callback, called with (done, total, result).
        only_accuracy: Whether accuracies are all that is read of the results. Then trainings from a CSV file count as
            stored; else they are trained again, since their predictions are missing.
    """

    def __init__(
        self,
        graphs: GraphSet,
        runner: Runner,
        store: Store,
        watch: Watch = lambda *_: None,
        only_accuracy: bool = False,
    ):
        self.graphs, self._runner, self._store, self._watch = graphs, runner, store, watch
        self._only_accuracy = only_accuracy
        self._dataset = identify(graphs)
        self._done: set[str] = set()

    def train(self, trainings: Sequence[tuple[Run, Training]], later: int = 0) -> None:
        """Trains what is not stored yet; ``later`` more trainings will follow, which count towards the total."""
        by_key = {run_key(self._dataset, run, training): (run, training) for run, training in trainings}
        stored = self._stored(by_key)
        self._done |= stored
        total = len(self._done | by_key.keys()) + later
        self._watch(len(self._done), total, None)
        missing: dict[Training, list[Run]] = {}
        for key, (run, training) in by_key.items():
            if key not in stored:
                missing.setdefault(training, []).append(run)
        for training, runs in missing.items():
            for result in self._runner.train(self.graphs, runs, training):
                self._store.add(self._dataset, result, training, self._runner.device)
                self._done.add(run_key(self._dataset, result.run, training))
                self._watch(len(self._done), total, result)

    def missing(self, trainings: Sequence[tuple[Run, Training]]) -> int:
        """Returns how many trainings are not stored yet."""
        by_key = {run_key(self._dataset, run, training): (run, training) for run, training in trainings}
        return len(by_key) - len(self._stored(by_key))

    def _stored(self, by_key: Mapping[str, tuple[Run, Training]]) -> set[str]:
        """Returns which trainings need not be repeated."""
        with_curves = {  # the metric that chose their epoch is in the curves
            key for key, (_, training) in by_key.items() if training.selection not in SELECTIONS
        }
        complete = with_curves if self._only_accuracy else set(by_key)
        return self._store.has(complete, complete=True) | self._store.has(by_key.keys() - complete)

    def results(self, runs: Sequence[Run], training: Training) -> list[RunResult]:
        """Returns the stored results of runs, in their order."""
        keys = [run_key(self._dataset, run, training) for run in runs]
        results = self._store.results(keys)
        return [results[key] for key in keys]
