"""How poolings divide the nodes of a graph, to stand beside positions (the paper's figure 5)."""

import warnings
from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array
from sklearn.cluster import SpectralClustering
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.forward import classifier, passes
from ssread.models.topk import SAGPooling, TopKPooling

__all__ = ["diffpool_clusters", "poolings_survived", "spectral_clusters"]


def spectral_clusters(graphs: GraphSet, num_clusters: int) -> Tensor:
    """Every graph cut into connected parts by spectral clustering, as EigenPool does; the part of every node, [N].

    Parts are numbered within their graph by their first node: part 0 of one graph need not resemble that of another.
    """
    found = [_cut(graphs, number, num_clusters) for number in range(len(graphs))]
    return torch.from_numpy(np.concatenate(found)) if found else torch.zeros(0, dtype=torch.long)


def poolings_survived(model: Any, graphs: GraphSet) -> Tensor:
    """How many of the model's top-k or self-attention poolings keep every node, [N]."""
    model = classifier(model)
    layers = [layer for layer in model.modules() if isinstance(layer, TopKPooling | SAGPooling)]
    if not layers:
        raise InputError("This model keeps all nodes: choose gunet (top-k pooling) or sagpool.")
    kept: list[Tensor] = []
    hooks = [layer.register_forward_hook(lambda _, __, output: kept.append(output[1])) for layer in layers]
    found = []
    try:
        for _ in passes(model, graphs):
            found.append(torch.stack(kept).sum(dim=0).long().cpu())
            kept.clear()
    finally:
        _remove(hooks)
    return torch.cat(found) if found else torch.zeros(0, dtype=torch.long)


def diffpool_clusters(model: Any, graphs: GraphSet) -> Tensor:
    """DiffPool's largest cluster of every node, [N]."""
    model = classifier(model)
    found = []
    for part in passes(model, graphs):
        if part.clusters is None:
            raise InputError("This model makes no clusters: choose diffpool.")
        found.append(part.clusters.argmax(dim=1).cpu())
    return torch.cat(found) if found else torch.zeros(0, dtype=torch.long)


def _cut(graphs: GraphSet, number: int, num_clusters: int) -> np.ndarray:
    nodes = int(graphs.node_counts[number])
    if nodes <= num_clusters:
        return np.arange(nodes)
    edges = graphs.edge_index[:, graphs.edge_ptr[number] : graphs.edge_ptr[number + 1]].cpu().numpy()
    weights = coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(nodes, nodes)).toarray()
    weights = np.maximum(weights, weights.T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a graph in several pieces is cut all the same
        cluster = SpectralClustering(num_clusters, affinity="precomputed", assign_labels="cluster_qr", random_state=0)
        labels = cluster.fit_predict(weights)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first.argsort().argsort()[inverse]


def _remove(hooks: list[Any]) -> None:
    for hook in hooks:
        hook.remove()
