"""Rows of a molecule file: blocks of text that RDKit parses into molecules.

A block can be sent to another process before it is parsed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssread.errors import InputError, missing_extra

__all__ = ["Block", "Columns", "MoleculeRows", "parse_smiles"]


@dataclass(frozen=True)
class MoleculeRows:
    """Parsed molecules with their row numbers, texts, labels and ids.

    Attributes:
        unit: What the numbers count: lines, rows or molecules, in the singular.
        numbers: The number of every row.
        molecules: RDKit molecules; ``None`` where RDKit could not read one.
        texts: The SMILES of every row.
        labels: The label of every row, a tuple of them if several columns were named, ``None`` if none was.
        ids: The id of every row, or ``None`` if no id column was named.
        problems: The numbers of the rows with each problem found before parsing.
    """

    unit: str
    numbers: Sequence[int]
    molecules: Sequence[Any]
    texts: Sequence[str]
    labels: Sequence[Any] | None
    ids: Sequence[Any] | None
    problems: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Columns:
    """The columns (in an .sdf: the properties) to read, and whether to keep the hydrogens of an .sdf as atoms."""

    smiles: str
    label: str | Sequence[str] | None
    id: str | None
    hydrogens: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the label columns; a text names several with commas between them."""
        if self.label is None:
            return ()
        return label_names(self.label)


@dataclass(frozen=True)
class Block:
    """Some rows of a file as text; ``records`` are the whole records of an .sdf."""

    path: Path
    unit: str
    numbers: Sequence[int]
    smiles: Sequence[Any] = ()
    labels: Sequence[Any] | None = None
    ids: Sequence[Any] | None = None
    problems: dict[str, list[int]] = field(default_factory=dict)
    records: Sequence[str] | None = None
    columns: Columns | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def parse(self) -> MoleculeRows:
        """Parses the text into molecules."""
        if self.records is not None:
            return _parse_records(self)
        texts = [str(text or "") for text in self.smiles]
        molecules = parse_smiles(self.smiles)
        return MoleculeRows(self.unit, self.numbers, molecules, texts, self.labels, self.ids, self.problems)


def label_names(label: str | Sequence[str]) -> tuple[str, ...]:
    """Returns the names of label columns, given as a list or as a text with commas between them.

    >>> label_names("NR-AR, NR-AhR"), label_names(["a,b"])
    (('NR-AR', 'NR-AhR'), ('a,b',))
    """
    return tuple(name.strip() for name in label.split(",")) if isinstance(label, str) else tuple(label)


def joined_labels(columns: Sequence[Sequence[Any]]) -> Sequence[Any] | None:
    """Returns the labels of every row: a cell of one column, a tuple of the cells of several, ``None`` for none."""
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def parse_smiles(smiles: Sequence[Any]) -> list[Any]:
    """Returns RDKit molecules, with ``None`` for what is not SMILES; RDKit's own messages are suppressed.

    Nothing may follow the SMILES: RDKit would read ``"CCO 12"`` as ethanol with the name 12.
    """
    Chem, silence = _rdkit()
    parameters = Chem.SmilesParserParams()
    parameters.parseName = False
    parameters.allowCXSMILES = False

    def parse(text: Any) -> Any:
        if not isinstance(text, str) or not text.strip() or not text.isascii():
            return None
        try:
            return Chem.MolFromSmiles(text.strip(), parameters)
        except (RuntimeError, ValueError):  # RDKit raises these in some cases instead of returning None
            return None

    with silence():
        return [parse(text) for text in smiles]


def _parse_records(block: Block) -> MoleculeRows:
    Chem, silence = _rdkit()
    columns = block.columns
    assert columns is not None
    assert block.records is not None
    molecules = []
    with silence():
        for record in block.records:
            supplier = Chem.SDMolSupplier()
            supplier.SetData(record, removeHs=not columns.hydrogens)
            molecules.append(supplier[0] if len(supplier) else None)
    found = sorted({name for molecule in molecules if molecule is not None for name in molecule.GetPropNames()})
    for name in (*columns.labels, columns.id):
        if name is not None and name not in found and block.numbers[0] == 1:  # a later block may have none
            raise InputError(
                f"{block.path}: no record has a property {name!r}; the properties are {', '.join(found) or 'none'}."
            )

    def values(name: str) -> list[str | None]:
        return [m.GetProp(name) if m is not None and m.HasProp(name) else None for m in molecules]

    texts = ["" if molecule is None else Chem.MolToSmiles(molecule) for molecule in molecules]
    labels = joined_labels([values(name) for name in columns.labels])
    ids = None if columns.id is None else values(columns.id)
    return MoleculeRows(block.unit, block.numbers, molecules, texts, labels, ids)


def _rdkit() -> tuple[Any, Any]:
    """Returns RDKit's ``Chem`` and the context manager that suppresses its messages."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise missing_extra("RDKit", "chem", "Reading molecules") from error
    return Chem, rdBase.BlockLogs
