"""Facts about atoms in the words of a chemist: elements, functional groups, and what is next to what."""

from __future__ import annotations

import torch
from torch import Tensor

from ssread import segment
from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import molecules
from ssread.explain.chemical_groups import GROUP_COLUMN, GROUPS, functional_groups
from ssread.explain.structure_facts import edges_of

__all__ = ["ELEMENT_WORDS", "atom_facts", "group_facts"]

ELEMENT_WORDS = {
    "C": "carbon",
    "N": "nitrogen",
    "O": "oxygen",
    "S": "sulfur",
    "P": "phosphorus",
    "H": "hydrogen",
    "F": "fluorine",
    "Cl": "chlorine",
    "Br": "bromine",
    "I": "iodine",
}
HALOGENS = ("F", "Cl", "Br", "I")


def group_facts(graphs: GraphSet) -> dict[str, Tensor]:
    """The functional group of every atom, each as a fact; the atoms of a group and their neighbours where it helps."""
    group = functional_groups(graphs)
    names = [name if name.endswith("ring") else f"{name} group" for name in GROUPS]
    facts = {name: group == number for number, name in enumerate(names)}
    return {name: holds for name, holds in facts.items() if name != "other group"}


def atom_facts(graphs: GraphSet) -> dict[str, Tensor]:
    """Facts about the atoms of molecules, each with the atoms it holds for, [N]; needs RDKit.

    Atoms of molecules that RDKit rejects have none.
    """
    if GROUP_COLUMN in graphs.node_columns:
        return group_facts(graphs)
    symbols: list[str] = []
    flags: list[tuple[bool, int, int]] = []  # aromatic, hydrogens, charge
    for molecule, size in zip(molecules(graphs), graphs.node_counts.tolist(), strict=True):
        if molecule is None:
            symbols += [""] * size
            flags += [(False, 0, 0)] * size
            continue
        for atom in molecule.GetAtoms():
            symbols.append(atom.GetSymbol())
            flags.append((atom.GetIsAromatic(), atom.GetTotalNumHs(includeNeighbors=True), atom.GetFormalCharge()))
    aromatic, hydrogens, charge = torch.tensor(flags, dtype=torch.long).view(-1, 3).T
    is_aromatic = aromatic > 0
    element = {symbol: torch.tensor([s == symbol for s in symbols], dtype=torch.bool) for symbol in ELEMENT_WORDS}
    halogen = torch.stack([element[symbol] for symbol in HALOGENS]).any(dim=0)
    known = torch.tensor([bool(symbol) for symbol in symbols], dtype=torch.bool)
    source, target = edges_of(graphs)

    def next_to(holds: Tensor) -> Tensor:
        return segment.reduce_sum(holds[target].long(), source, len(holds)) > 0

    groups = group_facts(graphs)
    carbon, hydrogen = element["C"], element["H"]
    aromatic_carbon = carbon & is_aromatic
    outside = (~is_aromatic) & known & ~hydrogen
    facts = {
        "oxygen of a nitro group": groups["nitro group"] & element["O"],
        "nitrogen of a nitro group": groups["nitro group"] & element["N"],
        "carbon next to a nitro group": carbon & next_to(groups["nitro group"]),
        **groups,
        "aromatic CH": aromatic_carbon & (hydrogens > 0),
        "aromatic carbon with a substituent": aromatic_carbon & next_to(outside),
        "aromatic carbon without H": aromatic_carbon & (hydrogens == 0),
        "methyl": carbon & ~is_aromatic & (hydrogens == 3),
        "halogen": halogen,
        "heteroatom": known & ~carbon & ~hydrogen,
        "positive charge": charge > 0,
        "negative charge": charge < 0,
    }
    beside = {"N": element["N"], "O": element["O"], "S": element["S"], "a halogen": halogen}
    kinds = {"aromatic carbon": aromatic_carbon, "aliphatic carbon": carbon & ~is_aromatic}
    for kind, holds in kinds.items():
        facts |= {f"{kind} next to {name}": holds & next_to(other) for name, other in beside.items()}
    for name, holds in {"aromatic carbon": aromatic_carbon, "N": element["N"], "O": element["O"]}.items():
        facts[f"hydrogen on {name}"] = hydrogen & next_to(holds)
    facts |= kinds | {"aromatic nitrogen": element["N"] & is_aromatic, "aromatic atom": is_aromatic}
    facts["aliphatic CH"] = carbon & ~is_aromatic & (hydrogens > 0)
    return facts | {ELEMENT_WORDS[symbol]: holds for symbol, holds in element.items()}
