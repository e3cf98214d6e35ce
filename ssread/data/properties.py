"""Structural properties of molecules: the numbers of rings, aromatic rings and rotatable bonds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ssread.data.rebuild_molecules import are_molecules, molecules
from ssread.errors import InputError, missing_extra

if TYPE_CHECKING:
    from ssread.data.graphset import GraphSet

__all__ = ["PROPERTIES", "with_properties"]

#: The properties in the order of the paper's figure 4, with the RDKit function that counts each.
PROPERTIES = {
    "rings": "CalcNumRings",
    "aromatic_rings": "CalcNumAromaticRings",
    "rotatable_bonds": "CalcNumRotatableBonds",
}


def with_properties(
    graphs: GraphSet, names: Sequence[str] = tuple(PROPERTIES), say: Callable[[str], None] = lambda _: None
) -> GraphSet:
    """Adds properties of molecules as graph columns; existing columns stay as they are.

    The molecules are parsed from the SMILES of the graphs, or rebuilt from the labels of atoms and bonds. A molecule
    that RDKit does not accept gets -1.

    Args:
        graphs: Molecules.
        names: Names of :data:`PROPERTIES`.
        say: Called with a sentence that lists the molecules that RDKit does not accept.

    >>> from ssread.data import from_smiles
    >>> with_properties(from_smiles(["c1ccccc1CCO", "CC"])).graph_columns["aromatic_rings"].tolist()
    [1, 0]
    """
    for name in names:
        if name not in PROPERTIES:
            raise InputError(f"There is no property {name!r}. Choose from {', '.join(PROPERTIES)}.")
    missing = [name for name in dict.fromkeys(names) if name not in graphs.graph_columns]
    if not missing:
        return graphs
    import torch  # takes seconds, which whoever asks for the names alone need not wait for

    try:
        from rdkit.Chem import rdMolDescriptors
    except ImportError:
        raise missing_extra("RDKit", "molecules", "Counting rings and bonds") from None
    if not are_molecules(graphs):
        raise InputError(
            f"{graphs.name} has neither SMILES nor labels of atoms and bonds: {', '.join(missing)} can be counted in "
            "molecules only."
        )
    found = molecules(graphs)
    rejected = [name for name, molecule in zip(graphs.ids, found, strict=True) if molecule is None]
    if len(rejected) == len(found):
        raise InputError(f"RDKit accepts none of the {len(found)} molecules of {graphs.name}.")
    if rejected:
        say(f"{len(rejected)} of {len(found)} molecules are left out because RDKit rejects them: {_first(rejected)}.")
    columns = {name: torch.tensor(_counts(found, getattr(rdMolDescriptors, PROPERTIES[name]))) for name in missing}
    return replace(graphs, graph_columns={**graphs.graph_columns, **columns})


def _counts(found: Sequence[Any], count: Callable[[Any], int]) -> list[int]:
    return [-1 if molecule is None else count(molecule) for molecule in found]


def _first(names: Sequence[str], most: int = 20) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
