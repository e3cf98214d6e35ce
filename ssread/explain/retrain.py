"""One training whose model is kept, to be looked into."""

from collections.abc import Sequence

import torch

from ssread.apply.final_training import one_thread
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold, stratified_folds
from ssread.errors import InputError
from ssread.models import GraphClassifier, model_for
from ssread.train.cohort import Cohort
from ssread.train.engine import Engine, Single, State
from ssread.train.fit import fit
from ssread.train.runs import Run, RunResult, Training

__all__ = ["fold_of", "trained_model", "trained_models"]


def fold_of(graphs: GraphSet, run: Run) -> Fold:
    """The parts of the dataset in one training of the protocol."""
    return stratified_folds(graphs, run.num_folds, seed=run.seed)[run.fold]


def trained_model(
    graphs: GraphSet, run: Run, training: Training | None = None, device: str = "cpu"
) -> tuple[GraphClassifier, RunResult]:
    """Trains one run of the protocol exactly as :func:`ssread.train.train` does, and gives its model too (on the CPU).

    The same run on the same machine gives the same weights, so a training that a results store has can be looked into.
    """
    return trained_models(graphs, [run], training, device)[0]


def trained_models(
    graphs: GraphSet, runs: Sequence[Run], training: Training | None = None, device: str = "cpu"
) -> list[tuple[GraphClassifier, RunResult]]:
    """As :func:`trained_model` for several runs: one after another on a CPU, as one stack of models on a GPU."""
    training = training or Training()
    if device.split(":")[0] == "cpu" and len(runs) > 1:
        return [trained_model(graphs, run, training, device) for run in runs]
    kept: list[State] = [{} for _ in runs]

    def keep(run: Run, state: State) -> None:
        kept[next(number for number, own in enumerate(runs) if own is run)] = state

    with one_thread(), torch.random.fork_rng(devices=[]):
        on_cpu = device.split(":")[0] == "cpu"
        engine: Engine = Single(graphs, runs[0], training) if on_cpu else Cohort(graphs, runs, training, device)
        folds = [fold_of(graphs, run) for run in runs]
        results = fit(engine, graphs, runs, folds, training, weights=keep)
        models = [model_for(graphs, **run.model).eval() for run in runs]
    for run, result, model, state in zip(runs, results, models, kept, strict=True):
        if result.failed:
            raise InputError(f"The training of {run.model['name']} failed ({result.failed}): there is no model to see.")
        model.load_state_dict({name: value.cpu() for name, value in state.items()})
    return list(zip(models, results, strict=True))
