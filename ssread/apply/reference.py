"""How far a graph is from those that a model was trained on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import are_molecules, molecules
from ssread.data.task_names import CLASSIFICATION
from ssread.errors import MissingExtraError

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
        ids: The names of the graphs; empty where they are not kept, as in a model of an earlier version.
        smiles: Their SMILES; empty if they are not molecules.
        known: What they are labelled with, in words; empty without labels.
    """

    vectors: Tensor
    mean: Tensor
    largest: Tensor
    usual: Tensor
    ids: tuple[str, ...] = ()
    smiles: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: "TrainedModel", graphs: GraphSet, seed: int = 0) -> "Reference":
        """Takes up to 1000 training graphs, drawn with ``seed``, as the model reads them."""
        drawn = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(seed))[:MOST_GRAPHS]
        kept_graphs = graphs[drawn.sort().values]
        vectors = torch.cat([outputs[0].vectors.cpu() for _, outputs in model.run(kept_graphs)])
        mean = vectors.mean(dim=0)
        largest = _or_one((vectors - mean).abs().max())
        kept = ((vectors - mean) / largest).half()
        between = torch.cdist(kept.float(), kept.float(), compute_mode="donot_use_mm_for_euclid_dist")
        nearest = between.fill_diagonal_(torch.inf).min(dim=1).values
        apart = nearest[nearest.isfinite() & (nearest > 0)]  # copies of a graph say nothing about distances
        usual = apart.median() if len(apart) else torch.ones(())
        return cls(
            kept, mean, largest, usual, tuple(map(str, kept_graphs.ids)), _smiles(kept_graphs), _known(kept_graphs)
        )

    def distances(self, vectors: Tensor) -> Tensor:
        """The distance of graph vectors [n, D] to the nearest training graph, [n]; 1 is usual among these."""
        return self.nearest(vectors, 1)[0].squeeze(1)

    def nearest(self, vectors: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """The nearest training graphs of graph vectors [n, D]: their distances and numbers, [n, count] each."""
        own = (vectors - self.mean.to(vectors)) / self.largest.to(vectors)
        known = self.vectors.to(vectors)
        squares = known.square().sum(dim=1) - 2 * own @ known.T  # |own - known|^2 less |own|^2
        numbers = squares.topk(min(count, len(known)), dim=1, largest=False).indices
        return (own.unsqueeze(1) - known[numbers]).norm(dim=2) / self.usual.to(vectors), numbers

    def without_texts(self) -> "Reference":
        """Returns the same vectors without names, structures and labels: distances alone can be told then."""
        return replace(self, ids=(), smiles=(), known=())

    def tensors(self) -> dict[str, Tensor]:
        """Returns the tensors by the names that a file has for them."""
        return {
            f"{PREFIX}{name}": value.contiguous() for name, value in vars(self).items() if isinstance(value, Tensor)
        }

    def texts(self) -> dict[str, list[str]]:
        """Returns the texts by name, as plain data."""
        return {name: list(value) for name, value in vars(self).items() if isinstance(value, tuple)}

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, Tensor], width: int, texts: Mapping[str, Sequence[str]] | None = None
    ) -> "Reference":
        """Rebuilds what :meth:`tensors` and :meth:`texts` returned.

        Raises a ``ValueError`` if they are not for vectors of this width, or not for the same graphs.
        """
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
        ids, smiles, known = (tuple(map(str, (texts or {}).get(name, ()))) for name in ("ids", "smiles", "known"))
        if any(len(values) not in (0, rows) for values in (ids, smiles, known)):
            raise ValueError(f"the reference has {rows} graphs, but not as many names, SMILES or labels")
        return cls(found["vectors"], found["mean"], found["largest"], found["usual"], ids, smiles, known)


def _smiles(graphs: GraphSet) -> tuple[str, ...]:
    """The SMILES of molecules, also of those rebuilt from labels where RDKit is installed; empty for other graphs."""
    if "smiles" in graphs.graph_texts:
        return tuple(graphs.graph_texts["smiles"])
    try:
        rebuilt = molecules(graphs) if are_molecules(graphs) else []
    except MissingExtraError:
        return ()
    if not rebuilt:
        return ()
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        return tuple("" if molecule is None else Chem.MolToSmiles(Chem.RemoveHs(molecule)) for molecule in rebuilt)


def _known(graphs: GraphSet) -> tuple[str, ...]:
    """What graphs are labelled with, in words."""
    if graphs.y is None:
        return ()
    if graphs.task == CLASSIFICATION:
        return tuple(graphs.class_names[number] for number in graphs.y.tolist())
    rows = [zip(graphs.target_names, row, strict=True) for row in graphs.y.tolist()]
    return tuple(", ".join(f"{name} {value:.4g}" for name, value in row if not math.isnan(value)) for row in rows)


def _or_one(value: Tensor) -> Tensor:
    return torch.where(value > 0, value, 1.0)
