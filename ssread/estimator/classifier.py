"""A graph classifier as a scikit-learn estimator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ssread.data.graphset import GraphSet
from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION
from ssread.errors import InputError
from ssread.estimator.base import GraphEstimator, with_targets

__all__ = ["SSReadClassifier"]


class SSReadClassifier(ClassifierMixin, GraphEstimator):
    """A graph neural network with structural semantic readout, as a scikit-learn estimator.

    Graphs are a list of SMILES, of NetworkX graphs or of PyG ``Data``, a ``DataFrame`` of molecules, or a
    :class:`ssread.data.GraphSet`. As a transformer it returns graph vectors. ``y`` is a class per graph, [n], or
    several labels that are each 0 or 1, [n, T], NaN where one is not known.

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
        patience: Training stops after this many epochs without a better metric on the held-out graphs.
        batch_size: Graphs per step.
        learning_rate: Learning rate of Adam.
        weight_decay: Weight decay of Adam.
        metric: The metric on the held-out graphs that chooses the epoch (:data:`ssread.metrics.METRICS`); by default
            the accuracy, where a class is rare ``roc_auc`` or ``balanced_accuracy``, and ``roc_auc`` of several labels.
        class_weight: ``"balanced"`` for the same weight of every class however many graphs it has, or ``None``.
        held_out: The share of graphs held out for early stopping.
        ensemble: The number of members, whose probabilities are averaged.
        reading: Options for reading the graphs, such as ``{"node_label": "role"}`` for NetworkX graphs or
            ``{"features": "labels"}`` for SMILES. ``{"on_error": "skip"}`` leaves molecules that cannot be read out of
            the training, with their rows of ``y``.
        random_state: A seed or a NumPy random state; the same seed gives the same model.
        device: ``cpu`` or ``cuda``.
        position_hops: Positions come from the structure within so many hops, nearly the same in every training
            (:func:`ssread.models.make_model`), by default within one; ``"learnt"`` for learnt ones, as in the paper.

    Attributes:
        classes_: The classes, sorted; of a ``GraphSet`` without ``y`` their names. Of several labels [0, 1] for each.
        model_: The :class:`ssread.apply.TrainedModel`, to save, to predict files with, and to export.
        n_iter_: The number of epochs of the longest training.

    >>> import networkx as nx
    >>> graphs = [nx.cycle_graph(n) for n in range(4, 12)] + [nx.star_graph(n) for n in range(4, 12)]
    >>> classifier = SSReadClassifier(epochs=60, hidden_channels=16, num_positions=2)
    >>> classifier.fit(graphs, ["ring"] * 8 + ["star"] * 8).predict([nx.cycle_graph(20), nx.star_graph(20)])
    array(['ring', 'star'], dtype='<U4')
    """

    classes_: NDArray[Any] | list[NDArray[Any]]

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
        class_weight: str | None = None,
        held_out: float = 0.1,
        ensemble: int = 1,
        reading: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        device: str = "cpu",
        position_hops: int | str | None = None,
    ):
        super().__init__(
            arch,
            readout,
            aggr,
            num_positions,
            gamma,
            hidden_channels,
            num_layers,
            dropout,
            epochs,
            patience,
            batch_size,
            learning_rate,
            weight_decay,
            metric,
            held_out,
            ensemble,
            reading,
            random_state,
            device,
            position_hops,
        )
        self.class_weight = class_weight

    def fit(self, graphs: Any, y: ArrayLike | None = None) -> SSReadClassifier:
        """Trains on graphs and their classes or labels, by default those of a ``GraphSet``."""
        if self.class_weight not in (None, "balanced"):
            raise InputError(f"class_weight must be 'balanced' or None, but {self.class_weight!r} was given.")
        self._check_settings()
        read, rows = self._read_to_learn(graphs, y)
        if rows is None and read.task == REGRESSION:
            raise InputError(f"{read.name} has numbers to predict, not classes: use SSReadRegressor.")
        if rows is not None and rows.ndim == 2:
            read = with_targets(read, rows, y, MULTILABEL)
        elif rows is not None or read.task == CLASSIFICATION:
            labels = _names_of_classes(read) if rows is None else rows
            check_classification_targets(labels)
            self.classes_, numbers = np.unique(labels, return_inverse=True)
            names = tuple(str(name) for name in self.classes_)
            classes = torch.from_numpy(numbers.astype(np.int64))
            read = dataclasses.replace(read, y=classes, class_names=names, task=CLASSIFICATION, target_names=())
        if read.task == MULTILABEL:
            self.classes_ = [np.array([0, 1]) for _ in read.target_names]
        self._train(read, balanced=self.class_weight == "balanced")
        return self

    def predict(self, graphs: Any) -> NDArray[Any]:
        """The most probable class of every graph, [n]; of several labels 0 or 1 for each, [n, T]."""
        probabilities = self.predict_proba(graphs)
        if self.model_.task == MULTILABEL:
            return (probabilities > 0.5).astype(np.int64)
        assert isinstance(self.classes_, np.ndarray)
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_proba(self, graphs: Any) -> NDArray[np.float32]:
        """The probability of every class, in the order of ``classes_``, [n, C]; of several labels that of 1, [n, T]."""
        return self._predictions(graphs)

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of graphs predicted correctly: the class, or all of the labels that are known.

        Args:
            graphs: The graphs.
            y: Their classes or labels, by default those of a ``GraphSet``. If it was fitted on a ``GraphSet`` without
                ``y``, the names of classes, which may be numbers, or the tensor ``GraphSet.y``.
            sample_weight: The weight of every graph.
        """
        predicted = self.predict(graphs)
        if self.model_.task == CLASSIFICATION:
            true = self._as_classes(graphs, y)
            known = np.ones(len(true), dtype=bool)
        else:
            true = np.asarray(_own_targets(graphs) if y is None else y, dtype=np.float64)
            known = ~np.isnan(true)
        if true.shape != predicted.shape:
            raise InputError(f"y has the shape {list(true.shape)}, but predictions have {list(predicted.shape)}.")
        right = (true == predicted) | ~known
        return float(np.average(right.reshape(len(right), -1).all(axis=1), weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _as_classes(self, graphs: Any, y: Any) -> NDArray[Any]:
        """Classes of the type of ``classes_``, which are names where they come from a ``GraphSet``."""
        assert isinstance(self.classes_, np.ndarray)
        names = self.classes_.dtype.kind in "UO"
        if y is None or (names and isinstance(graphs, GraphSet) and y is graphs.y):
            _own_targets(graphs)
            return _names_of_classes(graphs)
        labels = np.asarray(y)
        if not names or labels.dtype.kind not in "iufb":
            return labels
        texts = np.array([str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in labels.tolist()])
        if not np.isin(texts, self.classes_).all():
            unknown = texts[~np.isin(texts, self.classes_)][0]
            listed = ", ".join(map(str, self.classes_))
            raise InputError(f"y has {unknown}, but the classes of the model are {listed}: give their names.")
        return texts


def _names_of_classes(graphs: GraphSet) -> NDArray[Any]:
    """The name of every graph's class."""
    assert graphs.y is not None
    return np.array(graphs.class_names)[graphs.y.cpu().numpy()]


def _own_targets(graphs: Any) -> torch.Tensor:
    """What a ``GraphSet`` says is true of its graphs."""
    if not isinstance(graphs, GraphSet) or graphs.y is None:
        raise InputError("score requires y to be passed: the graphs have no labels of their own.")
    return graphs.y
