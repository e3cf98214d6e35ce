"""Molecules as graphs, from a list of SMILES or from a file."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from ssread.data.assemble import assemble
from ssread.data.atom_features import molecule_columns
from ssread.data.classes import is_missing
from ssread.data.graphset import GraphSet
from ssread.data.molecule_files import read_blocks
from ssread.data.molecule_rows import Columns, MoleculeRows, parse_smiles
from ssread.data.targets import has_no_target, targets_of
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
    task: str | None = None,
    name: str = "molecules",
) -> GraphSet:
    """Turns SMILES into graphs: atoms are nodes, bonds are edges. ``graph_texts["smiles"]`` keeps the SMILES.

    Args:
        smiles: One SMILES per molecule. A salt or another molecule in several pieces is one graph.
        labels: One class or number per molecule, or a row of several labels or numbers, empty ones included; ``None``
            for molecules to predict.
        ids: The id of each molecule; its number in the list (from 0) by default.
        on_error: ``"stop"`` raises an error that lists all molecules that cannot be used; ``"skip"`` leaves them out
            and counts them in ``repairs``.
        features: ``"rdkit"`` for the columns of :data:`ssread.data.atom_features.ATOM_COLUMNS` and ``BOND_COLUMNS``;
            ``"labels"`` for element and bond type alone, as in the TU collection.
        hydrogens: Whether hydrogens become nodes.
        elements: For ``features="labels"``, the elements that get a column; those found by default.
        task: ``classification``, ``multilabel`` or ``regression``; by default as :func:`ssread.data.targets.targets_of`
            tells from the labels.
        name: The name of the dataset.

    >>> from_smiles(["CCO", "c1ccccc1"], ["dry", "wet"]).node_counts.tolist()
    [3, 6]
    """
    texts = _as_list(smiles, "smiles", name)
    rows = MoleculeRows(
        unit="molecule",
        numbers=range(len(texts)),
        molecules=parse_smiles(texts),
        texts=[str(text) for text in texts],
        labels=None if labels is None else _as_list(labels, "labels", name),
        ids=None if ids is None else _as_list(ids, "ids", name),
    )
    for option, column in (("labels", rows.labels), ("ids", rows.ids)):
        if column is not None and len(column) != len(texts):
            raise InputError(f"{name}: there are {len(texts)} SMILES but {len(column)} {option}.")
    return to_graphs(rows, name, name, on_error, features, hydrogens, elements, task)


def read_molecules(
    path: str | os.PathLike[str],
    smiles: str = "smiles",
    label: str | Sequence[str] | None = "label",
    id: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    features: Literal["rdkit", "labels"] = "rdkit",
    hydrogens: bool = False,
    elements: Sequence[str] | None = None,
    task: str | None = None,
    name: str | None = None,
) -> GraphSet:
    """Reads molecules from a .csv, .tsv, .parquet, .smi or .sdf file.

    A .smi file has the columns ``smiles``, ``name`` and ``label``, separated by whitespace; the last two are
    optional. A first line that begins with "smiles" names the columns. In an .sdf, ``label`` and ``id`` are properties.

    Args:
        path: The file; its ending determines the format.
        smiles: Column of the SMILES (not used for .sdf).
        label: Column of the class or number; a list, or names with commas between them, for several; ``None`` for
            molecules to predict.
        id: Column of the ids. By default, and where a cell is empty, the line number is the id (.parquet: the row
            number, from 1).
        on_error: As in :func:`from_smiles`; rows without a label and rows with too many cells are errors too.
        features: As in :func:`from_smiles`.
        hydrogens: As in :func:`from_smiles`.
        elements: As in :func:`from_smiles`.
        task: As in :func:`from_smiles`.
        name: The name of the dataset; the file's name without its ending by default.
    """
    path = Path(path)
    columns = Columns(smiles, label, id, hydrogens)
    (block,) = read_blocks(path, columns)
    rows = block.parse()
    return to_graphs(
        rows, name or path.stem, str(path), on_error, features, hydrogens, elements, task, columns.labels or None
    )


def _as_list(values: Iterable[Any], option: str, name: str) -> list[Any]:
    if isinstance(values, str | bytes):
        raise InputError(
            f"{name}: {option} is one text, {values[:40]!r}; a list with one entry per molecule is needed."
        )
    return list(values)


def to_graphs(
    rows: MoleculeRows,
    name: str,
    source: str,
    on_error: str,
    features: str,
    hydrogens: bool,
    elements: Sequence[str] | None,
    task: str | None = None,
    label_names: Sequence[str] | None = None,
) -> GraphSet:
    """Turns the usable rows into graphs; the others are an error or are skipped."""
    if on_error not in ("stop", "skip"):
        raise InputError(f"on_error={on_error!r} is not an option: choose 'stop' or 'skip'.")
    problems = problems_of(rows)
    if problems and on_error == "stop":
        listed = "; ".join(f"{what} {_ranges(rows.unit, numbers)}" for what, numbers in problems.items())
        raise InputError(f"{source}: {listed}. Correct them, or leave these molecules out with on_error='skip'.")
    unusable = {number for numbers in problems.values() for number in numbers}
    kept = [index for index, number in enumerate(rows.numbers) if number not in unusable]
    if not kept:
        raise InputError(f"{source} has no molecule that can be used, of {len(rows.numbers)}.")
    molecules = [rows.molecules[index] for index in kept]
    if hydrogens:
        from rdkit import Chem

        molecules = [Chem.AddHs(molecule) for molecule in molecules]
    targets = {}
    if rows.labels is not None:
        labels = [rows.labels[index] for index in kept]
        targets = targets_of(labels, source, task=task, names=label_names)._asdict()
    graphs = assemble(
        name=name,
        **molecule_columns(molecules, features, elements)._asdict(),
        **targets,
        ids=[_id(rows, index) for index in kept],
        graph_texts={"smiles": [rows.texts[index].strip() for index in kept]},
        source=source,
    )
    skipped = {
        f"molecules skipped ({what} {_ranges(rows.unit, numbers)})": len(numbers) for what, numbers in problems.items()
    }
    return replace(graphs, repairs={**graphs.repairs, **skipped})


def _id(rows: MoleculeRows, index: int) -> str:
    given = None if rows.ids is None else rows.ids[index]
    return str(rows.numbers[index]) if is_missing(given) else str(given)


def problems_of(rows: MoleculeRows) -> dict[str, list[int]]:
    """Returns the numbers of the rows that have each problem."""
    unreadable = [number for number, molecule in zip(rows.numbers, rows.molecules, strict=True) if molecule is None]
    problems = {"RDKit cannot read": unreadable}
    if rows.labels is not None:
        known = set(unreadable)
        rest = zip(rows.numbers, rows.labels, strict=True)
        problems["no label for"] = [n for n, label in rest if has_no_target(label) and n not in known]
    return {**rows.problems, **{what: numbers for what, numbers in problems.items() if numbers}}


def _ranges(unit: str, numbers: Sequence[int]) -> str:
    """Returns all numbers, consecutive ones as a range.

    >>> _ranges("line", [3, 4, 5, 9])
    'lines 3-5, 9'
    """
    runs = []
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        runs.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return f"{unit}{'s' if len(numbers) > 1 else ''} {', '.join(runs)}"
