"""Node vectors and prototypes in the plane, by t-SNE (the paper's figure 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from ssread.data.graphset import GraphSet
from ssread.explain.forward import classifier, node_vectors
from ssread.explain.positions import has_positions

__all__ = ["NodeMap", "node_map"]

#: t-SNE preserves neighbourhoods; fewer points than this are all put at the origin.
MIN_POINTS = 5


@dataclass(frozen=True, eq=False)
class NodeMap:
    """Nodes of a dataset in the plane.

    Attributes:
        nodes: Their rows in the node columns of the dataset, [n], ascending.
        coordinates: Their coordinates, [n, 2].
        prototypes: The coordinates of the prototypes, [K, 2]; K is 0 without SSRead.
    """

    nodes: np.ndarray
    coordinates: np.ndarray
    prototypes: np.ndarray


def node_map(model: Any, graphs: GraphSet, max_nodes: int = 1000, seed: int = 0) -> NodeMap:
    """t-SNE of node vectors under the cosine distance, which also aligns the nodes. Deterministic for a seed.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
        max_nodes: The largest number of nodes; more are sampled at random.
        seed: Seed of the sample and of t-SNE.
    """
    vectors = node_vectors(model, graphs)
    if has_positions(model):
        vectors = classifier(model).readout.aligned(vectors)
    lengths = vectors.norm(dim=1)
    nonzero = (lengths > 0).nonzero().squeeze(1)  # a zero vector has no direction
    order = torch.randperm(len(nonzero), generator=torch.Generator().manual_seed(seed))
    nodes = nonzero[order[:max_nodes]].sort().values
    points = vectors[nodes] / lengths[nodes].unsqueeze(1)
    prototypes = torch.zeros(0, vectors.size(1))
    if has_positions(model):
        prototypes = torch.nn.functional.normalize(classifier(model).readout.prototypes.detach().cpu(), dim=1)
    joined = torch.cat([points, prototypes]).double().numpy()
    coordinates = np.zeros((len(joined), 2))
    if len(joined) >= MIN_POINTS:
        perplexity = min(30, (len(joined) - 1) / 3)
        tsne = TSNE(metric="cosine", init="random", random_state=seed, perplexity=perplexity, n_jobs=1)
        with threadpool_limits(1):  # the order of additions depends on the number of threads
            coordinates = tsne.fit_transform(joined)
    return NodeMap(nodes.numpy(), coordinates[: len(nodes)], coordinates[len(nodes) :])
