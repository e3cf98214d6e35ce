"""Molecules as graphs, from a list of SMILES, from a table or from a file.

The rule for what a molecule's graph is: all fragments (the ions of a salt, the parts of a mixture) are one graph;
hydrogens are a feature of their atom, whether the source writes them as atoms or not, unless ``hydrogens=True`` makes
all of them nodes; stereochemistry is in the features of atoms and bonds. ``repairs`` counts the molecules concerned.
"""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ssread.data.assemble import assemble
from ssread.data.atom_features import molecule_columns
from ssread.data.classes import is_missing
from ssread.data.graphset import GraphSet
from ssread.data.molecule_files import read_blocks, table_blocks
from ssread.data.molecule_rows import Block, Columns, MoleculeRows
from ssread.data.skipped import SkippedRow, check_on_error, list_rows
from ssread.data.sources import ending_of
from ssread.data.targets import has_no_target, targets_of
from ssread.errors import BadRowsError, InputError

if TYPE_CHECKING:
    import pandas as pd


def from_smiles(
    smiles: Iterable[str],
    labels: Iterable[Any] | None = None,
    *,
    ids: Iterable[Any] | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    features: Literal["rdkit", "labels"] = "rdkit",
    hydrogens: bool = False,
    elements: Sequence[str] | None = None,
    task: str | None = None,
    name: str = "molecules",
) -> GraphSet:
    """Turns SMILES into graphs: atoms are nodes, bonds are edges. ``graph_texts["smiles"]`` keeps the SMILES.

    Args:
        smiles: One SMILES per molecule. A name may follow it, which is then the id.
        labels: One class or number per molecule, or a row of several labels or numbers, empty ones included; ``None``
            for molecules to predict.
        ids: The id of each molecule; the name after its SMILES, or its number in the list (from 0), by default.
        on_error: ``"raise"`` raises an error that names the first molecules that cannot be used; ``"skip"`` leaves
            them out, counts them in ``repairs`` and lists them in ``skipped``.
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
    block = Block(
        Path(name),
        "molecule",
        numbers=range(len(texts)),
        smiles=texts,
        labels=None if labels is None else _as_list(labels, "labels", name),
        ids=None if ids is None else _as_list(ids, "ids", name),
    )
    for option, column in (("labels", block.labels), ("ids", block.ids)):
        if column is not None and len(column) != len(texts):
            raise InputError(f"{name}: there are {len(texts)} SMILES but {len(column)} {option}.")
    return to_graphs(block.parse(), name, name, on_error, features, hydrogens, elements, task)


def from_table(
    table: "pd.DataFrame",
    smiles: str = "smiles",
    label: str | Sequence[str] | None = "label",
    id: str | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    features: Literal["rdkit", "labels"] = "rdkit",
    hydrogens: bool = False,
    elements: Sequence[str] | None = None,
    task: str | None = None,
    keep: Sequence[str] = (),
    name: str = "table",
) -> GraphSet:
    """Reads molecules from a pandas ``DataFrame``, as :func:`read_molecules` does from a file.

    Args:
        table: The table.
        smiles: Column of the SMILES.
        label: Column of the class or number; a list, or names with commas between them, for several; ``None`` for
            molecules to predict.
        id: Column of the ids; the index of the table by default.
        on_error: As in :func:`from_smiles`, like the arguments that follow; rows without a label are errors too.
        features: The features of atoms and bonds.
        hydrogens: Whether hydrogens become nodes.
        elements: The elements that get a column.
        task: The kind of labels.
        keep: Further columns, whose texts are kept in ``graph_texts``.
        name: The name of the dataset.
    """
    columns = Columns(smiles, label, id, hydrogens, keep=keep)
    (block,) = table_blocks(table, columns)
    rows, names = block.parse(), columns.labels or None
    return to_graphs(rows, name, name, on_error, features, hydrogens, elements, task, names, keep)


def read_molecules(
    path: str | os.PathLike[str],
    smiles: str = "smiles",
    label: str | Sequence[str] | None = "label",
    id: str | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    features: Literal["rdkit", "labels"] = "rdkit",
    hydrogens: bool = False,
    elements: Sequence[str] | None = None,
    task: str | None = None,
    keep: Sequence[str] = (),
    name: str | None = None,
) -> GraphSet:
    """Reads molecules from a .csv, .tsv, .smi or .sdf file, or one of these with .gz, or from a .parquet file.

    A .smi file has the columns ``smiles``, ``name`` and ``label``, separated by whitespace (or by tabs alone, if the
    line has any); the last two are optional. A first line that begins with "smiles" names the columns. In an .sdf,
    ``label`` and ``id`` are properties.

    Args:
        path: The file; its ending determines the format.
        smiles: Column of the SMILES (not used for .sdf).
        label: Column of the class or number; a list, or names with commas between them, for several; ``None`` for
            molecules to predict.
        id: Column of the ids. By default a molecule's name is its id (the name in a .smi, the title in an .sdf, what
            follows the SMILES in a cell), and where it has none, the number of its line (.parquet: of its row, from 1).
        on_error: As in :func:`from_smiles`; rows without a label and rows with too many cells are errors too.
        features: As in :func:`from_smiles`.
        hydrogens: As in :func:`from_smiles`.
        elements: As in :func:`from_smiles`.
        task: As in :func:`from_smiles`.
        keep: Further columns of a table, whose texts are kept in ``graph_texts``.
        name: The name of the dataset; the file's name without its ending by default.
    """
    path = Path(path)
    columns = Columns(smiles, label, id, hydrogens, keep=keep)
    (block,) = read_blocks(path, columns)
    rows, names = block.parse(), columns.labels or None
    name = name or path.name[: -len(ending_of(path))]
    return to_graphs(rows, name, str(path), on_error, features, hydrogens, elements, task, names, keep)


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
    keep: Sequence[str] = (),
) -> GraphSet:
    """Turns the usable rows into graphs; the others are an error or are skipped."""
    check_on_error(on_error)
    reasons = reasons_of(rows)
    skipped = [SkippedRow(i, rows.place_of(i), rows.texts[i], reason) for i, reason in sorted(reasons.items())]
    count = len(rows.numbers)
    if skipped and on_error == "raise":
        raise BadRowsError(f"{source}: {len(skipped)} of {count} rows cannot be used: {list_rows(skipped)}.")
    kept = [index for index in range(count) if index not in reasons]
    if not kept:
        listed = f": {list_rows(skipped)}" if skipped else ""
        raise InputError(f"{source} has no molecule that can be used, of {count}{listed}.")
    molecules = [rows.molecules[index] for index in kept]
    texts = [rows.texts[index] for index in kept]
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
        ids=[rows.id_of(index) for index in kept],
        graph_texts={"smiles": texts, **_kept_texts(rows, kept, keep, source)},
        source=source,
    )
    notes = _notes(molecules, texts, features)
    notes["molecules with a name after their SMILES"] = rows.names_split
    notes["molecules with written hydrogens made implicit"] = 0 if hydrogens else rows.written_hydrogens
    notes |= {f"molecules skipped ({what})": many for what, many in Counter(row.reason for row in skipped).items()}
    repairs = {**graphs.repairs, **{what: many for what, many in notes.items() if many}}
    return replace(graphs, repairs=repairs, skipped=tuple(skipped))


def _kept_texts(rows: MoleculeRows, kept: Sequence[int], names: Sequence[str], source: str) -> dict[str, list[str]]:
    """Returns the cells of further columns as texts, empty ones as an empty text."""
    found = [] if rows.inputs is None else rows.inputs.column_names
    for name in names:
        if found.count(name) != 1:
            listed = ", ".join(map(repr, found)) or "none that can be kept"
            count = f"{found.count(name)} columns" if name in found else "no column"
            raise InputError(f"{source} has {count} {name!r}; its columns are {listed}.")
    columns = {name: rows.inputs.column(name).to_pylist() for name in names} if rows.inputs is not None else {}
    return {
        name: ["" if is_missing(cells[index]) else str(cells[index]) for index in kept]
        for name, cells in columns.items()
    }


def reasons_of(rows: MoleculeRows) -> dict[int, str]:
    """Returns why a row cannot be used, by its index."""
    reasons = dict(rows.reasons)
    for index, label in enumerate(rows.labels or ()):
        if has_no_target(label):
            reasons.setdefault(index, "it has no label")
    return reasons


def _notes(molecules: Sequence[Any], texts: Sequence[str], features: str) -> dict[str, int]:
    """Counts the molecules that the rule for fragments and stereochemistry concerns."""
    from rdkit import Chem

    pairs = zip(molecules, texts, strict=True)
    fragments = sum("." in text and len(Chem.GetMolFrags(molecule)) > 1 for molecule, text in pairs)
    stereo = sum(any(mark in text for mark in "@/\\") for text in texts)
    kept = "in their features" if features == "rdkit" else "that labels leave out"
    return {
        "molecules of several fragments kept as one graph": fragments,
        f"molecules with stereochemistry {kept}": stereo,
    }
