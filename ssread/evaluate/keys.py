"""The identity of a training: a hash of the data, every setting, the seed and the fold."""

import dataclasses
import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from ssread.common.plain_json import canonical_json
from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION
from ssread.evaluate.stored_settings import stored_run
from ssread.models.architectures import ARCHITECTURES
from ssread.train.runs import OBJECTIVES, Run, Training

__all__ = [
    "SELECTIONS",
    "DatasetId",
    "aggregation_name",
    "fingerprint",
    "identify",
    "identity_columns",
    "run_key",
    "run_of",
    "run_settings",
    "selection",
]

#: How the epoch whose weights are tested is chosen, by ``Training.selection``. This is part of every key, so that
#: results of different rules never mix.
SELECTIONS = {
    "accuracy": "best validation accuracy, ties by validation loss",
    "loss": "best validation loss",
    "seen": "best accuracy on training and validation part",
}

#: The same for encoders that learnt without labels, where no epoch is chosen, and how a linear classifier chooses.
FIXED_BUDGET = "the last of a fixed number"
LINEAR = "linear SVM, C by validation accuracy"


class DatasetId(NamedTuple):
    """A dataset's name and the hash of its content."""

    name: str
    fingerprint: str


def identify(graphs: GraphSet) -> DatasetId:
    """Returns the name and fingerprint of a dataset."""
    return DatasetId(graphs.name, fingerprint(graphs))


def fingerprint(graphs: GraphSet) -> str:
    """Returns the SHA-256 of all that a classifier sees of a dataset, to tell datasets of the same name apart."""
    digest = hashlib.sha256()
    for name in ("x", "node_ptr", "edge_index", "edge_ptr", "edge_attr", "y"):
        tensor = getattr(graphs, name)
        digest.update(f"{name} {None if tensor is None else (tensor.dtype, *tensor.shape)};".encode())
        if tensor is not None:
            digest.update(tensor.detach().cpu().contiguous().numpy().data)
    if graphs.graph_attr is not None:  # hashes of sets without them stay as they were
        digest.update(f"graph_attr {tuple(graphs.graph_attr.shape)};".encode())
        digest.update(graphs.graph_attr.detach().cpu().contiguous().numpy().data)
    if graphs.task != CLASSIFICATION:
        digest.update(graphs.task.encode())
    return digest.hexdigest()


def run_key(dataset: DatasetId, run: Run, training: Training) -> str:
    """Returns the key of a training in the results store."""
    settings = {
        "dataset": dataset._asdict(),
        "run": run_settings(run),
        "training": training_settings(training),
        "selection": selection(training, run.learn, run.task),
    }
    return hashlib.sha256(canonical_json(settings).encode()).hexdigest()


def identity_columns(dataset: DatasetId, run: Run, training: Training) -> dict[str, Any]:
    """Returns the columns of the results store that say which training a row is; all follow from its settings."""
    readout, arch = run.model.get("readout", "ssread"), run.model["name"]
    return {
        "key": run_key(dataset, run, training),
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "arch": arch,
        "readout": readout,
        "aggr": aggregation_name(arch, run.model.get("aggr")),
        "num_positions": 1 if readout == "global" else int(run.model.get("num_positions", 4)),
        "seed": int(run.seed),
        "fold": int(run.fold),
        "num_folds": int(run.num_folds),
        "selection": selection(training, run.learn, run.task),
        "run": canonical_json(run_settings(run)),
    }


def aggregation_name(arch: str, aggr: str | Iterable[str] | None) -> str:
    """Returns the name of an aggregation in tables: ``max+mean`` for several, the architecture's own for ``None``.

    >>> aggregation_name("sagpool", None), aggregation_name("gcn", "sum")
    ('max+mean', 'sum')
    """
    if aggr is None:
        aggr = ARCHITECTURES[arch].aggr
    return aggr if isinstance(aggr, str) else "+".join(aggr)


def selection(training: Training, learn: str = "supervised", task: str = "class") -> str:
    """Returns how a training of this kind chooses what is tested."""
    by_metric = f"best validation {training.selection.replace('_', ' ')}, ties by validation loss"
    epoch = SELECTIONS.get(training.selection, by_metric) if learn == "supervised" else FIXED_BUDGET
    return epoch if (learn, task) == ("supervised", "class") else f"{epoch}; {LINEAR}"


def run_settings(run: Run) -> dict[str, Any]:
    """Returns a run as plain settings, with the versions of the numerics that it depends on.

    Settings that were added later are left out if they have their default value, so that earlier keys stay valid.
    """
    later = {f.name: f.default for f in dataclasses.fields(Run) if f.name in ("learn", "task", "balanced", "split")}
    settings = {name: value for name, value in dataclasses.asdict(run).items() if later.get(name, ...) != value}
    architecture = ARCHITECTURES.get(run.model.get("name", ""))
    numerics = [1 if architecture is None else architecture.numerics, OBJECTIVES[run.learn]]
    return settings if numerics == [1, 1] else {**settings, "numerics": numerics}


def run_of(text: str) -> Run:
    """Returns the run that :func:`run_settings` described, from the column ``run`` of a results file."""
    settings = stored_run(text)
    return Run(**{name: value for name, value in settings.items() if name != "numerics"})


def training_settings(training: Training) -> dict[str, Any]:
    """Returns the training as plain settings, as :func:`run_settings` does for a run."""
    defaults = dataclasses.asdict(Training())
    later = ("precision", "schedule", "averaging", "selection", "recipe")
    settings = dataclasses.asdict(training)
    return {name: value for name, value in settings.items() if name not in later or value != defaults[name]}
