"""Linear evaluation: how well a linear classifier predicts from the graph vectors of a trained encoder.

An encoder that learnt without labels is used for all folds of its seed, a supervised one only for its own fold.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from ssread.common.plain_json import canonical_json
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold
from ssread.errors import InputError
from ssread.evaluate.keys import run_settings
from ssread.evaluate.svm import svm_path
from ssread.train.engine import State
from ssread.train.fit import fold_of_run, train
from ssread.train.runs import Run, RunResult, Training
from ssread.train.single import Single
from ssread.train.unsupervised import Learnt, learn

__all__ = ["COSTS", "Judgement", "by_encoder", "encoder_of", "labels_of", "linear_evaluation", "train_and_judge"]

#: The values of C that validation accuracy chooses from.
COSTS = tuple(10.0**power for power in range(-3, 4))

#: Up to this many graphs or channels, the SVM is fitted on the CPU: its steps are too small for a GPU.
ON_CPU = 512


@dataclass(frozen=True, eq=False)
class Judgement:
    """The result of a linear classifier on graph vectors.

    Attributes:
        cost: The chosen C.
        valid_accuracy: Accuracy on the validation part with that C, fitted to the training part.
        valid_loss: Cross entropy on the validation part.
        test_ids: The graphs of the test part that have a label, [n].
        probabilities: The softmax of their decision scores, fitted to the training and validation parts, [n, classes].
    """

    cost: float
    valid_accuracy: float
    valid_loss: float
    test_ids: Tensor
    probabilities: Tensor


def linear_evaluation(vectors: Tensor, labels: Tensor, num_classes: int, fold: Fold) -> Judgement:
    """Evaluates vectors by a linear support vector machine: standardised, one against the rest, C by validation.

    C is the smallest of :data:`COSTS` with the best accuracy on the validation part, fitted to the training part. Then
    the SVM is fitted again to both parts, and evaluated on the test part once.

    Args:
        vectors: The vectors of all graphs, [G, D].
        labels: The labels of all graphs, [G]; graphs with -1 have none and are left out.
        num_classes: The number of classes.
        fold: The training, validation and test parts.
    """
    vectors = vectors.cpu() if min(vectors.shape) <= ON_CPU else vectors
    train_ids, valid_ids, test_ids = (ids[labels[ids] >= 0] for ids in (fold.train, fold.validation, fold.test))
    scores = _scores(vectors, labels, num_classes, train_ids, torch.tensor(COSTS))[valid_ids]
    truth = labels[valid_ids]
    accuracies = (scores.argmax(dim=1) == truth.unsqueeze(1)).double().mean(dim=0)
    best = int(accuracies.nan_to_num().argmax())  # the first of several equal ones
    both = torch.cat([train_ids, valid_ids])
    final = _scores(vectors, labels, num_classes, both, torch.tensor(COSTS[best : best + 1]))[test_ids, :, 0]
    return Judgement(
        COSTS[best],
        float(accuracies[best]),
        float(F.cross_entropy(scores[:, :, best], truth)),
        test_ids,
        final.softmax(dim=1),
    )


def _scores(vectors: Tensor, labels: Tensor, num_classes: int, members: Tensor, costs: Tensor) -> Tensor:
    """Returns class scores of all graphs for every C, [G, classes, c], on the CPU; two classes need only one SVM."""

    def against_rest(label: int) -> Tensor:
        sign = torch.where(labels[members] == label, 1.0, -1.0)
        return svm_path(vectors, members.to(vectors.device), sign.to(vectors.device), costs).cpu()

    if num_classes == 2:
        score = against_rest(1)
        return torch.stack([-score / 2, score / 2], dim=1)
    return torch.stack([against_rest(label) for label in range(num_classes)], dim=1)


def encoder_of(run: Run) -> Run:
    """Returns the training of a run's encoder; runs that share it differ in the task or in the fold."""
    return replace(run, task="class", fold=run.fold if run.learn == "supervised" else 0)


def by_encoder(runs: Sequence[Run]) -> list[list[Run]]:
    """Groups runs that share an encoder."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(canonical_json(run_settings(encoder_of(run))), []).append(run)
    return list(groups.values())


def train_and_judge(
    graphs: GraphSet,
    runs: Sequence[Run],
    training: Training,
    device: str = "cpu",
    say: Callable[[str], None] = lambda _: None,
) -> list[RunResult]:
    """Trains every run, whatever it learns from, and evaluates it once on the test part of its fold.

    Args:
        graphs: The dataset; properties to predict are among its graph columns.
        runs: Runs whose models have equal shapes and the same ``learn``.
        training: How they are trained.
        device: ``cpu`` or ``cuda``.
        say: Called with a sentence if the GPU cannot be used as intended.
    """
    if all(run.learn == "supervised" and run.task == "class" for run in runs):
        return train(graphs, runs, training, device, say=say)
    groups = by_encoder(runs)
    encoders = [encoder_of(group[0]) for group in groups]
    if encoders[0].learn == "supervised":
        learnt = _supervised(graphs, encoders, training, device, say)
    else:
        learnt = learn(graphs, encoders, training, device)
    by_run = {
        canonical_json(run_settings(run)): _judged(graphs, run, encoder)
        for group, encoder in zip(groups, learnt, strict=True)
        for run in group
    }
    return [by_run[canonical_json(run_settings(run))] for run in runs]


def _supervised(
    graphs: GraphSet, encoders: Sequence[Run], training: Training, device: str, say: Callable[[str], None]
) -> list[Learnt]:
    """Trains encoders on the classes of their training parts, and computes the vectors by their chosen weights."""
    chosen: dict[str, State] = {}

    def keep(run: Run, weights: State) -> None:
        chosen[canonical_json(run_settings(run))] = {name: value.unsqueeze(0) for name, value in weights.items()}

    results = train(graphs, encoders, training, device, say=say, weights=keep)
    on_device, all_ids = graphs.to(device), torch.arange(len(graphs)).unsqueeze(0)
    learnt = []
    for result in results:
        weights = chosen.get(canonical_json(run_settings(result.run)))
        vectors = torch.empty(len(graphs), 0)
        if weights is not None:
            vectors = Single(on_device, result.run, training, device).vectors(all_ids.to(device), weights)[0]
        learnt.append(Learnt(result.run, vectors, result.curves, result.seconds, result.failed, result.best_epoch))
    return learnt


def _judged(graphs: GraphSet, run: Run, encoder: Learnt) -> RunResult:
    """Evaluates a run by the vectors of its encoder."""
    labels, num_classes = labels_of(graphs, run.task)
    fold = fold_of_run(graphs, run)
    if encoder.failed:
        test_ids = fold.test[labels[fold.test] >= 0]
        nothing = torch.full((len(test_ids), num_classes), math.nan)
        judgement = Judgement(math.nan, math.nan, math.nan, test_ids, nothing)
    else:
        judgement = linear_evaluation(encoder.vectors, labels, num_classes, fold)
    return RunResult(
        run=run,
        best_epoch=encoder.best_epoch,
        epochs=len(encoder.curves["train_loss"]),
        valid_accuracy=judgement.valid_accuracy,
        valid_loss=judgement.valid_loss,
        test_ids=judgement.test_ids.numpy(),
        test_targets=labels[judgement.test_ids].numpy(),
        test_predictions=judgement.probabilities.numpy(),
        curves=encoder.curves,
        seconds=encoder.seconds,
        failed=encoder.failed,
    )


def labels_of(graphs: GraphSet, task: str) -> tuple[Tensor, int]:
    """Returns the labels of a task, classes from 0, [G] (-1 for none), and the number of classes."""
    if task == "class":
        assert graphs.y is not None
        return graphs.y.cpu(), graphs.num_classes
    if task not in graphs.graph_columns:
        raise InputError(f"{graphs.name} has no graph column {task!r} to predict.")
    column = graphs.graph_columns[task].cpu()
    values, labels = column[column >= 0].unique(return_inverse=True)
    return torch.full_like(column, -1).masked_scatter(column >= 0, labels), max(len(values), 2)
