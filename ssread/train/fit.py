"""Training with early stopping: the same loop for one model and for a stack of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from ssread.data.cross_validation import fold_of
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold
from ssread.data.task_names import CLASSIFICATION, REGRESSION
from ssread.errors import InputError
from ssread.metrics import METRICS, check_metric, evaluate
from ssread.models.predictions import predictions
from ssread.train.batch_plans import full_plan, large_batches_together, pad
from ssread.train.best_epoch import BestEpoch
from ssread.train.cohort import Cohort
from ssread.train.costs import costs, mean_and_scale
from ssread.train.engine import Engine, State
from ssread.train.runs import Run, RunResult, Training
from ssread.train.seeds import Stream, seeded
from ssread.train.single import Single

__all__ = ["Checkpoint", "Loop", "Progress", "fit", "fold_of_run", "train"]

#: Callback, called after every epoch with (run, epoch, validation accuracy).
Progress = Callable[[Run, int, float], None]

#: Callback, called with a run that has stopped without failing and its chosen weights.
KeepWeights = Callable[[Run, State], None]

CURVES = ("train_loss", "alignment_loss", "valid_accuracy", "valid_loss")


def train(
    graphs: GraphSet,
    runs: Sequence[Run],
    training: Training | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda _: None,
    weights: KeepWeights | None = None,
    folds: Sequence[Fold] | None = None,
) -> list[RunResult]:
    """Trains every run, and evaluates it once on the test part of its fold.

    On a CPU, runs are trained one after another with torch's own kernels; on a GPU, together as one stack of models.
    The result of a run is the same either way, up to rounding and dropout.

    Args:
        graphs: The dataset.
        runs: Runs whose models have equal shapes.
        training: How they are trained; by default as in the paper.
        device: ``cpu`` or ``cuda``.
        progress: Called after every epoch of every run.
        say: Called with a sentence if the GPU cannot be used as intended.
        weights: As for :func:`fit`.
        folds: The fold of every run, by default the one that its seed and number determine.
    """
    training = training or Training()
    folds = folds or [fold_of_run(graphs, run) for run in runs]
    if torch.device(device).type == "cpu":
        engines = ((Single(graphs, run, training), [run], [fold]) for run, fold in zip(runs, folds, strict=True))
        return [
            result
            for engine, run, fold in engines
            for result in fit(engine, graphs, run, fold, training, progress, weights)
        ]
    return fit(Cohort(graphs, runs, training, device, say), graphs, runs, folds, training, progress, weights)


def fit(
    engine: Engine,
    graphs: GraphSet,
    runs: Sequence[Run],
    folds: Sequence[Fold],
    training: Training,
    progress: Progress | None = None,
    weights: KeepWeights | None = None,
    checkpoint: Checkpoint | None = None,
) -> list[RunResult]:
    """Trains the models of an engine until each has stopped; returns results in the order of ``runs``.

    Args:
        engine: The models.
        graphs: The dataset.
        runs: The run of every model.
        folds: The fold of every run; its test part may be empty.
        training: How they are trained.
        progress: Called after every epoch of every run.
        weights: Called with every run that stopped without failing, and its chosen weights.
        checkpoint: Where an interrupted training continues from; written after every epoch but the last. Models that
            have stopped then stay in the engine until all have, so that the stack is always the same.
    """
    loop = Loop(engine, graphs, runs, folds, training)
    done = 0 if checkpoint is None else checkpoint.restore(loop)
    for epoch in range(done + 1, training.epochs + 1):
        loop.run_epoch(epoch, progress)
        if checkpoint is not None and loop.any_active:
            checkpoint.keep(loop, epoch)
        elif loop.mostly_stopped:
            loop.release_stopped(weights)
        if not loop.models:
            break
    return [loop.results[number] for number in range(len(runs))]


def fold_of_run(graphs: GraphSet, run: Run) -> Fold:
    """Returns the training, validation and test part of a run."""
    return fold_of(graphs, run.split, run.num_folds, run.seed, run.fold)


class Checkpoint(Protocol):
    """Where an interrupted training continues from."""

    def restore(self, loop: Loop) -> int:
        """Restores the models and the loop; returns the number of epochs done, 0 for a new training."""

    def keep(self, loop: Loop, epoch: int) -> None:
        """Called after every epoch that is not the last."""


class Loop:
    """The state of a training.

    Attributes:
        generators: The random generator of every run's order of graphs.
        curves: The curves of every run, a value per epoch.
        best: The best epoch of every model.
        models: The number of the run that each model of the engine belongs to.
        active: Which models have not stopped, [R].
        failed: Which models have a loss that is not a number, [R].
        results: The results of the runs that have stopped, by number.
    """

    def __init__(
        self, engine: Engine, graphs: GraphSet, runs: Sequence[Run], folds: Sequence[Fold], training: Training
    ):
        assert graphs.y is not None
        if training.selection in METRICS:
            check_metric(training.selection, graphs.task)
        elif training.selection == "seen" and graphs.task != CLASSIFICATION:
            raise InputError("selection='seen' chooses by accuracy, which needs classes.")
        engine.learn_from([fold.train for fold in folds])
        self._engine, self._graphs, self._runs, self._folds, self._training = engine, graphs, runs, folds, training
        self._labels = graphs.y.cpu()
        self._scale = mean_and_scale(self._labels)[1] if graphs.task == REGRESSION else None
        self._started = time.perf_counter()
        self.generators = [torch.Generator().manual_seed(seeded(run, Stream.ORDER)) for run in runs]
        self._metric = training.selection if training.selection in METRICS.keys() - {"accuracy"} else None
        names = CURVES if self._metric is None else (*CURVES, "valid_score")
        self.curves: list[dict[str, list[float]]] = [{name: [] for name in names} for _ in runs]
        self.best = BestEpoch(len(runs), training.selection)
        self.models = list(range(len(runs)))
        self.results: dict[int, RunResult] = {}
        self._set_parts()
        self.active = torch.ones(len(runs), dtype=torch.bool)
        self.failed = torch.zeros(len(runs), dtype=torch.bool)

    @property
    def any_active(self) -> bool:
        """Whether a model has not stopped yet."""
        return bool(self.active.any())

    @property
    def mostly_stopped(self) -> bool:
        """Whether at least half of the models have stopped. Until then they keep training, results ignored: rebuilding
        the stack would cost more."""
        return int(self.active.sum()) <= len(self.models) // 2

    def run_epoch(self, epoch: int, progress: Progress | None) -> None:
        """Trains every model for an epoch, evaluates it on its validation part, and stops those that are done."""
        members = [self._folds[r].train for r in self.models]
        plan = full_plan(members, [self.generators[r] for r in self.models], self._training.batch_size)
        self._engine.set_learning_rate(torch.full((len(self.models),), self._training.learning_rate_at(epoch)))
        losses = self._engine.train_epoch(large_batches_together(plan, self._graphs, epoch))
        if self._training.averaging > 0:
            self._engine.average(self._training.averaging_weight(epoch))
        logits = self._engine.logits(self._evaluated_on).cpu()
        accuracy, valid_loss = self._evaluate(logits, self._validation)
        values = {"train_loss": losses[0], "alignment_loss": losses[1], "valid_accuracy": accuracy}
        values["valid_loss"], quality = valid_loss, accuracy
        if self._metric is not None:
            values["valid_score"], quality = self._scores(logits, self._metric)
        by_model = dict(zip(values, torch.stack(list(values.values())).tolist(), strict=True))
        for model, r in enumerate(self.models):
            if bool(self.active[model]):
                for name, curve in self.curves[r].items():
                    curve.append(by_model[name][model])
                if progress is not None:
                    progress(self._runs[r], epoch, accuracy[model].item())
        self.failed |= self.active & ~(losses.sum(dim=0).isfinite() & valid_loss.isfinite())
        if self._training.selection == "seen":
            quality, _ = self._evaluate(logits, self._evaluated_on)
        self.best.update(self._engine, epoch, quality, valid_loss, self.active & ~self.failed)
        out_of_patience = epoch - self.best.epoch >= self._training.patience
        self.active &= ~(self.failed | out_of_patience | (epoch == self._training.epochs))

    def release_stopped(self, weights: KeepWeights | None) -> None:
        """Evaluates the models that have stopped on their test parts, once, and continues without them."""
        leaving = (~self.active).nonzero().squeeze(1)
        test = pad([self._folds[self.models[model]].test for model in leaving.tolist()])
        logits = self.best.logits(self._engine, leaving, test) if self.best.state else None  # no state: all failed
        for row, model in enumerate(leaving.tolist()):
            r = self.models[model]
            self.results[r] = self._result(model, None if logits is None else logits[row])
            if weights is not None and not self.results[r].failed:
                weights(self._runs[r], {name: value[model] for name, value in self.best.state.items()})
        staying = self.active.nonzero().squeeze(1)
        self.models = [self.models[model] for model in staying.tolist()]
        if self.models:
            self._engine.keep(staying)
            self.best.keep(staying)
            self._set_parts()
            self.active, self.failed = self.active[staying], self.failed[staying]

    def _set_parts(self) -> None:
        """Sets the graphs that every model is evaluated on after an epoch: its validation part first."""
        folds = [self._folds[r] for r in self.models]
        self._validation = pad([fold.validation for fold in folds])
        self._evaluated_on = self._validation
        if self._training.selection == "seen":
            self._evaluated_on = pad([torch.cat([fold.validation, fold.train]) for fold in folds])

    def _result(self, model: int, logits: Tensor | None) -> RunResult:
        r = self.models[model]
        ids, epochs = self._folds[r].test, len(self.curves[r]["train_loss"])
        failed = f"the loss was not a number at epoch {epochs}" if bool(self.failed[model]) else ""
        if failed or logits is None:
            predicted = np.full((len(ids), len(self._graphs.output_names)), math.nan, dtype=np.float32)
        else:
            predicted = predictions(self._graphs.task, logits[: len(ids)].float()).cpu().numpy()
        return RunResult(
            run=self._runs[r],
            best_epoch=int(self.best.epoch[model]),
            epochs=epochs,
            valid_accuracy=math.nan if failed else self.curves[r]["valid_accuracy"][int(self.best.epoch[model]) - 1],
            valid_loss=math.nan if failed else self.best.loss[model].item(),
            test_ids=ids.numpy(),
            test_targets=self._labels[ids].numpy(),
            test_predictions=predicted,
            curves=self.curves[r],
            seconds=(time.perf_counter() - self._started) / len(self._runs),
            failed=failed,
        )

    def _evaluate(self, logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Computes the accuracy (NaN without classes) and mean cost of every model on ``ids``, which its logits begin
        with, [R] each."""
        logits = logits[:, : ids.size(1)]
        real = ids >= 0
        y = self._labels[ids.clamp(min=0)]
        count = real.sum(dim=1)
        is_class = self._graphs.task == CLASSIFICATION
        cost = costs(self._graphs.task, logits.flatten(0, 1), y.flatten(0, 1), self._scale).view(real.shape)
        correct = (logits.argmax(dim=-1) == y) & real if is_class else torch.full(real.shape, math.nan)
        return correct.sum(dim=1) / count, torch.where(real, cost, 0).sum(dim=1) / count

    def _scores(self, logits: Tensor, metric: str) -> tuple[Tensor, Tensor]:
        """Computes a metric of every model on its validation part, and the same with more always better, [R] each."""
        scores = []
        for model, r in enumerate(self.models):
            ids = self._folds[r].validation
            predicted = predictions(self._graphs.task, logits[model, : len(ids)].float())
            finite = bool(predicted.isfinite().all())
            scores.append(evaluate(metric, self._labels[ids].numpy(), predicted.numpy()) if finite else math.nan)
        return torch.tensor(scores), torch.tensor([METRICS[metric].quality(score) for score in scores])
