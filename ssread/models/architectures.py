"""The architectures by name: the rows of the paper's Table II, the base classifier and the structure-blind baseline.

Nothing here needs torch, so that a wrong name is refused at once: an encoder is imported when it is used.
"""

from dataclasses import dataclass
from numbers import Integral
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from ssread.errors import InputError

if TYPE_CHECKING:
    from ssread.models.graphs import Encoder

__all__ = [
    "AGGREGATIONS",
    "ARCHITECTURES",
    "LEARNT",
    "MOST_HOPS",
    "PLACED",
    "READOUTS",
    "Architecture",
    "check_places",
    "check_readout",
    "find_architecture",
    "hops_of",
]

#: The readouts by name: the paper's GRead, and SSRead.
READOUTS = ("global", "ssread")

#: The keys of :data:`ssread.aggregate.NAMES`, which needs torch.
AGGREGATIONS = ("sum", "max", "mean", "attention", "set2set", "sort")

#: The architectures whose readout reads one row per node, so that every row has a place in the structure.
PLACED = ("gcn", "gin", "dgcnn", "structure_blind")

#: Where positions from the structure are usual, within so many hops, this word asks for learnt ones.
USUAL_HOPS, LEARNT = 1, "learnt"

#: More hops would take memory and tell no more.
MOST_HOPS = 100


@dataclass(frozen=True)
class Architecture:
    """One graph classifier of the paper.

    Attributes:
        code: ``module:class`` of the encoder.
        aggr: The original's aggregation.
        head_layers: How many linear layers classify.
        paper: The row of Table II: message passing, pooling, ratio, architecture, readout, classification.
        numerics: The version of the numerics, as in :data:`ssread.train.runs.OBJECTIVES`.
    """

    code: str
    aggr: str | list[str]
    head_layers: int
    paper: tuple[str, str, str, str, str, str] | None = None
    numerics: int = 1

    @property
    def encoder(self) -> "type[Encoder]":
        """What comes before the readout."""
        return resolve_name(f"ssread.models.{self.code}")


#: In the order of Table II, the base classifier (section V-A) first and the baseline last.
ARCHITECTURES = {
    "gcn": Architecture("gcn:GCN", "sum", 1, ("GCN", "-", "-", "MP+MP+MP", "any", "Linear")),
    "gin": Architecture("gin:GIN", "sum", 1, ("GIN", "-", "-", "MP+MP+MP+MP+MP", "sum", "Linear")),
    "dgcnn": Architecture("dgcnn:DGCNN", "sort", 2, ("GCN", "-", "-", "MP+MP+MP+MP", "sort(+Conv)", "2L MLP")),
    "diffpool": Architecture(
        "diffpool:DiffPool",
        "max",
        2,
        ("SAGE", "DiffPool", "0.1", "(MP+MP+MP)+Pool+MP", "max", "2L MLP"),
        numerics=3,  # constant channels stay zero in evaluation, from the first batch on
    ),
    "sagpool": Architecture(
        "sagpool:SAGPool",
        ["max", "mean"],
        3,
        ("GCN", "SAGPool", "0.5,0.5,0.5", "MP+Pool+MP+Pool+MP+Pool", "max,mean", "3L MLP"),
    ),
    "gunet": Architecture(
        "gunet:GraphUNet",
        ["sum", "max", "mean"],
        2,
        ("GCN", "TopKPool", "0.9,0.8,0.7", "(MP+Pool+MP+Pool+MP+Pool)+(MP+MP+MP)", "sum,max,mean", "2L MLP"),
    ),
    "structure_blind": Architecture("structure_blind:StructureBlind", "sum", 2, numerics=2),  # as diffpool
}


def find_architecture(name: str) -> Architecture:
    """The architecture of this name."""
    if name not in ARCHITECTURES:
        raise InputError(f"There is no model {name!r}. Choose one of {', '.join(ARCHITECTURES)}.")
    return ARCHITECTURES[name]


def check_readout(name: str) -> None:
    """Raises an ``InputError`` unless there is a readout of this name."""
    if name not in READOUTS:
        raise InputError(f"There is no readout {name!r}. Choose {' or '.join(READOUTS)}.")


def check_places(position_hops: int, arch: str, readout: str = "ssread") -> None:
    """Raises an ``InputError`` unless a model can have positions from the structure within so many hops."""
    if readout != "ssread" or arch not in PLACED:
        raise InputError(
            f"position_hops needs the readout ssread and one of {', '.join(PLACED)}, but {arch} with the readout "
            f"{readout} was given."
        )
    if not isinstance(position_hops, Integral) or not 0 <= position_hops <= MOST_HOPS:
        found = str(position_hops)[:50]
        raise InputError(f"position_hops must be a whole number from 0 to {MOST_HOPS}, but {found} was given.")


def hops_of(position_hops: int | str | None, arch: str, readout: str) -> int | None:
    """Returns within how many hops the positions of a kept model come from the structure; ``None``: they are learnt.

    Unless the caller says otherwise, positions come from the structure where the model can have such: they are nearly
    the same in every training, and no less accurate (docs/explanations.md).
    """
    if position_hops is None:
        return USUAL_HOPS if readout == "ssread" and arch in PLACED else None
    if position_hops == LEARNT:
        return None
    if isinstance(position_hops, str):
        raise InputError(f"position_hops must be a number of hops or {LEARNT}, but {position_hops[:50]} was given.")
    check_places(position_hops, arch, readout)
    return int(position_hops)
