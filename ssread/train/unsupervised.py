"""Learning without labels: encoders trained on all graphs for a fixed number of epochs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.train.batch_plans import even_plan, large_batches_together
from ssread.train.cohort import Cohort
from ssread.train.engine import Engine
from ssread.train.runs import Run, Training
from ssread.train.seeds import Stream, seeded
from ssread.train.single import Single

__all__ = ["Learnt", "learn", "unlabelled"]


@dataclass(frozen=True, eq=False)
class Learnt:
    """The vectors that a trained encoder computes for a dataset.

    Attributes:
        run: The training; its fold has no meaning.
        vectors: The vectors of all graphs, [G, D].
        curves: One value per epoch of ``train_loss`` and ``alignment_loss``.
        seconds: The time the training took.
        failed: Why the vectors cannot be used (a loss that is not a number, and at which epoch), or an empty string.
        best_epoch: The epoch whose weights computed the vectors; the last, unless another was chosen.
    """

    run: Run
    vectors: Tensor
    curves: dict[str, list[float]]
    seconds: float
    failed: str
    best_epoch: int


def learn(
    graphs: GraphSet,
    runs: Sequence[Run],
    training: Training,
    device: str = "cpu",
    progress: Callable[[int], None] = lambda _: None,
) -> list[Learnt]:
    """Trains an encoder per run on all graphs, without their labels, and returns the graph vectors it computes.

    On a CPU, encoders are trained one after another; on a GPU, as one stack of models.

    Args:
        graphs: The dataset; its labels are removed first.
        runs: Encoders of equal shape. A run's fold is set to 0: folds share an encoder.
        training: How they are trained; always for ``epochs`` epochs, ``patience`` is not used.
        device: ``cpu`` or ``cuda``.
        progress: Callback, called with the number of every epoch that is done.
    """
    graphs = unlabelled(graphs)
    for what, count in ((f"{graphs.name} has", len(graphs)), ("batch_size is", training.batch_size)):
        if count < 2:
            raise InputError(
                f"{what} {count}, but learning without labels contrasts every graph with the others of its batch: at "
                "least 2 are needed."
            )
    runs = [replace(run, fold=0) for run in runs]
    if torch.device(device).type == "cpu":
        return [_fit(Single(graphs, run, training), graphs, [run], training, progress)[0] for run in runs]
    return _fit(Cohort(graphs, runs, training, device), graphs, runs, training, progress)


def unlabelled(graphs: GraphSet) -> GraphSet:
    """Returns the same graphs without labels."""
    return replace(graphs, y=None, class_names=(), graph_columns={}, graph_texts={})


def _fit(
    engine: Engine, graphs: GraphSet, runs: Sequence[Run], training: Training, progress: Callable[[int], None]
) -> list[Learnt]:
    started = time.perf_counter()
    generators = [torch.Generator().manual_seed(seeded(run, Stream.ORDER)) for run in runs]
    losses_by_epoch = []
    for epoch in range(1, training.epochs + 1):
        engine.set_learning_rate(torch.full((len(runs),), training.learning_rate_at(epoch)))
        order = torch.stack([torch.randperm(len(graphs), generator=generator) for generator in generators])
        plan = even_plan(order, training.batch_size)
        losses_by_epoch.append(engine.train_epoch(large_batches_together(plan, graphs, epoch)))
        if training.averaging > 0:
            engine.average(training.averaging_weight(epoch))
        progress(epoch)
    losses = torch.stack(losses_by_epoch)  # [epochs, 2, R]
    vectors = engine.vectors(torch.arange(len(graphs)).repeat(len(runs), 1))
    seconds = (time.perf_counter() - started) / len(runs)
    return [
        Learnt(
            run,
            vectors[model],
            {name: losses[:, row, model].tolist() for row, name in enumerate(("train_loss", "alignment_loss"))},
            seconds,
            _failure(losses[:, :, model], vectors[model]),
            training.epochs,
        )
        for model, run in enumerate(runs)
    ]


def _failure(losses: Tensor, vectors: Tensor) -> str:
    """Says what went wrong with one encoder, given its losses [epochs, 2] and its vectors."""
    broken = ~losses.isfinite().all(dim=1)
    if bool(broken.any()):
        return f"the loss was not a number at epoch {int(broken.nonzero()[0]) + 1}"
    return "" if bool(vectors.isfinite().all()) else "the graph vectors were not numbers"
