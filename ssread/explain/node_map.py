"""Node vectors in the plane, with the prototypes among them (the paper's figure 1)."""

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

#: Fewer points than this have no neighbours to keep.
FEWEST = 5


@dataclass(frozen=True, eq=False)
class NodeMap:
    """Some nodes of a set in the plane.

    Attributes:
        nodes: Their rows in the set's node columns, [n], in order.
        places: Where they stand, [n, 2].
        prototypes: Where the prototypes stand, [K, 2]; none without SSRead.
    """

    nodes: np.ndarray
    places: np.ndarray
    prototypes: np.ndarray


def node_map(model: Any, graphs: GraphSet, most: int = 1000, seed: int = 0) -> NodeMap:
    """t-SNE of node vectors by the cosine distance, by which nodes are aligned; the same points for the same seed.

    Args:
        model: What :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
        most: How many nodes at most; of more, so many are drawn at random.
        seed: Of the draw and of t-SNE.
    """
    vectors = node_vectors(model, graphs)
    lengths = vectors.norm(dim=1)
    there = (lengths > 0).nonzero().squeeze(1)  # a vector of zeros has no direction
    order = torch.randperm(len(there), generator=torch.Generator().manual_seed(seed))
    nodes = there[order[:most]].sort().values
    points = vectors[nodes] / lengths[nodes].unsqueeze(1)
    prototypes = torch.zeros(0, vectors.size(1))
    if has_positions(model):
        prototypes = torch.nn.functional.normalize(classifier(model).readout.prototypes.detach().cpu(), dim=1)
    together = torch.cat([points, prototypes]).double().numpy()
    places = np.zeros((len(together), 2))
    if len(together) >= FEWEST:
        scaling = TSNE(
            metric="cosine", init="random", random_state=seed, perplexity=min(30, (len(together) - 1) / 3), n_jobs=1
        )
        with threadpool_limits(1):  # several threads add up in another order
            places = scaling.fit_transform(together)
    return NodeMap(nodes.numpy(), places[: len(nodes)], places[len(nodes) :])
