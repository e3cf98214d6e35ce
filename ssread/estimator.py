"""A graph classifier as a scikit-learn estimator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ssread.apply.features import Features
from ssread.apply.final_training import train_members
from ssread.apply.graph_inputs import graphs_of
from ssread.apply.trained_model import TrainedModel
from ssread.common.versions import versions
from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.positions import positions
from ssread.train.recipes import DEFAULT, recipe_named
from ssread.train.runs import Run, Training

__all__ = ["SSReadClassifier"]


class SSReadClassifier(ClassifierMixin, TransformerMixin, BaseEstimator):
    """A graph neural network with structural semantic readout, as a scikit-learn estimator.

    Graphs are a list of SMILES, of NetworkX graphs or of PyG ``Data``, or a :class:`ssread.data.GraphSet`. As a
    transformer it returns graph vectors.

    Args:
        arch: ``gcn``, ``gin``, ``dgcnn``, ``diffpool``, ``sagpool``, ``gunet`` or ``structure_blind``.
        readout: ``ssread`` or ``global``.
        aggr: The aggregation, or a list of them; by default the architecture's own.
        num_positions: The number of structural positions K.
        gamma: The smoothing of the alignment loss.
        hidden_channels: The width of the layers, by default the architecture's own.
        num_layers: The number of layers, by default the architecture's own.
        dropout: The share of entries dropped.
        epochs: The most epochs; the learning rate falls to 0 over them.
        patience: Training stops after this many epochs without a better accuracy on the held-out graphs.
        batch_size: Graphs per step.
        learning_rate: Learning rate of Adam.
        weight_decay: Weight decay of Adam.
        class_weight: ``"balanced"`` for the same weight of every class however many graphs it has, or ``None``.
        held_out: The share of graphs held out for early stopping.
        ensemble: The number of members, whose probabilities are averaged.
        reading: Options for reading the graphs, such as ``{"node_label": "role"}`` for NetworkX graphs or
            ``{"features": "labels"}`` for SMILES.
        random_state: A seed or a NumPy random state; the same seed gives the same model.
        device: ``cpu`` or ``cuda``.

    Attributes:
        classes_: The classes, sorted.
        model_: The :class:`ssread.apply.TrainedModel`, to save, to predict files with, and to export.
        n_iter_: The number of epochs of the longest training.

    >>> import networkx as nx
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 12)] + [nx.star_graph(n) for n in range(4, 12)]
    >>> classifier = SSReadClassifier(epochs=60, hidden_channels=16, num_positions=2)
    >>> classifier.fit(graphs, ["ring"] * 8 + ["star"] * 8).predict([nx.cycle_graph(20), nx.star_graph(20)])
    array(['ring', 'star'], dtype='<U4')
    """

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
        class_weight: str | None = None,
        held_out: float = 0.1,
        ensemble: int = 1,
        reading: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        device: str = "cpu",
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
        self.class_weight = class_weight
        self.held_out = held_out
        self.ensemble = ensemble
        self.reading = reading
        self.random_state = random_state
        self.device = device

    def fit(self, graphs: Any, y: ArrayLike | None = None) -> SSReadClassifier:
        """Trains on graphs and their classes, by default the labels of a ``GraphSet``."""
        training = self._training()
        graphs = graphs_of(graphs, **(self.reading or {}))
        labels = self._labels(graphs, y)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        names = tuple(str(name) for name in self.classes_)
        graphs = dataclasses.replace(graphs, y=torch.from_numpy(numbers.astype(np.int64)), class_names=names)
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
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
        }
        balanced = self.class_weight == "balanced"
        runs = [Run(model, int(seed) + number, 0, 1, balanced=balanced) for number in range(self.ensemble)]
        members = train_members(graphs, runs, training, held_out=self.held_out, device=self.device)
        self.n_iter_ = max(len(member.curves["train_loss"]) for member in members)
        self.model_ = TrainedModel(
            [member.model for member in members],
            list(names),
            Features.of(graphs, self.reading),
            {
                "settings": {"model": model, "training": dataclasses.asdict(training), "seed": int(seed)},
                "curves": [member.curves for member in members],
                "versions": versions(),
            },
        )
        return self

    def predict(self, graphs: Any) -> NDArray[Any]:
        """The most probable class of every graph."""
        most_probable = self.predict_proba(graphs).argmax(axis=1)
        return self.classes_[most_probable]

    def predict_proba(self, graphs: Any) -> NDArray[np.float32]:
        """The probability of every class, in the order of ``classes_``, [n, C]."""
        read = self._read(graphs)
        return self.model_.predictions(read).numpy()

    def transform(self, graphs: Any) -> NDArray[np.float32]:
        """Graph vectors, [n, D]; those of the members are concatenated."""
        read = self._read(graphs)
        parts = [torch.cat([o.vectors for o in outputs], dim=1).cpu() for _, outputs in self.model_.run(read)]
        return torch.cat(parts).numpy()

    def positions(self, graphs: Any) -> list[NDArray[np.int64]]:
        """The structural position of every node (of the first member), one array per graph.

        With DiffPool a node has the position of its largest cluster. A node that pooling drops has position -1.
        """
        read = self._read(graphs)
        position = positions(self.model_, read).position
        return [part.numpy() for part in position.split(read.node_counts.tolist())]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    def _read(self, graphs: Any) -> GraphSet:
        check_is_fitted(self, "model_")
        return self.model_.read(graphs)

    def _labels(self, graphs: GraphSet, y: ArrayLike | None) -> NDArray[Any]:
        if y is None and graphs.y is None:
            raise InputError("SSReadClassifier requires y to be passed, but the target y is None.")
        labels = np.array(graphs.class_names)[graphs.y.cpu().numpy()] if y is None else np.asarray(y)  # type: ignore[union-attr]
        if labels.shape != (len(graphs),):
            raise InputError(f"y has the shape {list(labels.shape)}, but there are {len(graphs)} graphs.")
        check_classification_targets(labels)
        return labels

    def _training(self) -> Training:
        if self.class_weight not in (None, "balanced"):
            raise InputError(f"class_weight must be 'balanced' or None, but {self.class_weight!r} was given.")
        for name, least in (("epochs", 1), ("patience", 1), ("batch_size", 1), ("ensemble", 1)):
            if not isinstance(getattr(self, name), int | np.integer) or getattr(self, name) < least:
                raise InputError(
                    f"{name} must be a whole number of {least} or more, but {getattr(self, name)!r} was given."
                )
        if not 0 < self.held_out < 1:
            raise InputError(f"held_out must lie between 0 and 1, but {self.held_out} was given.")
        return dataclasses.replace(
            recipe_named(DEFAULT).training,
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
        )
