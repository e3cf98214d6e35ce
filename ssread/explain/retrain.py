"""Trains runs again and keeps their models, so that they can be explained."""

from collections.abc import Sequence

import torch

from ssread.common.workers import one_thread
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold
from ssread.errors import InputError
from ssread.models import GraphClassifier
from ssread.train.engine import State
from ssread.train.fit import train
from ssread.train.make_objective import model_of
from ssread.train.runs import Run, RunResult, Training

__all__ = ["trained_model", "trained_models"]


def trained_model(
    graphs: GraphSet, run: Run, training: Training | None = None, device: str = "cpu"
) -> tuple[GraphClassifier, RunResult]:
    """Trains a run exactly as :func:`ssread.train.train` does, and returns its model, on the CPU, with its result.

    The same run on the same machine yields the same weights, so a run from a results store can be explained.
    """
    return trained_models(graphs, [run], training, device)[0]


def trained_models(
    graphs: GraphSet,
    runs: Sequence[Run],
    training: Training | None = None,
    device: str = "cpu",
    fold: Fold | None = None,
) -> list[tuple[GraphClassifier, RunResult]]:
    """:func:`trained_model` for several runs: one after another on a CPU, as one stack of models on a GPU.

    With ``fold``, all are trained on its training part, whatever their seeds are: the members of an ensemble.
    """
    states: dict[int, State] = {}

    def keep(run: Run, state: State) -> None:
        states[id(run)] = {name: value.cpu() for name, value in state.items()}

    with one_thread(), torch.random.fork_rng(devices=[]):
        results = train(
            graphs, runs, training, device, weights=keep, folds=None if fold is None else [fold] * len(runs)
        )
        models = [model_of(graphs, run).eval() for run in runs]
    for run, result, model in zip(runs, results, models, strict=True):
        if result.failed:
            raise InputError(f"The training of {run.model['name']} failed ({result.failed}): no model to explain.")
        model.load_state_dict(states[id(run)])
    return list(zip(models, results, strict=True))
