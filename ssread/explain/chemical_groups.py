"""The functional group of every atom, by RDKit: what chemists call the parts of a molecule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.data.rebuild_molecules import molecules

if TYPE_CHECKING:
    from rdkit.Chem import Mol

__all__ = ["COLUMN", "GROUPS", "functional_groups", "with_functional_groups"]

#: The node column that keeps what RDKit found, for machines that have none.
COLUMN = "functional_group"

#: Names and SMARTS (alternatives apart by blanks); an atom has the first it matches, a hydrogen its neighbour's.
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
    """The group of every atom as its place in :data:`GROUPS`, [N]; -1 in molecules that RDKit does not accept.

    A node column :data:`COLUMN` is taken as it is, without RDKit.
    """
    if COLUMN in graphs.node_columns:
        return graphs.node_columns[COLUMN].cpu()
    accepted = molecules(graphs)  # says so where RDKit is missing
    from rdkit import Chem

    patterns = [[Chem.MolFromSmarts(one) for one in smarts.split()] for smarts in GROUPS.values()]
    found: list[int] = []
    for molecule, size in zip(accepted, graphs.node_counts.tolist(), strict=True):
        found += [-1] * size if molecule is None else _of_molecule(molecule, patterns)
    return torch.tensor(found, dtype=torch.long)


def with_functional_groups(graphs: GraphSet) -> GraphSet:
    """The same graphs with their groups as a node column: saved, they can be scored where there is no RDKit."""
    return replace(graphs, node_columns={**graphs.node_columns, COLUMN: functional_groups(graphs)})


def _of_molecule(molecule: Mol, patterns: list[list[Mol]]) -> list[int]:
    group = [-1] * molecule.GetNumAtoms()
    for number, alternatives in enumerate(patterns):
        matches = (molecule.GetSubstructMatches(pattern, maxMatches=10_000) for pattern in alternatives)
        for atom in {atom for each in matches for match in each for atom in match}:
            if group[atom] < 0:
                group[atom] = number
    for atom in molecule.GetAtoms():
        if atom.GetAtomicNum() == 1 and atom.GetDegree() == 1:
            group[atom.GetIdx()] = group[atom.GetNeighbors()[0].GetIdx()]
    return group
