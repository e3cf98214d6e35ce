"""The functional group of every atom, found by RDKit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import molecules

if TYPE_CHECKING:
    from rdkit.Chem import Mol

__all__ = ["GROUPS", "GROUP_COLUMN", "functional_groups", "with_functional_groups"]

#: The node column that stores the groups, for machines without RDKit.
GROUP_COLUMN = "functional_group"

#: Names and SMARTS (alternatives separated by blanks). An atom has the first group it matches, a hydrogen that of its
#: neighbour.
GROUPS = {
    "nitro": "[$([NX3+](=O)[O-]),$([NX3](=O)=O)](~[OX1])~[OX1]",
    "nitroso": "[NX2;$([NX2]=[OX1])]=[OX1]",
    "azide": "[N]=[N+]=[N-]",
    "azo": "[NX2;!$([NX2]=[OX1])]=[NX2]",
    "N-oxide": "[#7+][OX1-]",
    "nitrile": "C#N",
    "carboxylic acid": "C(=O)[OX1-,$([OX2H1])]",
    "ester": "[#6](=O)[OX2H0]",
    "amide": "[#6](=O)[NX3]",
    "carbonyl": "[#6]=[OX1]",
    "sulfur-oxygen": "[#16]=[OX1]",
    "phosphorus-oxygen": "P=O",
    "epoxide": "[CX4]1[OX2][CX4]1",
    "amino": "[NX3;H2]",
    "amine": "[NX3;!a]",
    "hydroxyl": "[OX2H1]",
    "ether": "[OX2H0]",
    "halide": "[F,Cl,Br,I]",
    "heteroaromatic ring": "[!#6;a]1aaaaa1 [!#6;a]1aaaa1",
    "aromatic ring": "a",
    "alkene": "[CX3]=[CX3]",
    "alkyne": "C#C",
    "aliphatic ring": "[R]",
    "alkyl": "[CX4]",
    "other": "*",
}


def functional_groups(graphs: GraphSet) -> Tensor:
    """The group of every atom as an index into :data:`GROUPS`, [N]; -1 in molecules that RDKit does not accept.

    Where the dataset has the node column :data:`GROUP_COLUMN`, the column is returned and RDKit is not needed.
    """
    if GROUP_COLUMN in graphs.node_columns:
        return graphs.node_columns[GROUP_COLUMN].cpu()
    rebuilt = molecules(graphs)  # raises a MissingExtraError without RDKit
    from rdkit import Chem

    patterns = [[Chem.MolFromSmarts(one) for one in smarts.split()] for smarts in GROUPS.values()]
    groups: list[int] = []
    for molecule, size in zip(rebuilt, graphs.node_counts.tolist(), strict=True):
        groups += [-1] * size if molecule is None else _atom_groups(molecule, patterns)
    return torch.tensor(groups, dtype=torch.long)


def with_functional_groups(graphs: GraphSet) -> GraphSet:
    """The same graphs with their groups as a node column; once saved, they can be scored without RDKit."""
    return replace(graphs, node_columns={**graphs.node_columns, GROUP_COLUMN: functional_groups(graphs)})


def _atom_groups(molecule: Mol, patterns: list[list[Mol]]) -> list[int]:
    groups = [-1] * molecule.GetNumAtoms()
    for number, alternatives in enumerate(patterns):
        matches = (molecule.GetSubstructMatches(pattern, maxMatches=10_000) for pattern in alternatives)
        for atom in {atom for each in matches for match in each for atom in match}:
            if groups[atom] < 0:
                groups[atom] = number
    for atom in molecule.GetAtoms():
        if atom.GetAtomicNum() == 1 and atom.GetDegree() == 1:
            groups[atom.GetIdx()] = groups[atom.GetNeighbors()[0].GetIdx()]
    return groups
