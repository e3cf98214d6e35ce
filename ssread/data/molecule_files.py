"""The files molecules come in (.csv, .tsv, .smi, .sdf, .parquet), read into rows that know where they stood."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from ssread.errors import InputError, missing_extra


@dataclass(frozen=True)
class MoleculeRows:
    """Molecules with where they stood, what was written there, their labels and ids.

    ``molecules`` holds ``None`` where RDKit could not read one; ``labels`` and ``ids`` are ``None`` where nobody asked
    for them. ``unit`` is how rows of this kind of file are counted: line, row or record.
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
    """Which column (of an .sdf: which property) holds what, and whether an .sdf's hydrogens stay atoms."""

    smiles: str
    label: str | None
    id: str | None
    hydrogens: bool


def parse_smiles(smiles: Sequence[Any]) -> list[Any]:
    """RDKit molecules, ``None`` for what is no SMILES; RDKit's own complaints are kept silent.

    Nothing but the SMILES itself is accepted: RDKit would take ``"CCO 12"`` for ethanol with the name 12.
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
        except (RuntimeError, ValueError):  # what RDKit raises where it meant to return None
            return None

    with silence():
        return [parse(text) for text in smiles]


def read_rows(path: Path, columns: Columns) -> MoleculeRows:
    """Read a file by its ending; a file that is something else gets a sentence that says so."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: molecules are read from files ending in {', '.join(_READERS)}, not {path.suffix or 'nothing'!r}."
        )
    return reader(path, columns)


def _rdkit() -> tuple[Any, Any]:
    """RDKit's chemistry and the context in which it keeps silent."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise missing_extra("RDKit", "chem", "Reading molecules") from error
    return Chem, rdBase.BlockLogs


def _read_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not text in UTF-8 (byte {error.start} is wrong), so not the {path.suffix} file its name says; "
            "save it again as UTF-8, or correct the ending."
        ) from None
    if "\0" in text:
        raise InputError(f"{path} holds binary data, so not the {path.suffix} file its name says; correct the ending.")
    return text


def _read_delimited(path: Path, columns: Columns) -> MoleculeRows:
    text = _read_text(path)
    first_line = text.split("\n", 1)[0]
    comma = ";" if ";" in first_line and "," not in first_line else ","  # spreadsheets of half of Europe write ;
    delimiter = "\t" if path.suffix.lower() == ".tsv" else comma
    rows: list[tuple[int, list[str]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((line, [cell.strip() for cell in cells]))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {line}: {error}; the quotes there may be out of balance.") from None
    if not rows:
        raise InputError(f"{path} is empty; a line of column names and then the molecules are expected.")
    return _pick(path, "line", rows[0][1], rows[1:], columns)


def _read_smi(path: Path, columns: Columns) -> MoleculeRows:
    lines = enumerate(io.StringIO(_read_text(path), newline=None), start=1)
    rows = [(number, line.strip().split(None, 2)) for number, line in lines if line.strip()]
    header = ["smiles", "name", "label"][: max((len(cells) for _, cells in rows), default=1)]
    if rows and rows[0][1][0].lower() == "smiles":
        header = rows.pop(0)[1]
    return _pick(path, "line", header, rows, columns)


def _pick(
    path: Path, unit: str, header: list[str], rows: list[tuple[int, list[str]]], columns: Columns
) -> MoleculeRows:
    """The wanted columns of a table of texts; a short row lacks its last cells, a long one is a problem."""
    place = {name: header.index(name) for name in _wanted(path, header, columns)}
    too_long = [number for number, cells in rows if len(cells) > len(header)]

    def column(name: str | None) -> list[str | None] | None:
        if name is None:
            return None
        return [cells[place[name]] if place[name] < len(cells) else None for _, cells in rows]

    smiles = column(columns.smiles) or []
    return MoleculeRows(
        unit=unit,
        numbers=[number for number, _ in rows],
        molecules=parse_smiles(smiles),
        texts=[text or "" for text in smiles],
        labels=column(columns.label),
        ids=column(columns.id),
        problems={f"more than the header's {len(header)} cells in": too_long} if too_long else {},
    )


def _wanted(path: Path, there: Sequence[str], columns: Columns) -> list[str]:
    """The names asked for, all of them there and none twice."""
    wanted = [name for name in (columns.smiles, columns.label, columns.id) if name is not None]
    for option, name in (("smiles", columns.smiles), ("label", columns.label), ("id", columns.id)):
        if name is not None and there.count(name) != 1:
            found = ", ".join(repr(column[:40]) for column in there[:50]) or "none"
            count = "no column" if name not in there else f"{there.count(name)} columns"
            raise InputError(f"{path} has {count} {name!r} ({option}={name!r}); its columns are {found}.")
    return wanted


def _read_parquet(path: Path, columns: Columns) -> MoleculeRows:
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            wanted = _wanted(path, file.schema_arrow.names, columns)
            table = file.read(columns=wanted)
        cells = {name: table.column(name).to_pylist() for name in wanted}
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if not path.is_file():
            raise InputError(f"{path} cannot be read: there is no such file.") from None
        reason = str(error).split("\n")[0][:200]
        raise InputError(f"{path} cannot be read as the Parquet file its name says: {reason}") from None
    smiles = cells[columns.smiles]
    return MoleculeRows(
        unit="row",
        numbers=range(1, len(smiles) + 1),
        molecules=parse_smiles(smiles),
        texts=[str(text) for text in smiles],
        labels=None if columns.label is None else cells[columns.label],
        ids=None if columns.id is None else cells[columns.id],
    )


def _read_sdf(path: Path, columns: Columns) -> MoleculeRows:
    Chem, silence = _rdkit()
    text = _read_text(path)
    if "M  END" not in text:
        raise InputError(f"{path} holds no molecule block ('M  END'), so not the .sdf file its name says.")
    numbers, molecules, line = [], [], 1
    with silence():
        supplier = Chem.SDMolSupplier()
        supplier.SetData(text, removeHs=not columns.hydrogens)
        for record in range(len(supplier)):
            numbers.append(line)
            line += supplier.GetItemText(record).count("\n")
            molecules.append(supplier[record])
    there = sorted({name for molecule in molecules if molecule is not None for name in molecule.GetPropNames()})
    wanted = [name for name in (columns.label, columns.id) if name is not None]
    for name in wanted:
        if name not in there:
            raise InputError(
                f"{path}: no record has a property {name!r}; the properties are {', '.join(there) or 'none'}."
            )

    def prop(name: str | None) -> list[str | None] | None:
        if name is None:
            return None
        return [m.GetProp(name) if m is not None and m.HasProp(name) else None for m in molecules]

    return MoleculeRows(
        unit="line",
        numbers=numbers,
        molecules=molecules,
        texts=["" if molecule is None else Chem.MolToSmiles(molecule) for molecule in molecules],
        labels=prop(columns.label),
        ids=prop(columns.id),
    )


_READERS: dict[str, Callable[[Path, Columns], MoleculeRows]] = {
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".smi": _read_smi,
    ".sdf": _read_sdf,
    ".parquet": _read_parquet,
}
