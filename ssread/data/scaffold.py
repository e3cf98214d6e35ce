"""Splits of molecules by scaffold, so that a model is tested on ring systems it was not trained on.

The scaffold is that of Bemis and Murcko ("The properties of known drugs. 1. Molecular frameworks", 1996): the rings
and their linkers. All molecules without a ring share the empty scaffold.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from ssread.data.graphset import GraphSet
from ssread.data.molecule_rows import parse_smiles
from ssread.data.splits import Fold
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


def scaffold_split(molecules: GraphSet | Sequence[str], validation: float = 0.1, test: float = 0.1) -> Fold:
    """Returns the usual single split by scaffold: frequent scaffolds for training, rare ones for testing.

    Scaffolds are assigned from the most to the least frequent, each to the first of train, validation and test with
    room for it. There is no random choice.

    Args:
        molecules: As in :func:`scaffolds`.
        validation: Share of the molecules in the validation part.
        test: Share of the molecules in the test part.
    """
    if not (0 < validation < 1 and 0 < test < 1 and validation + test < 1):
        raise InputError(
            f"validation={validation} and test={test} must be shares above 0 that leave molecules to train on."
        )
    groups = scaffold_groups(molecules)
    names, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    train_room = round((1 - validation - test) * len(groups))
    validation_room = round(validation * len(groups))
    part_of_scaffold = np.full(len(names), 2)
    for scaffold in np.lexsort((names, -sizes)):
        if sizes[scaffold] <= train_room:
            part_of_scaffold[scaffold], train_room = 0, train_room - sizes[scaffold]
        elif sizes[scaffold] <= validation_room:
            part_of_scaffold[scaffold], validation_room = 1, validation_room - sizes[scaffold]
    part = part_of_scaffold[group]
    parts = [np.flatnonzero(part == number) for number in range(3)]
    for name, members in zip(("training", "validation", "test"), parts, strict=True):
        if not len(members):
            raise InputError(
                f"The {len(groups)} molecules have {len(names)} scaffolds, the most frequent with {sizes.max()} "
                f"molecules: that leaves the {name} part empty. Choose larger shares, or more varied molecules."
            )
    return Fold(*(torch.from_numpy(members) for members in parts))


def _smiles(molecules: GraphSet | Sequence[str]) -> Sequence[str]:
    if not isinstance(molecules, GraphSet):
        return list(molecules)
    if "smiles" not in molecules.graph_texts:
        raise InputError(
            f"{molecules.name} has no SMILES: only datasets read from SMILES or molecule files have scaffolds."
        )
    return molecules.graph_texts["smiles"]
