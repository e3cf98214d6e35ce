"""Positions from the structure: where a node is, told by the features around it instead of by learnt vectors."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import reset

from ssread.models.graphs import Encoder, Encoding, Graphs

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet
    from ssread.models.classifier import GraphClassifier

__all__ = ["Placed", "Places", "place_prototypes", "places_of"]

#: Prototypes are placed by at most so many nodes, drawn at random.
MAX_NODES = 20_000

#: The sphere's radius over the length of the longest place: on a large sphere angles order like distances.
ROOM = 3.0


class Places(nn.Module):
    """The features of a node and their means over growing surroundings, as vectors on a sphere.

    Where all nodes have the same features, such as a constant for those that have none, the logarithm of the number of
    a node and its neighbours takes their place.

    The mean over the surroundings of h + 1 hops is that of a node and its neighbours over the surroundings of h hops.
    Places depend on no weight that is trained: whichever way a model is trained, a node has the same place. They lie on
    a large sphere, so that the cosine cost of SSRead orders prototypes like the Euclidean distance.

    Args:
        in_channels: Number of node features.
        hops: The largest surroundings; 0 for the node alone.
    """

    degrees: Tensor
    center: Tensor
    spread: Tensor
    radius: Tensor

    def __init__(self, in_channels: int, hops: int):
        super().__init__()
        self.hops = hops
        self.out_channels = in_channels * (hops + 1) + 1
        self.register_buffer("degrees", torch.zeros(1))  # 1 where degrees take the place of features
        self.register_buffer("center", torch.zeros(self.out_channels - 1))
        self.register_buffer("spread", torch.ones(self.out_channels - 1))
        self.register_buffer("radius", torch.ones(1))

    def surroundings(self, graphs: Graphs) -> Tensor:
        """Features and their means over surroundings, [N, in_channels * (hops + 1)]."""
        share = graphs.neighbours.inverse_root_degree.square().unsqueeze(-1).to(graphs.x.dtype)
        means = [graphs.x - self.degrees * share.log()]
        for _ in range(self.hops):
            means.append((graphs.neighbours.sum(means[-1]) + means[-1]) * share)
        return torch.cat(means, dim=-1)

    def forward(self, graphs: Graphs) -> Tensor:
        """The places of all nodes, [N, out_channels]; gradients end here."""
        return self.on_sphere((self.surroundings(graphs) - self.center) / self.spread).detach()

    def on_sphere(self, values: Tensor) -> Tensor:
        """Standardised values [N, d] as vectors on the sphere, [N, d + 1]; beyond its radius, on its equator."""
        height = (self.radius.square() - values.square().sum(dim=-1, keepdim=True)).clamp(min=0).sqrt()
        return torch.cat([values, height], dim=-1)

    @torch.no_grad()
    def fit(self, graphs: Graphs, num_positions: int) -> dict[str, Tensor]:
        """The buffers that follow from training graphs, by name, and the ``prototypes`` [K, out_channels] of a readout.

        Prototypes are the centres of k-means, the largest cluster first. Nothing depends on a seed.
        """
        from sklearn.cluster import KMeans

        if len(graphs.x) == 0:
            return {}
        fitted = Places(graphs.x.size(1), self.hops).to(graphs.x)
        fitted.degrees = (graphs.x == graphs.x[0]).all().to(graphs.x.dtype).view(1)
        values = fitted.surroundings(graphs).cpu()
        center, deviation = values.mean(dim=0), values.std(dim=0, correction=0)
        spread = deviation.clamp(min=1)  # features of a large scale must not drown the others; counts and types stay
        values = (values - center) / spread
        order = torch.randperm(len(values), generator=torch.Generator().manual_seed(0))[:MAX_NODES]
        rows = values[order].double().numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer different places than positions: some positions stay empty
            clusters = KMeans(min(num_positions, len(rows)), n_init=10, random_state=0).fit(rows)
        by_size = np.argsort(-np.bincount(clusters.labels_, minlength=len(clusters.cluster_centers_)), kind="stable")
        centres = torch.from_numpy(clusters.cluster_centers_[by_size]).to(values.dtype)
        centres = torch.cat([centres, centres[:1].expand(num_positions - len(centres), -1)])
        fitted.radius = ROOM * values.norm(dim=1).max().clamp(min=1e-3).view(1)  # rounding errors are no places
        found = {"degrees": fitted.degrees, "center": center, "spread": spread, "radius": fitted.radius}
        return {**found, "prototypes": fitted.on_sphere(centres)}


class Placed(Encoder):
    """An encoder whose node vectors end with the places of the nodes.

    Args:
        encoder: The encoder; it returns a row for every node.
        hops: See :class:`Places`.
    """

    def __init__(self, encoder: Encoder, hops: int):
        places = Places(encoder.in_channels, hops)
        super().__init__(encoder.in_channels, encoder.out_channels + places.out_channels, encoder.edge_channels)
        self.encoder, self.places = encoder, places

    def encode(self, graphs: Graphs) -> Encoding:
        """Returns the node vectors of checked graphs."""
        encoding = self.encoder.encode(graphs)
        return replace(encoding, x=torch.cat([encoding.x, self.places(graphs).to(encoding.x.dtype)], dim=-1))

    def reset_parameters(self) -> None:
        """Draws new weights of the encoder; places stay."""
        reset(self.encoder)


def places_of(model: GraphClassifier, graphs: GraphSet, ids: Tensor) -> dict[str, Tensor]:
    """The buffers of a model, by name, that follow from the places of training graphs; none for other models."""
    if not isinstance(model.encoder, Placed):
        return {}
    batch = Graphs.of(graphs.batch(ids))
    found = model.encoder.places.fit(batch, model.readout.num_positions)
    return {
        "readout.prototypes" if name == "prototypes" else f"encoder.places.{name}": value
        for name, value in found.items()
    }


def place_prototypes(model: GraphClassifier, graphs: GraphSet) -> None:
    """Places the prototypes of a model with ``position_hops`` by some graphs, as training does by the training part."""
    for name, value in places_of(model, graphs, torch.arange(len(graphs))).items():
        model.get_buffer(name).copy_(value)
