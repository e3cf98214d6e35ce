"""What a drawing of a graph consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rdkit.Chem import Mol

__all__ = ["DOUBLE", "DOUBLE_LEFT", "DOUBLE_RIGHT", "HASHED", "SINGLE", "TRIPLE", "WEDGED", "Drawing"]

#: Kinds of bonds: the second line of a double bond is in the middle with the first, or to the left or right of it as
#: seen from its first end; the narrow end of a wedge is the first.
SINGLE, DOUBLE, TRIPLE, DOUBLE_LEFT, DOUBLE_RIGHT, WEDGED, HASHED = 1, 2, 3, 4, 5, 6, 7


@dataclass(frozen=True, eq=False)
class Drawing:
    """A graph in the plane.

    Attributes:
        coordinates: The coordinates of every node, [n, 2], y upwards; an edge has a length of about 1.
        bonds: Every edge once, as (i, j, kind); the kind of an edge that is no bond is ``SINGLE``.
        labels: The label of every node; empty for a carbon atom, and where nodes have no type.
        molecule: The RDKit molecule, where the graph is one that RDKit accepts.
    """

    coordinates: np.ndarray
    bonds: list[tuple[int, int, int]]
    labels: list[str]
    molecule: Mol | None = None
