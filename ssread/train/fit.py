"""Training with early stopping: the same loop for one model and for many as one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold, stratified_folds
from ssread.errors import InputError
from ssread.train.batch_plans import full_plan, in_step, pad
from ssread.train.cohort import Cohort
from ssread.train.engine import Engine, Single, State, Stream, seeded
from ssread.train.runs import Run, RunResult, Training

__all__ = ["Best", "Checkpoint", "Loop", "Progress", "fit", "train"]

#: Told after every pass: the run, the pass, its validation accuracy.
Progress = Callable[[Run, int, float], None]


def train(
    graphs: GraphSet,
    runs: Sequence[Run],
    training: Training | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda _: None,
    weights: Callable[[Run, State], None] | None = None,
) -> list[RunResult]:
    """Trains every run, and judges it once on the test part of its fold.

    On a CPU the runs are trained one after another with torch's single-model kernels, on a GPU all of them together as
    one stack of models; a run gives the same either way, up to its dropout.

    Args:
        graphs: The dataset.
        runs: Trainings whose models have equal shapes.
        training: How; by default as the paper does.
        device: ``cpu`` or ``cuda``.
        progress: Told after every pass of every run.
        say: Told in a sentence where the GPU cannot be used as it should.
        weights: As for :func:`fit`.
    """
    training = training or Training()
    folds = [_fold(graphs, run) for run in runs]
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
    weights: Callable[[Run, State], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> list[RunResult]:
    """Trains the models of an engine until each has stopped; results in the order of ``runs``.

    Args:
        engine: The models.
        graphs: The dataset.
        runs: What every model of the engine is.
        folds: The parts of the dataset for each; the test part may be empty.
        training: How.
        progress: Told after every pass of every run.
        weights: Handed the chosen weights of every run that did not fail, when it has stopped.
        checkpoint: Where a training that was broken off goes on; told after every pass that is not the last.
    """
    assert graphs.y is not None
    started = time.perf_counter()
    labels = graphs.y.cpu()
    generators = [torch.Generator().manual_seed(seeded(run, Stream.ORDER)) for run in runs]
    curves: list[dict[str, list[float]]] = [
        {"train_loss": [], "alignment_loss": [], "valid_accuracy": [], "valid_loss": []} for _ in runs
    ]
    results: dict[int, RunResult] = {}
    best = Best(len(runs))
    loop = Loop(generators, curves, best)
    done = 0 if checkpoint is None else checkpoint.restore(loop)
    here = list(range(len(runs)))  # which run every model of the engine belongs to
    valid = pad([folds[r].validation for r in here])
    active, broken = torch.ones(len(runs), dtype=torch.bool), torch.zeros(len(runs), dtype=torch.bool)
    for epoch in range(done + 1, training.epochs + 1):
        plan = full_plan([folds[r].train for r in here], [generators[r] for r in here], training.batch_size)
        losses = engine.one_pass(in_step(plan, graphs, epoch))
        accuracy, valid_loss = _judge(engine.logits(valid).cpu(), labels, valid)
        for model, r in enumerate(here):
            if not bool(active[model]):
                continue
            values = (*losses[:, model].tolist(), accuracy[model].item(), valid_loss[model].item())
            for curve, value in zip(curves[r].values(), values, strict=True):
                curve.append(value)
            if progress is not None:
                progress(runs[r], epoch, accuracy[model].item())
        broken |= active & ~(losses.sum(dim=0).isfinite() & valid_loss.isfinite())
        best.update(engine, epoch, accuracy, valid_loss, active & ~broken)
        over = active & (broken | (epoch - best.epoch >= training.patience) | (epoch == training.epochs))
        active = active & ~over
        if checkpoint is not None and bool(active.all()):
            checkpoint.keep(loop, epoch)
        # Models that have stopped are trained on, unheeded, until half have: to rebuild the stack costs more.
        if active.sum() > len(here) // 2:
            continue
        leaving = (~active).nonzero().squeeze(1)
        test = pad([folds[here[model]].test for model in leaving.tolist()])
        scores = best.logits(engine, leaving, test) if best.state else None  # none of them ever gave a number
        seconds = (time.perf_counter() - started) / len(runs)
        for place, model in enumerate(leaving.tolist()):
            r, failed = here[model], ""
            ids, passes = folds[r].test, len(curves[r]["train_loss"])
            if bool(broken[model]):
                failed = f"the loss was not a number at epoch {passes}"
            if failed or scores is None:
                probabilities = np.full((len(ids), graphs.num_classes), math.nan, dtype=np.float32)
            else:
                probabilities = scores[place, : len(ids)].float().softmax(-1).cpu().numpy()
            results[r] = RunResult(
                run=runs[r],
                best_epoch=int(best.epoch[model]),
                epochs=passes,
                valid_accuracy=math.nan if failed else best.accuracy[model].item(),
                valid_loss=math.nan if failed else best.loss[model].item(),
                test_ids=ids.numpy(),
                test_labels=labels[ids].numpy(),
                test_probabilities=probabilities,
                curves=curves[r],
                seconds=seconds,
                failed=failed,
            )
            if weights is not None and not failed:
                weights(runs[r], {name: value[model] for name, value in best.state.items()})
        staying = active.nonzero().squeeze(1)
        if len(staying) == 0:
            break
        here = [here[model] for model in staying.tolist()]
        valid = pad([folds[r].validation for r in here])
        engine.keep(staying)
        best.keep(staying)
        active, broken = active[staying], broken[staying]
    return [results[r] for r in range(len(runs))]


@dataclass
class Loop:
    """What a training under way has beside its models.

    Attributes:
        generators: Of every run's order of graphs.
        curves: Of every run, a value per pass.
        best: The best pass of every model.
    """

    generators: list[torch.Generator]
    curves: list[dict[str, list[float]]]
    best: Best


class Checkpoint(Protocol):
    """Where a training that is broken off goes on."""

    def restore(self, loop: Loop) -> int:
        """Puts the models and the loop back to where they were; the number of passes done, 0 for a new training."""

    def keep(self, loop: Loop, epoch: int) -> None:
        """Told after every pass that is not the last."""


class Best:
    """The best pass of every model so far, by validation accuracy and then by validation loss, with its weights."""

    def __init__(self, models: int):
        self.epoch = torch.zeros(models, dtype=torch.long)
        self.accuracy = torch.full((models,), -math.inf)
        self.loss = torch.full((models,), math.inf)
        self.state: State = {}

    def update(self, engine: Engine, epoch: int, accuracy: Tensor, loss: Tensor, sound: Tensor) -> None:
        """Takes note of a pass: where it is better than all before, its weights are kept."""
        tie = accuracy == self.accuracy
        better = sound & ((accuracy > self.accuracy) | (tie & (loss < self.loss)))
        if not bool(better.any()):
            return
        self.epoch = torch.where(better, epoch, self.epoch)
        self.accuracy = torch.where(better, accuracy, self.accuracy)
        self.loss = torch.where(better, loss, self.loss)
        self.state = engine.better_state(better, self.state)

    def logits(self, engine: Engine, models: Tensor, ids: Tensor) -> Tensor:
        """Class scores of some models' best passes."""
        return engine.logits(ids, {name: value[models.to(value.device)] for name, value in self.state.items()})

    def keep(self, models: Tensor) -> None:
        """Goes on with some models alone."""
        self.epoch, self.accuracy, self.loss = self.epoch[models], self.accuracy[models], self.loss[models]
        self.state = {name: value[models.to(value.device)] for name, value in self.state.items()}


def _judge(logits: Tensor, labels: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Accuracy and mean cross entropy of every model on its part, [R] each."""
    real = ids >= 0
    y = labels[ids.clamp(min=0)]
    count = real.sum(dim=1)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none").view(y.shape)
    right = (logits.argmax(dim=-1) == y) & real
    return right.sum(dim=1) / count, torch.where(real, loss, 0).sum(dim=1) / count


def _fold(graphs: GraphSet, run: Run) -> Fold:
    if not 0 <= run.fold < run.num_folds:
        raise InputError(f"There is no fold {run.fold} of {run.num_folds}; they are numbered from 0.")
    return stratified_folds(graphs, run.num_folds, seed=run.seed)[run.fold]
