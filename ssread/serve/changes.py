"""Changes of a molecule: another element at an atom."""

from typing import Any, NamedTuple

from ssread.data.molecule_rows import parse_smiles
from ssread.errors import InputError

__all__ = ["Changed", "change_element"]


class Changed(NamedTuple):
    """A changed molecule: its SMILES, and the number that every one of its atoms had before."""

    smiles: str
    before: list[int]


def change_element(smiles: str, atom: int, element: str) -> Changed:
    """Changes one atom to another element; hydrogens, charge and stereochemistry of that atom are made to fit.

    Args:
        smiles: The molecule.
        atom: The number of the atom, in the order of the SMILES.
        element: One of :data:`ssread.serve.jobs.ELEMENTS`.

    >>> change_element("c1ccccc1", 0, "N")
    Changed(smiles='n1ccccc1', before=[0, 1, 2, 3, 4, 5])
    """
    (molecule,) = parse_smiles([smiles])
    if molecule is None:
        raise InputError(f"RDKit cannot read {smiles!r}.")
    from rdkit import Chem, rdBase

    if not 0 <= atom < molecule.GetNumAtoms():
        count = molecule.GetNumAtoms()
        numbered = f"the SMILES has {count} atoms, numbered from 0; hydrogens at these do not count"
        raise InputError(f"There is no atom {atom} to change: {numbered}.")
    changed = Chem.RWMol(molecule)
    chosen = changed.GetAtomWithIdx(atom)
    before = chosen.GetSymbol()
    chosen.SetAtomicNum(Chem.GetPeriodicTable().GetAtomicNumber(element))
    chosen.SetFormalCharge(0)
    chosen.SetIsotope(0)
    chosen.SetNumRadicalElectrons(0)
    chosen.SetNumExplicitHs(0)
    chosen.SetNoImplicit(False)
    chosen.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    with rdBase.BlockLogs():
        try:
            Chem.SanitizeMol(changed)
            written = Chem.MolToSmiles(changed, canonical=False)
            (again,) = parse_smiles([written])
        except (ValueError, RuntimeError) as error:
            raise InputError(_sentence(atom, before, element, error)) from None
    if again is None:
        raise InputError(_sentence(atom, before, element, "it gives no valid molecule"))
    if again.GetNumAtoms() != molecule.GetNumAtoms():  # of [H][H] one atom would become part of the other
        raise InputError(_sentence(atom, before, element, "a hydrogen would no longer be an atom of its own"))
    order = changed.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"]
    return Changed(written, [int(number) for number in order])


def _sentence(atom: int, before: str, element: str, error: Any) -> str:
    reason = str(error).strip().split("\n")[0].rstrip(".")
    return f"Atom {atom} ({before}) cannot become {element} here: {reason}."
