"""A model that predicts numbers of graphs, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ssread.data.graphset import GraphSet
from ssread.data.task_names import REGRESSION
from ssread.errors import InputError
from ssread.estimator.base import GraphEstimator, with_targets

__all__ = ["SSReadRegressor"]


class SSReadRegressor(RegressorMixin, GraphEstimator):
    """A graph neural network with structural semantic readout that predicts numbers, as a scikit-learn estimator.

    Graphs are those of :class:`ssread.SSReadClassifier`. ``y`` is a number per graph, [n], or several, [n, T], NaN
    where one is not known. Numbers are standardised for training and predicted in their own unit.

    Args:
        arch: As of :class:`ssread.SSReadClassifier`, like all other settings.
        metric: The metric on the held-out graphs that chooses the epoch: ``rmse`` (the default), ``mae``, ``r2`` or
            ``spearman``.

    Attributes:
        model_: The :class:`ssread.apply.TrainedModel`, to save, to predict files with, and to export.
        n_iter_: The number of epochs of the longest training.

    >>> import networkx as nx
    >>> graphs = [nx.star_graph(n) for n in range(4, 24)]
    >>> regressor = SSReadRegressor(epochs=2, hidden_channels=16).fit(graphs, [float(len(graph)) for graph in graphs])
    >>> regressor.predict(graphs[:3]).shape
    (3,)
    """

    def fit(self, graphs: Any, y: ArrayLike | None = None) -> SSReadRegressor:
        """Trains on graphs and their numbers, by default those of a ``GraphSet``."""
        self._check_settings()
        read, rows = self._read_to_learn(graphs, y)
        if rows is not None:
            read = with_targets(read, rows, y, REGRESSION)
        elif read.task != REGRESSION:
            raise InputError(f"{read.name} has classes or labels, not numbers: use SSReadClassifier.")
        self._one_number = rows is not None and rows.ndim == 1
        self._train(read)
        return self

    def predict(self, graphs: Any) -> NDArray[np.float32]:
        """The numbers of every graph, in the shape of ``y``: [n] or [n, T]."""
        predicted = self._predictions(graphs)
        return predicted[:, 0] if self._one_number else predicted

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The coefficient of determination R² where numbers are known; of several numbers the mean.

        Args:
            graphs: The graphs.
            y: Their numbers, by default those of a ``GraphSet``.
            sample_weight: The weight of every graph.
        """
        predicted = self.predict(graphs)
        if y is None and (not isinstance(graphs, GraphSet) or graphs.y is None):
            raise InputError("score requires y to be passed: the graphs have no numbers of their own.")
        true = np.asarray(graphs.y if y is None else y, dtype=np.float64)
        if true.shape != predicted.shape:
            raise InputError(f"y has the shape {list(true.shape)}, but predictions have {list(predicted.shape)}.")
        weights = np.ones(len(true)) if sample_weight is None else np.asarray(sample_weight)
        scores = []
        for t, p in zip(true.reshape(len(true), -1).T, predicted.reshape(len(true), -1).T, strict=True):
            known = ~np.isnan(t)
            if known.any():
                scores.append(r2_score(t[known], p[known], sample_weight=weights[known]))
        return float(np.mean(scores))
