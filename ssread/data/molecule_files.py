"""The files molecules come in (.csv, .tsv, .smi, .sdf, .parquet), read into rows that know where they stood.

A file is read block by block, so that one larger than the memory can be worked through; a block of texts becomes
molecules when it is asked to, in this process or in another.
"""

import codecs
import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
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


@dataclass(frozen=True)
class Block:
    """Some rows of a file as the texts that stand there; ``records`` are whole molecule blocks of an .sdf."""

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
        """The molecules of these texts."""
        if self.records is not None:
            return _parse_records(self)
        texts = [str(text or "") for text in self.smiles]
        molecules = parse_smiles(self.smiles)
        return MoleculeRows(self.unit, self.numbers, molecules, texts, self.labels, self.ids, self.problems)


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


def read_blocks(path: Path, columns: Columns, size: int | None = None) -> Iterator[Block]:
    """The rows of a file, ``size`` at a time (all at once by default); the ending tells what kind of file it is.

    A file that is something else gets a sentence that says so.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: molecules are read from files ending in {', '.join(_READERS)}, not {path.suffix or 'nothing'!r}."
        )
    return reader(path, columns, size)


def _rdkit() -> tuple[Any, Any]:
    """RDKit's chemistry and the context in which it keeps silent."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise missing_extra("RDKit", "chem", "Reading molecules") from error
    return Chem, rdBase.BlockLogs


def _lines(path: Path) -> Iterator[str]:
    """The lines of a text file with their ends, one at a time."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line in file:
                if "\0" in line:
                    raise InputError(
                        f"{path} holds binary data, so not the {path.suffix} file its name says; correct the ending."
                    )
                yield line
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not text in UTF-8 (byte {_first_wrong_byte(path)} is wrong), so not the {path.suffix} file its "
            "name says; save it again as UTF-8, or correct the ending."
        ) from None


def _first_wrong_byte(path: Path) -> int:
    decoder = codecs.getincrementaldecoder("utf-8")()
    place = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(piece)
            except UnicodeDecodeError as error:
                return place - pending + error.start
            place += len(piece)
    return place


def _blocks_of(rows: Iterable[Any], size: int | None) -> Iterator[list[Any]]:
    """The rows in lists of ``size``; one list, perhaps empty, where there are no more."""
    rows = iter(rows)
    block = list(islice(rows, size))
    while True:
        following = list(islice(rows, size))
        yield block
        if not following:
            return
        block = following


def _read_delimited(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    rows = _delimited_rows(path)
    _, header = next(rows, (0, None))
    if header is None:
        raise InputError(f"{path} is empty; a line of column names and then the molecules are expected.")
    wanted = _wanted(path, header, columns)
    for block in _blocks_of(rows, size):
        yield _pick(path, header, wanted, block, columns)


def _delimited_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank with the number of its line, the header first."""
    lines = _lines(path)
    first_line = next(lines, "")
    comma = ";" if ";" in first_line and "," not in first_line else ","  # spreadsheets of half of Europe write ;
    delimiter = "\t" if path.suffix.lower() == ".tsv" else comma
    reader = csv.reader(chain([first_line], lines), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {line}: {error}; the quotes there may be out of balance.") from None


def _read_smi(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    numbered = enumerate(_lines(path), start=1)
    rows = ((number, line.strip().split(None, 2)) for number, line in numbered if line.strip())
    header, wanted = ["smiles", "name", "label"], None
    for block in _blocks_of(rows, size):
        if wanted is None:
            there = header[: max((len(cells) for _, cells in block), default=1)]
            if block and block[0][1][0].lower() == "smiles":
                there = header = block.pop(0)[1]
            wanted = _wanted(path, there, columns)
        yield _pick(path, header, wanted, block, columns)


def _pick(
    path: Path, header: list[str], wanted: list[str], rows: list[tuple[int, list[str]]], columns: Columns
) -> Block:
    """The wanted columns of a table of texts; a short row lacks its last cells, a long one is a problem."""
    place = {name: header.index(name) for name in wanted}
    too_long = [number for number, cells in rows if len(cells) > len(header)]

    def column(name: str | None) -> list[str | None] | None:
        if name is None:
            return None
        return [cells[place[name]] if place[name] < len(cells) else None for _, cells in rows]

    return Block(
        path,
        "line",
        numbers=[number for number, _ in rows],
        smiles=column(columns.smiles) or [],
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


def _read_parquet(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    first = 1
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            wanted = _wanted(path, file.schema_arrow.names, columns)
            tables = [file.read(wanted)] if size is None else file.iter_batches(size, columns=wanted)
            for table in tables:
                cells = {name: table.column(name).to_pylist() for name in wanted}
                smiles = cells[columns.smiles]
                yield Block(
                    path,
                    "row",
                    numbers=range(first, first + len(smiles)),
                    smiles=smiles,
                    labels=None if columns.label is None else cells[columns.label],
                    ids=None if columns.id is None else cells[columns.id],
                )
                first += len(smiles)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if not path.is_file():
            raise InputError(f"{path} cannot be read: there is no such file.") from None
        reason = str(error).split("\n")[0][:200]
        raise InputError(f"{path} cannot be read as the Parquet file its name says: {reason}") from None


def _read_sdf(path: Path, columns: Columns, size: int | None) -> Iterator[Block]:
    for block in _blocks_of(_records(path), size):
        if not any("M  END" in record for _, record in block) and (not block or block[0][0] == 1):
            raise InputError(f"{path} holds no molecule block ('M  END'), so not the .sdf file its name says.")
        numbers = [number for number, _ in block]
        yield Block(path, "line", numbers, records=[record for _, record in block], columns=columns)


def _records(path: Path) -> Iterator[tuple[int, str]]:
    """Every record with the number of its first line; a record ends with a line of four dollars, or with the file."""
    start, record = 1, list[str]()
    for number, line in enumerate(_lines(path), start=1):
        record.append(line)
        if line.startswith("$$$$"):
            yield start, "".join(record)
            start, record = number + 1, []
    if "".join(record).strip():
        yield start, "".join(record)


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
    there = sorted({name for molecule in molecules if molecule is not None for name in molecule.GetPropNames()})
    for name in (columns.label, columns.id):
        if name is not None and name not in there and block.numbers[0] == 1:  # a later block may have none
            raise InputError(
                f"{block.path}: no record has a property {name!r}; the properties are {', '.join(there) or 'none'}."
            )

    def prop(name: str | None) -> list[str | None] | None:
        if name is None:
            return None
        return [m.GetProp(name) if m is not None and m.HasProp(name) else None for m in molecules]

    texts = ["" if molecule is None else Chem.MolToSmiles(molecule) for molecule in molecules]
    return MoleculeRows(block.unit, block.numbers, molecules, texts, prop(columns.label), prop(columns.id))


_READERS: dict[str, Callable[[Path, Columns, int | None], Iterator[Block]]] = {
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".smi": _read_smi,
    ".sdf": _read_sdf,
    ".parquet": _read_parquet,
}
