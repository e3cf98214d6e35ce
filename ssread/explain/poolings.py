"""How poolings group the nodes of a graph, to compare positions with (the paper's figure 5)."""

import warnings
from typing import Any

import numpy as np
import torch
from scipy.sparse import coo_array
from sklearn.cluster import SpectralClustering
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.forward import classifier, forward_passes
from ssread.models.topk import SAGPooling, TopKPooling

__all__ = ["diffpool_clusters", "poolings_survived", "spectral_clusters"]


def spectral_clusters(graphs: GraphSet, num_clusters: int) -> Tensor:
    """The cluster of every node, [N], from spectral clustering of each graph on its own, as in EigenPool.

    Clusters are numbered within their graph, by their first node. Cluster 0 of one graph need not resemble cluster 0
    of another.
    """
    clusters = [_cut(graphs, number, num_clusters) for number in range(len(graphs))]
    return torch.from_numpy(np.concatenate(clusters)) if clusters else torch.zeros(0, dtype=torch.long)


def poolings_survived(model: Any, graphs: GraphSet) -> Tensor:
    """How many of the model's top-k or self-attention poolings keep a node, [N]."""
    model = classifier(model)
    layers = [layer for layer in model.modules() if isinstance(layer, TopKPooling | SAGPooling)]
    if not layers:
        raise InputError("This model keeps all nodes: choose gunet (top-k pooling) or sagpool.")
    kept: list[Tensor] = []
    hooks = [layer.register_forward_hook(lambda _, __, output: kept.append(output[1])) for layer in layers]
    parts = []
    try:
        for _ in forward_passes(model, graphs):
            parts.append(torch.stack(kept).sum(dim=0).long().cpu())
            kept.clear()
    finally:
        for hook in hooks:
            hook.remove()
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.long)


def diffpool_clusters(model: Any, graphs: GraphSet) -> Tensor:
    """The largest DiffPool cluster of every node, [N]."""
    model = classifier(model)
    parts = []
    for forward in forward_passes(model, graphs):
        if forward.clusters is None:
            raise InputError("This model has no clusters: choose diffpool.")
        parts.append(forward.clusters.argmax(dim=1).cpu())
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.long)


def _cut(graphs: GraphSet, number: int, num_clusters: int) -> np.ndarray:
    """The spectral cluster of every node of one graph."""
    num_nodes = int(graphs.node_counts[number])
    if num_nodes <= num_clusters:
        return np.arange(num_nodes)
    edges = graphs.edge_index[:, graphs.edge_ptr[number] : graphs.edge_ptr[number + 1]].cpu().numpy()
    weights = coo_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(num_nodes, num_nodes)).toarray()
    weights = np.maximum(weights, weights.T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about graphs that are not connected
        clustering = SpectralClustering(
            num_clusters, affinity="precomputed", assign_labels="cluster_qr", random_state=0
        )
        labels = clustering.fit_predict(weights)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first.argsort().argsort()[inverse]
