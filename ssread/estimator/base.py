"""What the estimators have in common: settings, training, graph vectors and positions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ssread.apply.features import Features
from ssread.apply.final_training import train_members
from ssread.apply.graph_inputs import graphs_of, options_of
from ssread.apply.trained_model import TrainedModel
from ssread.apply.training import describe_data
from ssread.common.versions import versions
from ssread.data.graphset import GraphSet
from ssread.data.targets import has_no_target, targets_of
from ssread.data.task_names import MULTILABEL
from ssread.errors import BadRowsError, InputError
from ssread.explain.consensus import consensus
from ssread.explain.meanings import describe_positions
from ssread.metrics import check_metric, default_metric
from ssread.models.architectures import hops_of
from ssread.train.recipes import DEFAULT, recipe_named
from ssread.train.runs import Run, Training

__all__ = ["GraphEstimator", "with_targets"]


class GraphEstimator(TransformerMixin, BaseEstimator):
    """A graph neural network as a scikit-learn estimator; subclasses say what it predicts and document the settings."""

    model_: TrainedModel
    n_iter_: int

    def __init__(
        self,
        arch: str = "gcn",
        readout: str = "ssread",
        aggr: str | Sequence[str] | None = None,
        num_positions: int = 4,
        gamma: float = 0.01,
        hidden_channels: int | None = None,
        num_layers: int | None = None,
        dropout: float = 0.2,
        epochs: int = 150,
        patience: int = 150,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-4,
        metric: str | None = None,
        held_out: float = 0.1,
        ensemble: int = 1,
        reading: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        device: str = "cpu",
        position_hops: int | str | None = None,
    ):
        self.arch = arch
        self.readout = readout
        self.aggr = aggr
        self.num_positions = num_positions
        self.gamma = gamma
        self.hidden_channels = hidden_channels
        self.num_layers = num_layers
        self.dropout = dropout
        self.epochs = epochs
        self.patience = patience
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.metric = metric
        self.held_out = held_out
        self.ensemble = ensemble
        self.reading = reading
        self.random_state = random_state
        self.device = device
        self.position_hops = position_hops

    def transform(self, graphs: Any) -> NDArray[np.float32]:
        """Graph vectors, [n, D]; those of the members are concatenated."""
        read = self._read(graphs)
        parts = [torch.cat([o.vectors for o in outputs], dim=1).cpu() for _, outputs in self.model_.run(read)]
        return torch.cat(parts).numpy()

    def positions(self, graphs: Any) -> list[NDArray[np.int64]]:
        """The structural position of every node, one array per graph; of several members the one that most give it.

        With DiffPool a node has the position of its largest cluster. A node that pooling drops has position -1.
        """
        read = self._read(graphs)
        position = consensus(self.model_, read).position
        return [part.numpy() for part in position.split(read.node_counts.tolist())]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.target_tags.multi_output = True
        return tags

    def _read(self, graphs: Any) -> GraphSet:
        """New graphs, with features as in training."""
        check_is_fitted(self, "model_")
        try:
            return self.model_.read(graphs)
        except BadRowsError as error:
            raise InputError(f"{error.found} Correct them, or take them out of the graphs.") from None

    def _read_to_learn(self, graphs: Any, y: ArrayLike | None) -> tuple[GraphSet, NDArray[Any] | None]:
        """The graphs to learn from, and ``y`` as an array with a row for every graph, without those of skipped rows."""
        reading = dict(self.reading or {})
        if y is not None and "label" in options_of(graphs):
            reading.setdefault("label", None)
        try:
            read = graphs_of(graphs, **reading)
        except BadRowsError as error:
            advice = 'Correct them, or leave them out with reading={"on_error": "skip"}.'
            raise InputError(f"{error.found} {advice}") from None
        if y is None:
            if read.y is None:
                raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
            return read, None
        rows = np.asarray(y)
        skipped = [bad.row for bad in read.skipped] if reading.get("on_error") == "skip" else []
        if rows.ndim not in (1, 2) or len(rows) != len(read) + len(skipped):
            raise InputError(f"y has the shape {list(rows.shape)}, but there are {len(read) + len(skipped)} graphs.")
        return read, np.delete(rows, skipped, axis=0)

    def _predictions(self, graphs: Any) -> NDArray[np.float32]:
        read = self._read(graphs)
        return self.model_.predictions(read).numpy()

    def _train(self, graphs: GraphSet, balanced: bool = False) -> None:
        """Trains the members on graphs with the targets of any task."""
        training = self._training(graphs)
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        hops = hops_of(self.position_hops, self.arch, self.readout)
        model: dict[str, Any] = {
            "name": self.arch,
            "readout": self.readout,
            "aggr": self.aggr if self.aggr is None or isinstance(self.aggr, str) else list(self.aggr),
            "num_positions": self.num_positions,
            "gamma": self.gamma,
            "hidden_channels": self.hidden_channels,
            "num_layers": self.num_layers,
            "dropout": self.dropout,
            **recipe_named(DEFAULT).model,
            **({} if hops is None else {"position_hops": hops}),
        }
        runs = [Run(model, int(seed) + number, 0, 1, balanced=balanced) for number in range(self.ensemble)]
        members = train_members(graphs, runs, training, held_out=self.held_out, device=self.device)
        self.n_iter_ = max(len(member.curves["train_loss"]) for member in members)
        self.model_ = TrainedModel(
            [member.model for member in members],
            list(graphs.output_names),
            Features.of(graphs, self.reading),
            {
                "data": describe_data(graphs),
                "settings": {"model": model, "training": dataclasses.asdict(training), "seed": int(seed)},
                "curves": [member.curves for member in members],
                "versions": versions(),
            },
            graphs.task,
        )
        self.model_.match_members(graphs)
        self.model_.summary |= describe_positions(self.model_, graphs)

    def _check_settings(self) -> None:
        for name, least in (("epochs", 1), ("patience", 1), ("batch_size", 1), ("ensemble", 1)):
            if not isinstance(getattr(self, name), int | np.integer) or getattr(self, name) < least:
                raise InputError(
                    f"{name} must be a whole number of {least} or more, but {getattr(self, name)!r} was given."
                )
        if not 0 < self.held_out < 1:
            raise InputError(f"held_out must lie between 0 and 1, but {self.held_out} was given.")

    def _training(self, graphs: GraphSet) -> Training:
        metric = self.metric or default_metric(
            graphs.task, graphs.statistics()["class_counts"], getattr(self, "class_weight", None) == "balanced"
        )
        check_metric(metric, graphs.task)
        return dataclasses.replace(
            recipe_named(DEFAULT).training,
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            selection=metric,
        )


def with_targets(graphs: GraphSet, rows: NDArray[Any], y: Any, task: str) -> GraphSet:
    """The graphs with labels or numbers to learn.

    Args:
        graphs: The graphs.
        rows: Their labels or numbers, [n] or [n, T], NaN or None where one is not known.
        y: The same as it was given: a pandas table or series has names for them.
        task: ``multilabel`` or ``regression``.
    """
    cells = list(rows)
    empty = next((number for number, row in enumerate(cells) if has_no_target(row)), None)
    if empty is not None:
        raise InputError(f"y has no value for graph {empty}: leave the graph out.")
    what = "label" if task == MULTILABEL else "number"
    names = [getattr(y, "name", None) or "y"]
    if rows.ndim == 2:
        names = getattr(y, "columns", [f"{what} {number}" for number in range(rows.shape[1])])
    targets = targets_of(cells, "y", task=task, names=[str(name) for name in names])
    values = torch.from_numpy(targets.y)
    return dataclasses.replace(graphs, y=values, task=task, class_names=(), target_names=targets.target_names)
