"""Baselines without a neural network: the majority class, and graph kernels with a support vector machine.

The third baseline, which sees node features but no edges, is a model like the others:
``make_model("structure_blind", ...)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from ssread.errors import InputError, missing_extra

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet

__all__ = ["KERNELS", "KernelSVM", "MajorityClass", "fit_svm", "kernel_matrix"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The kernels by name, and their class in ``grakel.kernels`` with its arguments.
KERNELS: dict[str, tuple[str, dict[str, Any]]] = {
    "wl": ("WeisfeilerLehman", {"n_iter": 5}),
    "sp": ("ShortestPath", {}),
}

#: The values of C that inner folds of the training graphs choose from.
PENALTIES = [10.0**power for power in range(-3, 4)]


class MajorityClass(BaseEstimator):
    """Predicts the most frequent class of the training graphs for every graph; no model may score less."""

    def fit(self, graphs: GraphSet) -> MajorityClass:
        """Counts the classes."""
        self.classifier_ = DummyClassifier(strategy="most_frequent").fit(np.zeros((len(graphs), 1)), _labels(graphs))
        return self

    def predict(self, graphs: GraphSet) -> Ints:
        """The majority class for every graph, [G]."""
        return self.classifier_.predict(np.zeros((len(graphs), 1)))

    def score(self, graphs: GraphSet) -> float:
        """The accuracy on these graphs."""
        return float((self.predict(graphs) == _labels(graphs)).mean())


class KernelSVM(BaseEstimator):
    """A graph kernel with a support vector machine; C is chosen by inner folds of the training graphs.

    The label of a node is its row of features, so features should be discrete. To train on many splits of one dataset,
    compute :func:`kernel_matrix` once and pass parts of it to :func:`fit_svm`.

    Args:
        kernel: ``wl`` (`Weisfeiler-Lehman subtrees <https://www.jmlr.org/papers/v12/shervashidze11a.html>`_, five
            iterations) or ``sp`` (`shortest paths <https://doi.org/10.1109/ICDM.2005.132>`_).
        seed: Seed of the inner folds.
    """

    def __init__(self, kernel: str = "wl", seed: int = 0):
        self.kernel = kernel
        self.seed = seed

    def fit(self, graphs: GraphSet) -> KernelSVM:
        """Computes the kernel matrix of the graphs and fits the support vector machine."""
        self.kernel_ = _Kernel(self.kernel)
        self.svm_ = fit_svm(self.kernel_.fit(graphs), _labels(graphs), self.seed)
        return self

    def predict(self, graphs: GraphSet) -> Ints:
        """The class of every graph, [G]."""
        return self.svm_.predict(self.kernel_.compare(graphs))

    def score(self, graphs: GraphSet) -> float:
        """The accuracy on these graphs."""
        return float((self.predict(graphs) == _labels(graphs)).mean())


def kernel_matrix(graphs: GraphSet, kernel: str = "wl") -> Floats:
    """The similarity of every pair of graphs, [G, G], within [0, 1]; see :class:`KernelSVM`."""
    return _Kernel(kernel).fit(graphs)


def fit_svm(gram: Floats, labels: Ints, seed: int = 0) -> Any:
    """Fits a support vector machine to a kernel matrix [n, n]; inner folds choose C.

    Returns:
        A fitted scikit-learn classifier whose ``predict`` takes similarities with the n graphs, [m, n].
    """
    if len(np.unique(labels)) < 2:  # an SVC needs two classes
        return DummyClassifier(strategy="most_frequent").fit(gram, labels)
    folds = min(5, int(np.bincount(labels)[np.unique(labels)].min()))
    if folds < 2:
        return SVC(kernel="precomputed").fit(gram, labels)
    inner = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return GridSearchCV(SVC(kernel="precomputed"), {"C": PENALTIES}, cv=inner).fit(gram, labels)


class _Kernel:
    """A grakel kernel, normalised so that every graph has similarity 1 with itself.

    Graphs without nodes, which grakel does not accept, have similarity 0 with all graphs.
    """

    def __init__(self, name: str):
        if name not in KERNELS:
            raise InputError(f"There is no graph kernel {name!r}. Choose one of {', '.join(KERNELS)}.")
        try:
            from grakel import kernels
        except ImportError:
            raise missing_extra("grakel", "kernels", "A graph kernel") from None
        kind, arguments = KERNELS[name]
        self.kernel = getattr(kernels, kind)(**arguments)

    def fit(self, graphs: GraphSet) -> Floats:
        self.fitted_nonempty = _nonempty(graphs)
        return self._similarities(graphs, self.kernel.fit_transform)

    def compare(self, graphs: GraphSet) -> Floats:
        return self._similarities(graphs, self.kernel.transform)

    def _similarities(self, graphs: GraphSet, compute: Callable[[list[Any]], Floats]) -> Floats:
        if not self.fitted_nonempty.any():
            raise InputError(f"{graphs.name}: none of the graphs has a node, so a kernel has nothing to compare.")
        nonempty = _nonempty(graphs)
        full = np.zeros((len(graphs), len(self.fitted_nonempty)))
        if nonempty.any():
            raw = compute([graph for graph in _grakel_graphs(graphs) if graph is not None])
            diagonal = self.kernel.diagonal()
            columns, rows = diagonal if isinstance(diagonal, tuple) else (diagonal, diagonal)
            scale = np.sqrt(np.outer(np.ravel(rows), np.ravel(columns)))
            similarities = np.divide(raw, scale, out=np.zeros_like(scale), where=scale > 0)
            full[np.ix_(nonempty, self.fitted_nonempty)] = similarities
        return full


def _nonempty(graphs: GraphSet) -> npt.NDArray[np.bool_]:
    """Which graphs have nodes, [G]."""
    return graphs.node_counts.cpu().numpy() > 0


def _grakel_graphs(graphs: GraphSet) -> list[Any]:
    """A grakel graph for every graph, None for one without nodes; grakel takes Python objects, hence the loop."""
    from grakel import Graph

    x = np.ascontiguousarray(graphs.x.cpu().numpy() + 0.0)  # makes -0.0 to 0.0: labels are compared by their bytes
    labels = x.view(np.dtype((np.void, x.itemsize * x.shape[1]))).ravel().tolist()
    node_ptr, edge_ptr = graphs.node_ptr.tolist(), graphs.edge_ptr.tolist()
    sources, targets = graphs.edge_index.tolist()
    converted = []
    for graph in range(len(graphs)):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        neighbours: dict[int, dict[int, float]] = {node: {} for node in range(last - first)}
        for edge in range(edge_ptr[graph], edge_ptr[graph + 1]):
            neighbours[sources[edge]][targets[edge]] = 1.0
        names = dict(enumerate(labels[first:last]))
        converted.append(Graph(neighbours, node_labels=names) if names else None)
    return converted


def _labels(graphs: GraphSet) -> Ints:
    if graphs.y is None:
        raise InputError(f"{graphs.name} has no labels, but every graph needs a class here.")
    return graphs.y.cpu().numpy()
