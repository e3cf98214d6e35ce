"""Features of atoms and bonds: the documented RDKit features, or labels alone as in the TU collection.

:mod:`ssread.data.atoms_and_bonds` has RDKit's properties as integers; NumPy turns these into columns for all atoms at
once.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ssread.data.atoms_and_bonds import Hybridisation, read_atoms_and_bonds
from ssread.errors import InputError

#: ``rdkit``: all columns of :data:`ATOM_COLUMNS` and :data:`BOND_COLUMNS`; ``labels``: element and bond type alone.
FEATURES = ("rdkit", "labels")

_ELEMENTS = {
    "H": 1, "B": 5, "C": 6, "N": 7, "O": 8, "F": 9, "Si": 14, "P": 15, "S": 16, "Cl": 17, "Se": 34, "Br": 35, "I": 53,
}  # fmt: skip
_HYBRIDISATIONS = {"sp": Hybridisation.SP, "sp2": Hybridisation.SP2, "sp3": Hybridisation.SP3}
_BOND_TYPES = {"single": 1, "double": 2, "triple": 3, "aromatic": 12}  # here and below: the values of RDKit's enums
_BOND_STEREO = {"Z": 2, "E": 3}

ATOM_COLUMNS = (
    *(f"element={symbol}" for symbol in (*_ELEMENTS, "other")),
    *(f"neighbours={count}" for count in (0, 1, 2, 3, 4, "5+")),
    *(f"hydrogens={count}" for count in (0, 1, 2, 3, "4+")),
    *(f"hybridisation={kind}" for kind in (*_HYBRIDISATIONS, "other")),
    "charge",
    "aromatic",
    "ring",
    "chirality=R",
    "chirality=S",
)
BOND_COLUMNS = (*(f"bond={kind}" for kind in (*_BOND_TYPES, "other")), "conjugated", "ring", "stereo=Z", "stereo=E")

_LABEL_BOND_COLUMNS = BOND_COLUMNS[: len(_BOND_TYPES) + 1]

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class MoleculeColumns(NamedTuple):
    """Molecules as flat columns, named after the arguments of :func:`ssread.data.assemble.assemble`."""

    num_nodes: Ints
    x: Floats
    graph_of_edge: Ints
    edges: Ints
    edge_attr: Floats
    node_feature_names: tuple[str, ...]
    edge_feature_names: tuple[str, ...]


def molecule_columns(
    molecules: Sequence[Any], features: str = "rdkit", elements: Sequence[str] | None = None
) -> MoleculeColumns:
    """Turns RDKit molecules into flat columns, with every bond in both directions.

    Args:
        molecules: RDKit molecules; one without atoms becomes a graph without nodes.
        features: One of :data:`FEATURES`.
        elements: For ``features="labels"``: the element symbols that get a column, in this order. By default the
            elements found, by atomic number. For a trained model, pass those of its training set.
    """
    if features not in FEATURES:
        raise InputError(f"features={features!r} is not an option: choose {' or '.join(map(repr, FEATURES))}.")
    if elements is not None and features != "labels":
        raise InputError("elements= needs features='labels'; the rdkit columns are always the same.")
    num_nodes = np.array([molecule.GetNumAtoms() for molecule in molecules], dtype=np.int64)
    num_bonds = np.array([molecule.GetNumBonds() for molecule in molecules], dtype=np.int64)
    atoms, bonds = read_atoms_and_bonds(molecules)
    if features == "rdkit":
        x, atom_names = _atom_features(atoms), ATOM_COLUMNS
        edge_attr, bond_names = _bond_features(bonds), BOND_COLUMNS
    else:
        graph_of_node = np.repeat(np.arange(len(num_nodes)), num_nodes)
        x, atom_names = _element_labels(atoms[:, 0], graph_of_node, elements)
        edge_attr, bond_names = _one_hot(bonds[:, 2], _BOND_TYPES.values(), other=True), _LABEL_BOND_COLUMNS
    return MoleculeColumns(
        num_nodes=num_nodes,
        x=x,
        graph_of_edge=np.repeat(np.arange(len(num_bonds)), 2 * num_bonds),
        edges=bonds[:, :2].T,
        edge_attr=edge_attr,
        node_feature_names=atom_names,
        edge_feature_names=bond_names,
    )


def _one_hot(values: Ints, choices: Iterable[int], other: bool = False) -> Floats:
    """Returns one column per choice and, with ``other``, one for all other values."""
    listed = list(choices)
    table = np.zeros((max(listed, default=0) + 2, len(listed) + other), dtype=np.float32)
    table[:, len(listed) :] = 1
    table[listed] = np.eye(len(listed), len(listed) + other, dtype=np.float32)
    return table[np.minimum(values, len(table) - 1)]  # the last row is that of all larger values


def _atom_features(atoms: Ints) -> Floats:
    element, neighbours, hydrogens, hybridisation, charge, aromatic, ring, chirality = atoms.T
    columns = [
        _one_hot(element, _ELEMENTS.values(), other=True),
        _one_hot(np.minimum(neighbours, 5), range(6)),
        _one_hot(np.minimum(hydrogens, 4), range(5)),
        _one_hot(hybridisation, _HYBRIDISATIONS.values(), other=True),
        np.stack([charge, aromatic, ring], axis=1).astype(np.float32),
        _one_hot(chirality, (1, 2)),
    ]
    return np.concatenate(columns, axis=1)


def _bond_features(bonds: Ints) -> Floats:
    _, _, kind, conjugated, ring, stereo = bonds.T
    columns = [
        _one_hot(kind, _BOND_TYPES.values(), other=True),
        np.stack([conjugated, ring], axis=1).astype(np.float32),
        _one_hot(stereo, _BOND_STEREO.values()),
    ]
    return np.concatenate(columns, axis=1)


def _element_labels(
    element: Ints, graph_of_node: Ints, elements: Sequence[str] | None
) -> tuple[Floats, tuple[str, ...]]:
    """Returns one column per element in ``elements``, or per element found."""
    from rdkit import Chem

    table = Chem.GetPeriodicTable()
    number_of = {table.GetElementSymbol(number): number for number in range(119)}
    unknown = [symbol for symbol in elements or () if symbol not in number_of]
    if unknown:
        raise InputError(f"elements= contains {unknown}: use element symbols such as 'C' or 'Cl'.")
    numbers = np.unique(element).tolist() if elements is None else [number_of[symbol] for symbol in elements]
    unlisted = np.flatnonzero(~np.isin(element, numbers))
    if len(unlisted):
        symbol = table.GetElementSymbol(int(element[unlisted[0]]))
        raise InputError(
            f"Molecule {graph_of_node[unlisted[0]]} (counting from 0) has an atom {symbol}, which is not among "
            f"elements={list(elements or ())}: add it or leave the molecule out."
        )
    return _one_hot(element, numbers), tuple(table.GetElementSymbol(number) for number in numbers)
