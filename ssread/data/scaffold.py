"""Splits of molecules by scaffold, so that a model is tested on ring systems it was not trained on.

The scaffold is that of Bemis and Murcko ("The properties of known drugs. 1. Molecular frameworks", 1996): the rings
and their linkers. All molecules without a ring share the empty scaffold.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ssread.data.graphset import GraphSet
from ssread.data.molecule_rows import parse_smiles
from ssread.data.splits import Fold, strata
from ssread.errors import InputError


def scaffolds(molecules: GraphSet | Sequence[str]) -> list[str]:
    """Returns the scaffold of every molecule as canonical SMILES without stereochemistry.

    Args:
        molecules: SMILES, or a graph set that has them in ``graph_texts["smiles"]``.

    >>> scaffolds(["Cc1ccccc1", "CCO"])
    ['c1ccccc1', '']
    """
    texts = _smiles(molecules)
    parsed = parse_smiles(texts)
    for number, molecule in enumerate(parsed):
        if molecule is None:
            raise InputError(
                f"Molecule {number} (counting from 0) has the SMILES {texts[number]!r}: RDKit cannot read it."
            )
    from rdkit.Chem.Scaffolds import MurckoScaffold

    return [MurckoScaffold.MurckoScaffoldSmiles(mol=molecule) for molecule in parsed]


def scaffold_groups(molecules: GraphSet | Sequence[str]) -> npt.NDArray[np.int64]:
    """Returns the group of every molecule ``[G]``: the number of the first one with the same scaffold.

    With these as ``groups``, the folds of :func:`ssread.data.splits.stratified_folds` share no scaffold.

    >>> scaffold_groups(["Cc1ccccc1", "CCO", "Oc1ccccc1"]).tolist()
    [0, 1, 0]
    """
    _, first, group = np.unique(scaffolds(molecules), return_index=True, return_inverse=True)
    return first[group].astype(np.int64)


def scaffold_split(
    molecules: GraphSet | Sequence[str], validation: float = 0.1, test: float = 0.1, seed: int = 0
) -> Fold:
    """Returns a single split by scaffold: frequent scaffolds for training, rare ones in all parts.

    Scaffolds with more molecules than half a validation or test part are for training while there is room. The others
    are taken in random order, each for the part that lacks its classes (without labels: molecules) most. Every part of
    a dataset with labels must have every class: otherwise an ``InputError`` names the part and the class.

    Args:
        molecules: As in :func:`scaffolds`; a graph set may have labels.
        validation: Share of the molecules in the validation part.
        test: Share of the molecules in the test part.
        seed: The same seed gives the same split.
    """
    if not (0 < validation < 1 and 0 < test < 1 and validation + test < 1):
        raise InputError(
            f"validation={validation} and test={test} must be shares above 0 that leave molecules to train on."
        )
    groups = scaffold_groups(molecules)
    names, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    classes = np.zeros(len(groups), dtype=np.int64)
    class_names: Sequence[str] = ()
    if isinstance(molecules, GraphSet) and molecules.y is not None:
        classes, class_names = strata(molecules, 1), molecules.class_names
    part = _assign(group, classes, np.array([1 - validation - test, validation, test]), seed)[group]
    parts = dict(zip(("training", "validation", "test"), (np.flatnonzero(part == n) for n in range(3)), strict=True))
    for what, members in parts.items():
        if not len(members):
            raise InputError(
                f"The {len(groups)} molecules have {len(names)} scaffolds, the most frequent with {sizes.max()} "
                f"molecules: that leaves the {what} part empty. Choose larger shares, or more varied molecules."
            )
        for number in np.setdiff1d(classes, classes[members])[:1] if class_names else ():
            raise InputError(
                f"The {what} part of {len(members)} molecules has none of the class {class_names[number]!r}, whose "
                f"{(classes == number).sum()} molecules have {len(np.unique(group[classes == number]))} scaffolds. "
                "Choose another seed or larger shares, or leave the class out."
            )
    return Fold(*(torch.from_numpy(members) for members in parts.values()))


def _assign(
    group: npt.NDArray[Any], classes: npt.NDArray[Any], shares: npt.NDArray[Any], seed: int
) -> npt.NDArray[Any]:
    """Returns the part of every scaffold: 0 for training, 1 for validation, 2 for testing."""
    members = np.zeros((group.max() + 1, classes.max() + 1))
    np.add.at(members, (group, classes), 1)
    sizes, of_class = members.sum(axis=1), np.maximum(members.sum(axis=0), 1)
    wanted = shares[:, None] * of_class
    order = np.random.default_rng(seed).permutation(len(sizes))
    frequent = sizes > shares[1:].min() * len(group) / 2
    order = order[np.argsort(np.where(frequent, -sizes, 0)[order], kind="stable")]
    found = np.zeros_like(wanted)
    parts = np.zeros(len(sizes), dtype=np.int64)
    for scaffold in order:
        has_room = found[0].sum() + sizes[scaffold] <= shares[0] * len(group)
        if not (frequent[scaffold] and has_room):
            lack = (wanted - found) / wanted  # the share of every class that a part still lacks
            parts[scaffold] = (lack @ (members[scaffold] / of_class)).argmax()
        found[parts[scaffold]] += members[scaffold]
    return parts


def _smiles(molecules: GraphSet | Sequence[str]) -> Sequence[str]:
    if not isinstance(molecules, GraphSet):
        return list(molecules)
    if "smiles" not in molecules.graph_texts:
        raise InputError(
            f"{molecules.name} has no SMILES: only datasets read from SMILES or molecule files have scaffolds."
        )
    return molecules.graph_texts["smiles"]
