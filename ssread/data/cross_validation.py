"""The folds of a dataset under a named split: random, by scaffold, duplicates together, by a column, or from a file.

What a split needs besides the labels (the group of every graph, the folds of a file) is stored in graph columns, so
that it travels with the graphs to worker processes and other machines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from ssread.data.duplicates import duplicate_groups
from ssread.data.graphset import GraphSet
from ssread.data.scaffold import scaffold_groups
from ssread.data.split_names import RANDOM, SPLITS, check_split, split_column
from ssread.data.splits import Fold, read_splits, stratified_folds
from ssread.errors import InputError

__all__ = ["fold_of", "folds_of", "num_file_folds", "with_split"]

GROUP_COLUMN = "split group"
FOLD_COLUMN = "split part of fold"
TIME_COLUMN = "split order"
PARTS = ("train", "validation", "test")

#: How people call the parts of a split.
PART_NAMES = {"train": 0, "training": 0, "validation": 1, "valid": 1, "val": 1, "dev": 1, "test": 2, "testing": 2}

#: The share of what a model may see that chooses its epoch, where the parts do not say it.
VALIDATION = 0.1


def with_split(graphs: GraphSet, split: str) -> tuple[GraphSet, str]:
    """Adds the columns that a split needs to the graphs.

    Args:
        graphs: The dataset.
        split: A name of :data:`ssread.data.split_names.SPLITS`, a split by a column such as ``groups:assay`` (see
            :data:`ssread.data.split_names.COLUMN_SPLITS`), or the path of a JSON file with folds.

    Returns:
        The dataset with further graph columns, and the name of the split for :func:`folds_of`. The name of a split by
        a column or a file contains a hash of what it says, since stored trainings are told apart by it.
    """
    check_split(split)
    if split == RANDOM:
        return graphs, split
    if split in SPLITS:
        groups = scaffold_groups(graphs) if split == "scaffold" else duplicate_groups(graphs)
        return _with_columns(graphs, {GROUP_COLUMN: torch.from_numpy(groups)}), split
    by_column = split_column(split)
    if by_column is None:
        return _with_folds(graphs, read_splits(split, len(graphs)))
    kind, column = by_column
    values = _values(graphs, column)
    if kind == "parts":
        return _with_folds(graphs, [_given_parts(graphs, column, values)])
    ranks = _ranks(values if kind == "groups" else _in_time(graphs, column, values))
    name = GROUP_COLUMN if kind == "groups" else TIME_COLUMN
    return _with_columns(graphs, {name: ranks}), f"{split} {_digest([ranks])}"


def _with_columns(graphs: GraphSet, columns: dict[str, torch.Tensor]) -> GraphSet:
    return replace(graphs, graph_columns={**graphs.graph_columns, **columns})


def _with_folds(graphs: GraphSet, folds: Sequence[Fold]) -> tuple[GraphSet, str]:
    """Adds given folds to the graphs, and names the split after their content."""
    columns = {}
    for number, fold in enumerate(folds):
        part = torch.full((len(graphs),), -1, dtype=torch.int64)
        for index, name in enumerate(PARTS):
            part[getattr(fold, name)] = index
        columns[f"{FOLD_COLUMN} {number}"] = part
    return _with_columns(graphs, columns), f"file {_digest(list(columns.values()))}"


def _digest(columns: list[torch.Tensor]) -> str:
    return hashlib.sha256(torch.stack(columns).numpy().tobytes()).hexdigest()[:16]


def _values(graphs: GraphSet, column: str) -> list[str]:
    """Returns what a column says of every graph."""
    if column in graphs.graph_texts:
        return [str(text).strip() for text in graphs.graph_texts[column]]
    if column in graphs.graph_columns:
        return [str(value) for value in graphs.graph_columns[column].tolist()]
    known = ", ".join(repr(name) for name in (*graphs.graph_texts, *graphs.graph_columns)) or "none"
    raise InputError(f"{graphs.name} has no column {column!r} to split by; its columns are {known}.")


def _ranks(values: Sequence[object]) -> torch.Tensor:
    """Returns the place of every value among the different values, in their order."""
    return torch.from_numpy(np.unique(np.array(values), return_inverse=True)[1].astype(np.int64))


def _given_parts(graphs: GraphSet, column: str, values: Sequence[str]) -> Fold:
    """Returns the parts that a column names; without validation part a tenth of the training part is taken for it."""
    parts = [PART_NAMES.get(value.lower(), -1) for value in values]
    if -1 in parts:
        graph = parts.index(-1)
        raise InputError(
            f"{graphs.name}: column {column!r} says {values[graph]!r} of graph {graphs.ids[graph]}; say train, "
            "validation or test."
        )
    numbers = [[number for number, part in enumerate(parts) if part == index] for index in range(len(PARTS))]
    if not numbers[0] or not numbers[2]:
        raise InputError(f"{graphs.name}: column {column!r} names no graph for {'test' if numbers[0] else 'train'}.")
    if not numbers[1]:
        shuffled = np.random.default_rng(0).permutation(numbers[0])
        held_out = max(1, round(VALIDATION * len(shuffled)))
        numbers[0], numbers[1] = sorted(shuffled[held_out:].tolist()), sorted(shuffled[:held_out].tolist())
    return Fold(*(torch.tensor(part, dtype=torch.int64) for part in numbers))


def _in_time(graphs: GraphSet, column: str, values: Sequence[str]) -> Sequence[float]:
    """Returns numbers or dates as numbers that can be ordered."""
    import pandas as pd

    numbers = pd.to_numeric(pd.Series(values), errors="coerce")
    if numbers.isna().any():
        dates = pd.to_datetime(pd.Series(values), errors="coerce", format="ISO8601")
        if dates.isna().any():
            graph = int(dates.isna().argmax())
            raise InputError(
                f"{graphs.name}: column {column!r} says {values[graph]!r} of graph {graphs.ids[graph]}; numbers, or "
                "dates such as 2026-01-31, are needed to split by time."
            )
        return dates.astype("int64").tolist()
    return numbers.tolist()


def num_file_folds(graphs: GraphSet) -> int:
    """Returns the number of folds that the graphs have from a split file; 0 without a file."""
    return sum(name.startswith(FOLD_COLUMN) for name in graphs.graph_columns)


def folds_of(graphs: GraphSet, split: str, num_folds: int, seed: int) -> list[Fold]:
    """Returns the folds of a dataset, the same for the same seed. Folds from a file do not depend on the seed.

    Args:
        graphs: The dataset that :func:`with_split` returned.
        split: The name that it returned.
        num_folds: The number of folds.
        seed: Seeds the random choices.
    """
    if split == RANDOM:
        return stratified_folds(graphs, num_folds, seed=seed)
    kind, _ = split_column(split) or ("", "")
    if kind == "time":
        return _time_folds(graphs, num_folds)
    if split in SPLITS or kind == "groups":
        if GROUP_COLUMN not in graphs.graph_columns:
            raise InputError(f"{graphs.name} has no groups for the split {split!r}: add them by with_split.")
        return stratified_folds(graphs, num_folds, seed=seed, groups=graphs.graph_columns[GROUP_COLUMN].cpu().numpy())
    if num_file_folds(graphs) != num_folds:
        raise InputError(f"The split file has {num_file_folds(graphs)} folds, but {num_folds} were asked for.")
    folds = []
    for number in range(num_folds):
        part = graphs.graph_columns[f"{FOLD_COLUMN} {number}"].cpu()
        folds.append(Fold(*((part == index).nonzero().squeeze(1) for index in range(len(PARTS)))))
    return folds


def _time_folds(graphs: GraphSet, num_folds: int) -> list[Fold]:
    """Returns folds that train on earlier graphs and test on the next ones; the latest of the earlier choose."""
    if TIME_COLUMN not in graphs.graph_columns:
        raise InputError(f"{graphs.name} has no order in time: add it by with_split.")
    order = graphs.graph_columns[TIME_COLUMN].cpu().argsort(stable=True)
    size = len(graphs) // (num_folds + 1)
    if size < 2:
        raise InputError(f"{len(graphs)} graphs are too few for {num_folds} folds in time; choose fewer.")
    folds = []
    for number in range(num_folds):
        start = len(graphs) - (num_folds - number) * size
        seen = order[:start]
        held_out = max(1, round(VALIDATION * start))
        parts = seen[:-held_out], seen[-held_out:], order[start : start + size]
        folds.append(Fold(*(part.sort().values for part in parts)))
    return folds


def fold_of(graphs: GraphSet, split: str, num_folds: int, seed: int, fold: int) -> Fold:
    """Returns one of :func:`folds_of`, by its number."""
    if not 0 <= fold < num_folds:
        raise InputError(f"There is no fold {fold} of {num_folds}; they are numbered from 0.")
    return folds_of(graphs, split, num_folds, seed)[fold]
