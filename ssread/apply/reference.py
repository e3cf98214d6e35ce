"""How far a graph is from those that a model was trained on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet

if TYPE_CHECKING:
    from ssread.apply.trained_model import TrainedModel

__all__ = ["PREFIX", "Reference"]

#: The most training graphs that are kept.
MOST_GRAPHS = 1000

#: How the names of its tensors begin in the file of the weights.
PREFIX = "reference."


@dataclass(frozen=True, eq=False)
class Reference:
    """The graph vectors of some training graphs, by the first member.

    Attributes:
        vectors: The vectors less their mean, divided by the largest entry, [R, D], float16.
        mean: Their mean, [D].
        largest: The largest entry, [].
        usual: The median distance of a vector to its nearest neighbour, in the same unit as ``vectors``, [].
    """

    vectors: Tensor
    mean: Tensor
    largest: Tensor
    usual: Tensor

    @classmethod
    def of(cls, model: "TrainedModel", graphs: GraphSet, seed: int = 0) -> "Reference":
        """Takes up to 1000 training graphs, drawn with ``seed``, as the model reads them."""
        drawn = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(seed))[:MOST_GRAPHS]
        vectors = torch.cat([outputs[0].vectors.cpu() for _, outputs in model.run(graphs[drawn.sort().values])])
        mean = vectors.mean(dim=0)
        largest = _or_one((vectors - mean).abs().max())
        kept = ((vectors - mean) / largest).half()
        between = torch.cdist(kept.float(), kept.float(), compute_mode="donot_use_mm_for_euclid_dist")
        nearest = between.fill_diagonal_(torch.inf).min(dim=1).values
        apart = nearest[nearest.isfinite() & (nearest > 0)]  # copies of a graph say nothing about distances
        return cls(kept, mean, largest, apart.median() if len(apart) else torch.ones(()))

    def distances(self, vectors: Tensor) -> Tensor:
        """The distance of graph vectors [n, D] to the nearest training graph, [n]; 1 is usual among these."""
        own = (vectors - self.mean.to(vectors)) / self.largest.to(vectors)
        known = self.vectors.to(vectors)
        nearest = (known.square().sum(dim=1) - 2 * own @ known.T).argmin(dim=1)  # of |own - known|^2 less |own|^2
        return (own - known[nearest]).norm(dim=1) / self.usual.to(vectors)

    def tensors(self) -> dict[str, Tensor]:
        """Returns the tensors by the names that a file has for them."""
        return {f"{PREFIX}{name}": value.contiguous() for name, value in vars(self).items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], width: int) -> "Reference":
        """Rebuilds what :meth:`tensors` returned; raises a ``ValueError`` if it is not for vectors of this width."""
        found = {name.removeprefix(PREFIX): value for name, value in tensors.items()}
        rows = next(iter(found["vectors"].shape), 0) if "vectors" in found else 0
        expected = {"vectors": [rows, width], "mean": [width], "largest": [], "usual": []}
        for name in sorted(expected.keys() | found.keys()):
            shape = list(found[name].shape) if name in found else None
            if shape != expected.get(name):
                raise ValueError(f"{PREFIX + name!r} has the shape {shape}, expected {expected.get(name)}")
            if not bool(found[name].isfinite().all()):
                raise ValueError(f"{PREFIX + name!r} has entries that are not finite")
        if not (rows and found["largest"] > 0 and found["usual"] > 0):
            raise ValueError("the reference has no graphs, or a scale that is not positive")
        return cls(**found)


def _or_one(value: Tensor) -> Tensor:
    return torch.where(value > 0, value, 1.0)
