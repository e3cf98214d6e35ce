"""The final models: one or several members, trained on all graphs but those held out for early stopping."""

import dataclasses
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from joblib import delayed
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from sklearn.model_selection import train_test_split
from torch import Tensor

from ssread.apply.checkpoint import CheckpointFile
from ssread.common.files import replacing, temporary_folder
from ssread.common.workers import as_worker, one_thread, worker_pool
from ssread.data.cross_validation import GROUP_COLUMN, TIME_COLUMN
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold, check_targets, strata, stratified_folds
from ssread.data.task_names import CLASSIFICATION
from ssread.errors import InputError
from ssread.models.classifier import GraphClassifier
from ssread.train.fit import fit
from ssread.train.make_objective import model_of
from ssread.train.runs import Run, RunResult, Training
from ssread.train.single import Single

__all__ = ["HELD_OUT", "Member", "hold_out", "train_members"]

#: The share of the graphs that chooses the epoch of a final model.
HELD_OUT = 0.1

#: Callback, called with (member, epoch) after every epoch of a member.
EpochCallback = Callable[[int, int], None]


class Member(NamedTuple):
    """A trained model and its training history."""

    model: GraphClassifier
    curves: dict[str, list[float]]
    best_epoch: int
    held_out_score: float


def train_members(
    graphs: GraphSet,
    runs: Sequence[Run],
    training: Training,
    *,
    held_out: float = HELD_OUT,
    device: str = "cpu",
    workers: int = 1,
    folder: Path | None = None,
    progress: EpochCallback = lambda *_: None,
) -> list[Member]:
    """Trains one model per run on all graphs but a share held out for early stopping, which depends on the seed.

    On a CPU the models are trained one after another or in worker processes, on a GPU together as one cohort.

    Args:
        graphs: The labelled graphs.
        runs: Arguments of the models and their seeds; the models have equal shapes.
        training: The training settings.
        held_out: The share that is held out.
        device: ``cpu`` or ``cuda``.
        workers: Worker processes on a CPU.
        folder: Keeps finished models and checkpoints, so that a killed training can continue.
        progress: Called after every epoch; with worker processes once for every finished model, as epoch 0.
    """
    if folder is None:
        with temporary_folder() as temporary:
            return train_members(
                graphs,
                runs,
                training,
                held_out=held_out,
                device=device,
                workers=workers,
                folder=temporary,
                progress=progress,
            )
    tasks = [_Task(folder, n, run, hold_out(graphs, held_out, run.seed), training) for n, run in enumerate(runs)]
    missing = [task for task in tasks if not task.path.is_file()]
    if torch.device(device).type != "cpu":
        if missing:
            _train_cohort(graphs, tasks, device, progress)
    elif min(len(missing), workers) < 2:
        with one_thread():
            for task in missing:
                task.train(graphs, progress)
    else:
        graphs.save(folder / "graphs.safetensors")
        with worker_pool(min(workers, len(missing))) as pool:
            for number in pool(delayed(_train_in_worker)(folder, task, os.getpid()) for task in missing):
                progress(number, 0)
    return [task.read(graphs) for task in tasks]


def hold_out(graphs: GraphSet, share: float, seed: int) -> Fold:
    """Splits off a share of the graphs, at least one of every class, for early stopping.

    Graphs of one group stay together if :func:`ssread.data.cross_validation.with_split` has grouped them; if it has
    ordered them in time, the latest are split off.
    """
    if graphs.y is None:
        raise InputError(f"{graphs.name} has no labels: every graph needs a class to train on.")
    check_targets(graphs)
    groups = strata(graphs, 2)
    counts = np.bincount(groups)
    if graphs.task == CLASSIFICATION and int((counts > 0).sum()) < 2:
        raise InputError(f"{graphs.name} has graphs of one class only: there is nothing to learn.")
    if (counts == 1).any():
        name = graphs.class_names[int((counts == 1).argmax())]
        raise InputError(f"Class {name!r} of {graphs.name} has one graph only: add graphs of this class or remove it.")
    no_test = torch.empty(0, dtype=torch.int64)
    if GROUP_COLUMN in graphs.graph_columns:
        together = graphs.graph_columns[GROUP_COLUMN].cpu().numpy()
        folds = stratified_folds(graphs, max(2, round(1 / share)), seed=seed, groups=together)
        # One of the largest groups is in the first, whatever the seed: a frequent scaffold would never be learnt.
        fold = min(folds, key=lambda one: abs(len(one.test) - share * len(graphs)))
        return Fold(torch.cat([fold.train, fold.validation]).sort().values, fold.test, no_test)
    size = max(round(share * len(groups)), int((counts > 0).sum()))
    if TIME_COLUMN in graphs.graph_columns:
        order = graphs.graph_columns[TIME_COLUMN].cpu().argsort(stable=True)
        return Fold(order[:-size].sort().values, order[-size:].sort().values, no_test)
    train, held_out = train_test_split(range(len(groups)), test_size=size, stratify=groups, random_state=seed)
    return Fold(torch.tensor(sorted(train)), torch.tensor(sorted(held_out)), no_test)


@dataclasses.dataclass(frozen=True)
class _Task:
    """The training of one model, and the file its result is kept in."""

    folder: Path
    number: int
    run: Run
    fold: Fold
    training: Training

    @property
    def path(self) -> Path:
        return self.folder / f"model-{self.number}.safetensors"

    def train(self, graphs: GraphSet, progress: EpochCallback) -> None:
        with torch.random.fork_rng(devices=[]):
            engine = Single(graphs, self.run, self.training)
            checkpoint = CheckpointFile(self.folder / f"checkpoint-{self.number}.safetensors", engine)
            kept: dict[str, Tensor] = {}
            (result,) = fit(
                engine,
                graphs,
                [self.run],
                [self.fold],
                self.training,
                progress=lambda _, epoch, __: progress(self.number, epoch),
                weights=lambda _, state: kept.update(state),
                checkpoint=checkpoint,
            )
        self.write(result, kept)
        checkpoint.path.unlink(missing_ok=True)

    def write(self, result: RunResult, weights: dict[str, Tensor]) -> None:
        if result.failed:
            raise InputError(f"The training failed: {result.failed}. A smaller learning rate may help.")
        history = {
            "curves": result.curves,
            "best_epoch": result.best_epoch,
            "held_out_score": result.valid_score,
        }
        with replacing(self.path) as new:
            tensors = {name: value.detach().cpu().contiguous() for name, value in weights.items()}
            save_file(tensors, new, {"training": json.dumps(history)})

    def read(self, graphs: GraphSet) -> Member:
        with torch.random.fork_rng(devices=[]):  # the initial weights are replaced
            model = model_of(graphs, self.run)
        try:
            with safe_open(self.path, "pt") as file:
                history: dict[str, Any] = json.loads(file.metadata()["training"])
                model.load_state_dict({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
            return Member(model, **history)
        except (OSError, SafetensorError, LookupError, TypeError, ValueError, RuntimeError) as error:
            raise InputError(f"{self.path} is damaged ({error}): remove it and train again.") from None


def _train_cohort(graphs: GraphSet, tasks: Sequence[_Task], device: str, progress: EpochCallback) -> None:
    """Trains all models together, always: what a model draws from the random numbers depends on the others."""
    from ssread.train.cohort import Cohort

    runs, folds, training = [task.run for task in tasks], [task.fold for task in tasks], tasks[0].training
    kept: dict[int, dict[str, Tensor]] = {}
    number_of = {id(task.run): task.number for task in tasks}
    with torch.random.fork_rng([] if torch.device(device).type == "cpu" else [device]):
        engine = Cohort(graphs, runs, training, device)
        checkpoint = CheckpointFile(tasks[0].folder / "checkpoint.safetensors", engine)
        results = fit(
            engine,
            graphs,
            runs,
            folds,
            training,
            progress=lambda run, epoch, _: progress(number_of[id(run)], epoch),
            weights=lambda run, state: kept.update({id(run): state}),
            checkpoint=checkpoint,
        )
    for task, result in zip(tasks, results, strict=True):
        task.write(result, kept.get(id(task.run), {}))
    checkpoint.path.unlink(missing_ok=True)


def _train_in_worker(folder: Path, task: _Task, parent: int) -> int:
    as_worker(parent)
    task.train(GraphSet.load(folder / "graphs.safetensors"), lambda *_: None)
    return task.number
