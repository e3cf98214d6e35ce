"""Rows of a molecule file: blocks of text that RDKit parses into molecules.

A block can be sent to another process before it is parsed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow

from ssread.data.classes import is_missing
from ssread.errors import InputError, missing_extra

__all__ = [
    "EMPTY",
    "TITLE",
    "UNREADABLE",
    "Block",
    "Columns",
    "MoleculeRows",
    "parse_smiles",
    "properties_of",
    "split_name",
    "unreadable",
]

#: Why a row has no molecule.
EMPTY, UNREADABLE = "the cell is empty", "RDKit cannot read it"

#: A line of an atom that is a hydrogen in a record of an .sdf, in either version of the format.
_HYDROGEN_LINE = re.compile(r"^(?: *-?\d+\.\d+){3} +H |^M  V30 +\d+ +H ", re.MULTILINE)

#: The numbers of atoms that a record declares: in its fourth line (V2000), or in one of its own (V3000).
_ATOM_COUNT = re.compile(r"\A(?:.*\n){3}([ \d]{3})|^M  V30 +COUNTS +(\d+)", re.MULTILINE | re.IGNORECASE)

#: Where a line of version V3000 is continued in the next one.
_CONTINUATION = re.compile(r"-\nM  V30 ")

#: More hydrogens than this for each other atom are no molecule, so all of them count as its atoms.
MOST_HYDROGENS = 4

#: The line that begins a property of such a record.
_PROPERTY_LINE = re.compile(r"^>.*?<(.+)>")

#: The column of the titles of records.
TITLE = "name"


@dataclass(frozen=True)
class MoleculeRows:
    """Parsed molecules with their row numbers, texts, labels and ids.

    Attributes:
        unit: What the numbers count: lines, rows or molecules, in the singular.
        numbers: The number of every row.
        molecules: RDKit molecules; ``None`` where there is none.
        texts: The SMILES of every row without the name that may follow; the title of a record without a molecule.
        labels: The label of every row, a tuple of them if several columns were named, ``None`` if none was.
        ids: The id of every row, ``None`` for a row without one; or ``None`` if no row has one.
        reasons: Why a row has no molecule, by its index.
        names_split: The number of cells whose SMILES was followed by a name.
        written_hydrogens: The number of molecules with hydrogens written as atoms that RDKit made implicit.
        inputs: The further columns of the rows as they were read, or ``None`` if none were asked for.
    """

    unit: str
    numbers: Sequence[int]
    molecules: Sequence[Any]
    texts: Sequence[str]
    labels: Sequence[Any] | None
    ids: Sequence[Any] | None
    reasons: dict[int, str] = field(default_factory=dict)
    names_split: int = 0
    written_hydrogens: int = 0
    inputs: pyarrow.Table | None = None

    def id_of(self, index: int) -> str:
        """Returns the id of a row: its number where it has none."""
        given = None if self.ids is None else self.ids[index]
        return str(self.numbers[index]) if is_missing(given) else str(given)

    def place_of(self, index: int) -> str:
        """Returns where to find a row, such as "line 3"."""
        return f"{self.unit} {self.numbers[index]}"


@dataclass(frozen=True)
class Columns:
    """The columns (in an .sdf: the properties) to read.

    Attributes:
        smiles: The column of the SMILES.
        label: The column of the label, several of them as a list or with commas between, or ``None`` for none.
        id: The column of the ids; by default the names of molecules are their ids.
        hydrogens: Whether to keep the hydrogens of an .sdf as atoms.
        all: Whether to keep all columns too.
        keep: Further columns to keep, which must be there.
        most_atoms: What has more atoms in an .sdf is not parsed; ``None`` for no limit. A SMILES is limited by its
            length.
    """

    smiles: str
    label: str | Sequence[str] | None
    id: str | None
    hydrogens: bool
    all: bool = False
    keep: Sequence[str] = ()
    most_atoms: int | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the label columns; a text names several with commas between them."""
        if self.label is None:
            return ()
        return label_names(self.label)


@dataclass(frozen=True)
class Block:
    """Some rows of a file as text; ``records`` are the whole records of an .sdf, ``properties`` those to keep."""

    path: Path
    unit: str
    numbers: Sequence[int]
    smiles: Sequence[Any] = ()
    labels: Sequence[Any] | None = None
    ids: Sequence[Any] | None = None
    reasons: dict[int, str] = field(default_factory=dict)
    records: Sequence[str] | None = None
    columns: Columns | None = None
    inputs: pyarrow.Table | None = None
    properties: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def parse(self) -> MoleculeRows:
        """Parses the text into molecules."""
        if self.records is not None:
            return _parse_records(self)
        cells = [split_name(str(text)) if not is_missing(text) else ("", "") for text in self.smiles]
        molecules = parse_smiles(self.smiles)
        missing = {
            index: EMPTY if is_missing(text := self.smiles[index]) else unreadable(parse_smiles([text], check=False)[0])
            for index, molecule in enumerate(molecules)
            if molecule is None
        }
        names = [name or None for _, name in cells]
        return MoleculeRows(
            self.unit,
            self.numbers,
            molecules,
            [smiles for smiles, _ in cells],
            self.labels,
            ids=self.ids if self.ids is not None or not any(names) else names,
            reasons={**missing, **self.reasons},
            names_split=sum(bool(name) and index not in missing for index, name in enumerate(names)),
            written_hydrogens=_count_implicit(["[H]" in smiles for smiles, _ in cells], molecules),
            inputs=self.inputs,
        )


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


def split_name(text: str) -> tuple[str, str]:
    """Splits a text into a SMILES, with the extension of CXSMILES if there is one, and the name that follows it.

    >>> split_name("CCO acetic acid"), split_name("CCO |$;;R$| ethanol ")
    (('CCO', 'acetic acid'), ('CCO |$;;R$|', 'ethanol'))
    """
    smiles, *rest = text.split(None, 1) or [""]
    name = rest[0].strip() if rest else ""
    if name.startswith("|") and (end := name.find("|", 1)) > 0:
        return f"{smiles} {name[: end + 1]}", name[end + 1 :].strip()
    return smiles, name


def parse_smiles(smiles: Sequence[Any], check: bool = True) -> list[Any]:
    """Returns RDKit molecules, with ``None`` for what cannot be read; RDKit's own messages are suppressed.

    Args:
        smiles: A name may follow each SMILES, and so may the extension of CXSMILES.
        check: Whether to check and normalise the chemistry.
    """
    Chem, silence = _rdkit()
    parameters = Chem.SmilesParserParams()
    parameters.parseName = False
    parameters.allowCXSMILES = True
    parameters.sanitize = check

    def parse(text: Any) -> Any:
        if not isinstance(text, str):
            return None
        smiles, _ = split_name(text)
        if not smiles or not smiles.isascii():
            return None
        try:
            return Chem.MolFromSmiles(smiles, parameters)
        except (RuntimeError, ValueError):  # RDKit raises these in some cases instead of returning None
            return None

    with silence():
        return [parse(text) for text in smiles]


def unreadable(molecule: Any) -> str:
    """Says that RDKit cannot read a molecule, and why, if it is spelt well.

    Args:
        molecule: What RDKit reads without checking the chemistry; ``None`` if that fails, too.

    >>> [unreadable(molecule) for molecule in parse_smiles(["C1CC", "CN(C)(C)(C)C"], check=False)]
    ['RDKit cannot read it', 'RDKit cannot read it: explicit valence for atom # 1 N, 5, is greater than permitted']
    """
    Chem, silence = _rdkit()
    with silence():
        problems = [] if molecule is None else Chem.DetectChemistryProblems(molecule)
    return f"{UNREADABLE}: {_as_clause(problems[0].Message())}" if problems else UNREADABLE


def _as_clause(message: str) -> str:
    """RDKit's sentence as a part of ours, in one line.

    >>> _as_clause("Can't kekulize mol.  Unkekulized atoms: 0 1 2")
    "can't kekulize mol (unkekulized atoms: 0 1 2)"
    """
    first, _, rest = " ".join(message.split()).rstrip(".").partition(". ")
    rest = f" ({rest[0].lower()}{rest[1:]})" if rest else ""
    return f"{first[:1].lower()}{first[1:]}{rest}"


def _parse_records(block: Block) -> MoleculeRows:
    Chem, silence = _rdkit()
    columns = block.columns
    assert columns is not None
    assert block.records is not None

    def read(record: str, **options: bool) -> Any:
        supplier = Chem.SDMolSupplier()
        supplier.SetData(record, **options)
        return supplier[0] if len(supplier) else None

    reasons = _too_large(block.records, columns)
    with silence():
        molecules = [
            None if index in reasons else read(record, removeHs=not columns.hydrogens)
            for index, record in enumerate(block.records)
        ]
        for index, (record, molecule) in enumerate(zip(block.records, molecules, strict=True)):
            if molecule is None and index not in reasons:
                reasons[index] = unreadable(read(record, sanitize=False))
    found = sorted({name for molecule in molecules if molecule is not None for name in molecule.GetPropNames()})
    for name in (*columns.labels, columns.id):
        if name is not None and name not in found and block.numbers[0] == 1:  # a later block may have none
            raise InputError(
                f"{block.path}: no record has a property {name!r}; the properties are {', '.join(found) or 'none'}."
            )

    def values(name: str) -> list[str | None]:
        return [m.GetProp(name) if m is not None and m.HasProp(name) else None for m in molecules]

    titles = [record.split("\n", 1)[0].strip() for record in block.records]
    written = [bool(_HYDROGEN_LINE.search(record.replace("\r", ""))) for record in block.records]
    return MoleculeRows(
        block.unit,
        block.numbers,
        molecules,
        [title if m is None else Chem.MolToSmiles(m) for m, title in zip(molecules, titles, strict=True)],
        labels=joined_labels([values(name) for name in columns.labels]),
        ids=[title or None for title in titles] if columns.id is None else values(columns.id),
        reasons=reasons,
        written_hydrogens=_count_implicit(written, molecules),
        inputs=_property_table(block.records, titles, block.properties) if columns.all or columns.keep else None,
    )


def _too_large(records: Sequence[str], columns: Columns) -> dict[int, str]:
    """Returns the records with too many atoms, by their index; parsing one of thousands could take minutes."""
    most = columns.most_atoms
    if most is None:
        return {}
    counts = {index: listed_atoms(record, columns.hydrogens) for index, record in enumerate(records)}
    return {index: f"it has {count} atoms, more than {most}" for index, count in counts.items() if count > most}


def listed_atoms(record: str, hydrogens: bool = False) -> int:
    """Returns the number of atoms that a record of an .sdf declares, without hydrogens unless these become atoms too.

    >>> listed_atoms("\\n\\n\\n  9  8  0  0\\n"), listed_atoms("\\n\\n\\n  0  0  0\\nM  V30 COUNTS 1-\\nM  V30 2 11\\n")
    (9, 12)
    """
    record = record.replace("\r", "")
    counts = [first or second for first, second in _ATOM_COUNT.findall(_CONTINUATION.sub("", record))]
    listed = max((int(count.replace(" ", "") or 0) for count in counts), default=0)
    implicit = 0 if hydrogens else len(_HYDROGEN_LINE.findall(record))
    others = listed - implicit
    return others if implicit <= MOST_HYDROGENS * others else listed


def properties_of(record: str) -> dict[str, str]:
    """Returns the properties of a record of an .sdf, whether RDKit can read its molecule or not.

    >>> properties_of("name\\nM  END\\n> <logP> (1)\\n2.5\\n\\n>  <note>\\na\\nb\\n\\n$$$$\\n")
    {'logP': '2.5', 'note': 'a\\nb'}
    """
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in record.splitlines():
        name = _PROPERTY_LINE.match(line)
        if name is not None:
            lines = found.setdefault(name[1], [])
        elif not line.strip() or line.startswith("$$$$"):
            lines = None
        elif lines is not None:
            lines.append(line)
    return {name: "\n".join(values) for name, values in found.items()}


def _property_table(records: Sequence[str], titles: Sequence[str], names: Sequence[str]) -> pyarrow.Table:
    """Returns the properties of these names as columns of texts, and the titles as the column ``name``."""
    rows = [{TITLE: title or None, **properties_of(record)} for record, title in zip(records, titles, strict=True)]
    return pyarrow.table({name: pyarrow.array([row.get(name) for row in rows], pyarrow.string()) for name in names})


def _count_implicit(written: Sequence[bool], molecules: Sequence[Any]) -> int:
    """Returns the number of molecules whose hydrogens were written as atoms and are not atoms of the molecule."""
    return sum(
        was_written and molecule is not None and all(atom.GetAtomicNum() != 1 for atom in molecule.GetAtoms())
        for was_written, molecule in zip(written, molecules, strict=True)
    )


def _rdkit() -> tuple[Any, Any]:
    """Returns RDKit's ``Chem`` and the context manager that suppresses its messages."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise missing_extra("RDKit", "molecules", "Reading molecules") from error
    return Chem, rdBase.BlockLogs
