"""Molecules as graphs: from a list of SMILES, or from the files they come in."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from ssread.data.assemble import assemble
from ssread.data.atom_features import describe
from ssread.data.classes import encode_classes, is_missing
from ssread.data.graphset import GraphSet
from ssread.data.molecule_files import Columns, MoleculeRows, parse_smiles, read_blocks
from ssread.errors import InputError


def from_smiles(
    smiles: Iterable[str],
    labels: Iterable[Any] | None = None,
    *,
    ids: Iterable[Any] | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    features: Literal["rdkit", "labels"] = "rdkit",
    hydrogens: bool = False,
    elements: Sequence[str] | None = None,
    name: str = "molecules",
) -> GraphSet:
    """Turn SMILES into graphs: atoms are nodes, bonds are edges, the SMILES stay in ``graph_texts["smiles"]``.

    Args:
        smiles: One SMILES per molecule. Salts and other molecules in several pieces are one graph each.
        labels: One class per molecule (texts or numbers); ``None`` for molecules to predict.
        ids: What each molecule is called; its number in the list (from 0) by default.
        on_error: ``"stop"`` raises an error that lists all molecules that cannot be used, ``"skip"`` leaves them out
            and counts them in ``repairs``.
        features: ``"rdkit"`` for the columns of :data:`ssread.data.atom_features.ATOM_COLUMNS` and ``BOND_COLUMNS``,
            ``"labels"`` for element and bond type alone, as in the TU collection.
        hydrogens: Whether hydrogens become nodes.
        elements: For ``features="labels"``, the elements that get a column; those found by default.
        name: What the dataset is called.

    >>> from_smiles(["CCO", "c1ccccc1"], ["dry", "wet"]).node_counts.tolist()
    [3, 6]
    """
    texts = _listed(smiles, "smiles", name)
    rows = MoleculeRows(
        unit="molecule",
        numbers=range(len(texts)),
        molecules=parse_smiles(texts),
        texts=[str(text) for text in texts],
        labels=None if labels is None else _listed(labels, "labels", name),
        ids=None if ids is None else _listed(ids, "ids", name),
    )
    for option, column in (("labels", rows.labels), ("ids", rows.ids)):
        if column is not None and len(column) != len(texts):
            raise InputError(f"{name}: there are {len(texts)} SMILES but {len(column)} {option}; give one for each.")
    return to_graphs(rows, name, name, on_error, features, hydrogens, elements)


def read_molecules(
    path: str | os.PathLike[str],
    smiles: str = "smiles",
    label: str | None = "label",
    id: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    features: Literal["rdkit", "labels"] = "rdkit",
    hydrogens: bool = False,
    elements: Sequence[str] | None = None,
    name: str | None = None,
) -> GraphSet:
    """Read molecules from a .csv, .tsv, .parquet (named columns), .smi or .sdf file.

    A .smi file holds ``SMILES name label`` separated by blanks, the last two optional, under these names or those of
    a first line that begins with "smiles". Of an .sdf, ``label`` and ``id`` name properties.

    Args:
        path: The file; its ending tells the kind.
        smiles: Column of the SMILES (not used for .sdf).
        label: Column of the class; ``None`` for molecules to predict.
        id: Column of what each molecule is called; by default, and where a cell is empty, the number of its line
            (.parquet: row, from 1).
        on_error: As for :func:`from_smiles`; rows without a label and rows with too many cells count as errors too.
        features: As for :func:`from_smiles`.
        hydrogens: As for :func:`from_smiles`.
        elements: As for :func:`from_smiles`.
        name: What the dataset is called; the file's name without ending by default.
    """
    path = Path(path)
    (block,) = read_blocks(path, Columns(smiles, label, id, hydrogens))
    rows = block.parse()
    return to_graphs(rows, name or path.stem, str(path), on_error, features, hydrogens, elements)


def _listed(values: Iterable[Any], option: str, name: str) -> list[Any]:
    if isinstance(values, str | bytes):
        raise InputError(f"{name}: {option} is one text, {values[:40]!r}; give a list with one entry per molecule.")
    return list(values)


def to_graphs(
    rows: MoleculeRows,
    name: str,
    source: str,
    on_error: str,
    features: str,
    hydrogens: bool,
    elements: Sequence[str] | None,
) -> GraphSet:
    """Sort out what cannot be used, and make graphs of the rest."""
    if on_error not in ("stop", "skip"):
        raise InputError(f"on_error={on_error!r} is unknown; take 'stop' or 'skip'.")
    problems = problems_of(rows)
    if problems and on_error == "stop":
        listed = "; ".join(f"{what} {_places(rows.unit, numbers)}" for what, numbers in problems.items())
        raise InputError(f"{source}: {listed}. Correct that, or leave these molecules out with on_error='skip'.")
    unusable = {number for numbers in problems.values() for number in numbers}
    kept = [index for index, number in enumerate(rows.numbers) if number not in unusable]
    if not kept:
        raise InputError(f"{source} holds no molecule that can be used (of {len(rows.numbers)} there are).")
    molecules = [rows.molecules[index] for index in kept]
    if hydrogens:
        from rdkit import Chem

        molecules = [Chem.AddHs(molecule) for molecule in molecules]
    y, class_names = None, tuple[str, ...]()
    if rows.labels is not None:
        y, class_names = encode_classes([rows.labels[index] for index in kept], source)
    graphs = assemble(
        name=name,
        **describe(molecules, features, elements)._asdict(),
        y=y,
        class_names=class_names,
        ids=[_id(rows, index) for index in kept],
        graph_texts={"smiles": [rows.texts[index].strip() for index in kept]},
        source=source,
    )
    skipped = {
        f"molecules skipped ({what} {_places(rows.unit, numbers)})": len(numbers) for what, numbers in problems.items()
    }
    return replace(graphs, repairs={**graphs.repairs, **skipped})


def _id(rows: MoleculeRows, index: int) -> str:
    given = None if rows.ids is None else rows.ids[index]
    return str(rows.numbers[index]) if is_missing(given) else str(given)


def problems_of(rows: MoleculeRows) -> dict[str, list[int]]:
    """What is wrong, and with which rows (by number)."""
    unreadable = [number for number, molecule in zip(rows.numbers, rows.molecules, strict=True) if molecule is None]
    problems = {"RDKit cannot read": unreadable}
    if rows.labels is not None:
        known = set(unreadable)
        rest = zip(rows.numbers, rows.labels, strict=True)
        problems["no label for"] = [n for n, label in rest if is_missing(label) and n not in known]
    return {**rows.problems, **{what: numbers for what, numbers in problems.items() if numbers}}


def _places(unit: str, numbers: Sequence[int]) -> str:
    """All the numbers, neighbours drawn together.

    >>> _places("line", [3, 4, 5, 9])
    'lines 3-5, 9'
    """
    runs = []
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        runs.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return f"{unit}{'s' if len(numbers) > 1 else ''} {', '.join(runs)}"
