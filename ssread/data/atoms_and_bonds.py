"""RDKit's properties of all atoms and bonds of many molecules, as integers.

Asking every atom and bond takes as long as parsing the molecule: each becomes a Python object, and each question is a
call. Functions of RDKit that answer for a whole molecule at once take a third of that, and leave few bonds to ask.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Hybridisation", "read_atoms_and_bonds"]

Ints = npt.NDArray[np.int64]

#: Of atoms: element, neighbours, hydrogens, hybridisation, charge, aromatic, ring, chirality (1 for R, 2 for S).
#: Of bonds: begin, end, type, conjugated, ring, stereo. Types and the like are the values of RDKit's enums.
ATOM_PROPERTIES, BOND_PROPERTIES = 8, 6


class Hybridisation:
    """Values of RDKit's enum; all others are 0 here."""

    SP, SP2, SP3 = 2, 3, 4


_CIP = "_CIPCode"
_CHIRALITY = {"R": 1, "S": 2}
_AROMATIC, _DOUBLE = 12, 2
_TYPE_OF_HALVES = np.array([0, 0, 1, _AROMATIC, _DOUBLE, 8, 3, 9, 4, 10, 5, 11, 6])  # by twice the order of a bond

#: The most atoms of a molecule that is read by its matrix of bonds.
MOST_ATOMS = 100


def read_atoms_and_bonds(molecules: Sequence[Any]) -> tuple[Ints, Ints]:
    """Returns properties of every atom, [atoms, 8], and of every bond in both directions, [2 * bonds, 6].

    Bonds are sorted by molecule, begin and end.
    """
    atoms, bonds = [np.empty((0, ATOM_PROPERTIES), np.int64)], [np.empty((0, BOND_PROPERTIES), np.int64)]
    from rdkit.Chem import GetAdjacencyMatrix

    plain = (_Plain.of(molecule, GetAdjacencyMatrix) for molecule in molecules)
    for is_plain, run in groupby(zip(molecules, plain, strict=True), key=lambda pair: pair[1] is not None):
        some = list(run)
        read = _read_together([pair[1] for pair in some if pair[1]]) if is_plain else _ask([pair[0] for pair in some])
        atoms.append(read[0])
        bonds.append(read[1])
    return np.concatenate(atoms), np.concatenate(bonds)


def _ask(molecules: Sequence[Any]) -> tuple[Ints, Ints]:
    """Asks every atom and bond: for large molecules, and for bonds of no usual order."""
    atoms, bonds = [], []
    for molecule in molecules:
        for atom in molecule.GetAtoms():
            hybridisation = int(atom.GetHybridization())
            atoms.append(
                (
                    atom.GetAtomicNum(),
                    atom.GetDegree(),
                    atom.GetTotalNumHs(includeNeighbors=True),
                    hybridisation if Hybridisation.SP <= hybridisation <= Hybridisation.SP3 else 0,
                    atom.GetFormalCharge(),
                    atom.GetIsAromatic(),
                    atom.IsInRing(),
                    _chirality(atom),
                )
            )
        both = []
        for bond in molecule.GetBonds():
            ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
            rest = int(bond.GetBondType()), bond.GetIsConjugated(), bond.IsInRing(), int(bond.GetStereo())
            both += [(*ends, *rest), (*reversed(ends), *rest)]
        bonds += sorted(both)
    return (
        np.array(atoms, dtype=np.int64).reshape(-1, ATOM_PROPERTIES),
        np.array(bonds, dtype=np.int64).reshape(-1, BOND_PROPERTIES),
    )


def _chirality(atom: Any) -> int:
    return _CHIRALITY.get(atom.GetProp(_CIP), 0) if atom.HasProp(_CIP) else 0


class _Plain(NamedTuple):
    """A molecule with its bonds, from the matrix of bond orders: the places that are not 0, and what is there."""

    molecule: Any
    places: Ints
    orders: npt.NDArray[np.float64]

    @classmethod
    def of(cls, molecule: Any, get_matrix: Callable[..., Any]) -> "_Plain | None":
        """Returns None for a molecule that is to be asked atom by atom.

        A dative bond has an order in one direction only, a bond of unknown type has none: there are too few places.
        """
        if not 0 < molecule.GetNumAtoms() <= MOST_ATOMS:
            return None
        matrix = get_matrix(molecule, useBO=True).ravel()
        places = matrix.nonzero()[0]
        return cls(molecule, places, matrix[places]) if len(places) == 2 * molecule.GetNumBonds() else None


def _read_together(plain: Sequence[_Plain]) -> tuple[Ints, Ints]:
    """Reads molecules by functions that answer for all atoms of one, and asks the bonds that they leave open."""
    element, hydrogens, charge, ring, hybridisation, chirality = _read_atoms([molecule for molecule, _, _ in plain])
    num_atoms = np.array([molecule.GetNumAtoms() for molecule, _, _ in plain])
    num_bonds = np.array([len(places) for _, places, _ in plain])
    number = np.repeat(np.arange(len(plain)), num_bonds)  # the molecule of every bond
    begin, end = np.divmod(np.concatenate([places for _, places, _ in plain]), num_atoms[number])
    first = (np.cumsum(num_atoms) - num_atoms)[number]
    source, target = first + begin, first + end
    kind = _TYPE_OF_HALVES[(2 * np.concatenate([orders for _, _, orders in plain])).astype(np.int64)]
    aromatic = kind == _AROMATIC
    aromatic_bonds = np.bincount(source[aromatic], minlength=len(element))
    if (aromatic_bonds == 1).any():  # RDKit keeps C:C as it is: in no ring, and without aromatic atoms
        return _ask([molecule for molecule, _, _ in plain])
    neighbours = np.bincount(source, minlength=len(element))
    atoms = [element, neighbours, hydrogens, hybridisation, charge, aromatic_bonds > 0, ring, chirality]

    # Aromatic bonds are conjugated and in a ring. No end of a conjugated bond is sp3; both ends of a ring bond are in
    # a ring.
    flat = hybridisation != Hybridisation.SP3
    open_ = (flat[source] & flat[target]) | ((ring[source] & ring[target]) == 1) | (kind == _DOUBLE)
    asked = np.flatnonzero(open_ & ~aromatic & (begin < end))
    bonds = np.stack([begin, end, kind, aromatic, aromatic, np.zeros_like(kind)], axis=1)
    answers = []
    for of, start, stop, order in zip(*(c[asked].tolist() for c in (number, begin, end, kind)), strict=True):
        bond = plain[of].molecule.GetBondBetweenAtoms(start, stop)
        stereo = int(bond.GetStereo()) if order == _DOUBLE else 0
        answers.append((bond.GetIsConjugated(), bond.IsInRing(), stereo))
    if answers:
        key = source * len(element) + target  # ascending
        back = np.searchsorted(key, target[asked] * len(element) + source[asked])
        bonds[asked, 3:] = bonds[back, 3:] = np.array(answers)
    return np.stack(atoms, axis=1).astype(np.int64), bonds


def _read_atoms(molecules: Sequence[Any]) -> list[npt.NDArray[Any]]:
    """Returns element, hydrogens, charge, ring, hybridisation and chirality of all atoms."""
    from rdkit.Chem import SubstructMatchParameters
    from rdkit.Chem.rdMolDescriptors import GetConnectivityInvariants

    every: Any = SubstructMatchParameters()
    every.maxMatches, every.uniquify = MOST_ATOMS, False
    patterns, with_code = _patterns(), _with_code()
    kinds: list[int] = []
    hybridisation, chirality = bytearray(), bytearray()
    for molecule in molecules:
        invariants = GetConnectivityInvariants(molecule)
        kinds += _kinds.numbers(molecule, invariants)
        of_atoms, codes = bytearray(len(invariants)), bytearray(len(invariants))
        for value, pattern in patterns.items():
            for (atom,) in molecule.GetSubstructMatches(pattern, every):
                of_atoms[atom] = value
        for (atom,) in molecule.GetSubstructMatches(with_code, every):
            codes[atom] = _chirality(molecule.GetAtomWithIdx(atom))
        hybridisation += of_atoms
        chirality += codes
    return [*_kinds.table()[kinds].T, np.frombuffer(hybridisation, np.uint8), np.frombuffer(chirality, np.uint8)]


class _Kinds:
    """Element, hydrogens, charge and ring of every kind of atom, asked for where RDKit's invariant is new.

    RDKit's connectivity invariant is a number of 32 bits made from element, bonds, hydrogens, charge, isotope and ring.
    Different kinds of atoms have different ones: a test goes through all elements, bonds, hydrogens and charges, and
    the isotopes of the elements that molecules of life and drugs have.
    """

    def __init__(self) -> None:
        self._number_of: dict[int, int] = {}
        self._rows: list[tuple[int, int, int, int]] = []
        self._lock = Lock()

    def numbers(self, molecule: Any, invariants: Sequence[int]) -> list[int]:
        """Returns the row of the table for every atom of a molecule."""
        try:
            return [self._number_of[invariant] for invariant in invariants]
        except KeyError:
            with self._lock:
                for atom, invariant in zip(molecule.GetAtoms(), invariants, strict=True):
                    if invariant not in self._number_of:
                        hydrogens, ring = atom.GetTotalNumHs(includeNeighbors=True), int(atom.IsInRing())
                        self._rows.append((atom.GetAtomicNum(), hydrogens, atom.GetFormalCharge(), ring))
                        self._number_of[invariant] = len(self._rows) - 1
            return [self._number_of[invariant] for invariant in invariants]

    def table(self) -> Ints:
        """Returns the properties of all kinds, [kinds, 4]."""
        return np.array(self._rows, dtype=np.int64)


_kinds = _Kinds()


@lru_cache(maxsize=1)
def _patterns() -> dict[int, Any]:
    """A pattern for the atoms of each hybridisation."""
    from rdkit import Chem

    values = (Hybridisation.SP, Hybridisation.SP2, Hybridisation.SP3)
    return {value: Chem.MolFromSmarts(f"[^{order}]") for order, value in enumerate(values, start=1)}


@lru_cache(maxsize=1)
def _with_code() -> Any:
    """A pattern for the atoms whose chirality RDKit has named."""
    from rdkit import Chem
    from rdkit.Chem.rdqueries import HasPropQueryAtom

    pattern = Chem.RWMol()
    pattern.AddAtom(HasPropQueryAtom(_CIP))
    return pattern.GetMol()
