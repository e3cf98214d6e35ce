"""One training whose model is kept, to be looked into."""

import torch

from ssread.apply.members import one_thread
from ssread.data.graphset import GraphSet
from ssread.data.splits import Fold, stratified_folds
from ssread.errors import InputError
from ssread.models import GraphClassifier, model_for
from ssread.train.engine import Alone, Engine, State
from ssread.train.fit import fit
from ssread.train.lifted import Lifted
from ssread.train.runs import Run, RunResult, Training

__all__ = ["fold_of", "trained_model"]


def fold_of(graphs: GraphSet, run: Run) -> Fold:
    """The parts of the dataset in one training of the protocol."""
    return stratified_folds(graphs, run.num_folds, seed=run.seed)[run.fold]


def trained_model(
    graphs: GraphSet, run: Run, training: Training | None = None, device: str = "cpu"
) -> tuple[GraphClassifier, RunResult]:
    """Trains one run of the protocol exactly as :func:`ssread.train.train` does, and gives its model too (on the CPU).

    The same run on the same machine gives the same weights, so a training that a results store has can be looked into.
    """
    training = training or Training()
    kept: State = {}
    fold = fold_of(graphs, run)
    with one_thread(), torch.random.fork_rng(devices=[]):
        on_cpu = device.split(":")[0] == "cpu"
        engine: Engine = Alone(graphs, run, training) if on_cpu else Lifted(graphs, [run], training, device)
        (result,) = fit(engine, graphs, [run], [fold], training, weights=lambda _, state: kept.update(state))
    if result.failed:
        raise InputError(f"The training of {run.model['name']} failed ({result.failed}): there is no model to explain.")
    model = model_for(graphs, **run.model)
    model.load_state_dict({name: value.cpu() for name, value in kept.items()})
    return model.eval(), result
