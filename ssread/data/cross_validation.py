"""The folds of a dataset under a named split: random, by scaffold, with duplicates kept together, or from a file.

What a split needs besides the labels (the group of every graph, the folds of a file) is stored in graph columns, so
that it travels with the graphs to worker processes and other machines.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import torch

from ssread.data.duplicates import duplicate_groups
from ssread.data.graphset import GraphSet
from ssread.data.scaffold import scaffold_groups
from ssread.data.split_names import RANDOM, SPLITS, check_split
from ssread.data.splits import Fold, read_splits, stratified_folds
from ssread.errors import InputError

__all__ = ["fold_of", "folds_of", "num_file_folds", "with_split"]

GROUP_COLUMN = "split group"
FOLD_COLUMN = "split part of fold"
PARTS = ("train", "validation", "test")


def with_split(graphs: GraphSet, split: str) -> tuple[GraphSet, str]:
    """Adds the columns that a split needs to the graphs.

    Args:
        graphs: The dataset.
        split: A name of :data:`SPLITS`, or the path of a JSON file with folds.

    Returns:
        The dataset with further graph columns, and the name of the split for :func:`folds_of`. The name of a file
        split contains a hash of its folds.
    """
    check_split(split)
    if split == RANDOM:
        return graphs, split
    if split in SPLITS:
        groups = scaffold_groups(graphs) if split == "scaffold" else duplicate_groups(graphs)
        columns = {GROUP_COLUMN: torch.from_numpy(groups)}
        return replace(graphs, graph_columns={**graphs.graph_columns, **columns}), split
    columns = {}
    for number, fold in enumerate(read_splits(split, len(graphs))):
        part = torch.full((len(graphs),), -1, dtype=torch.int64)
        for index, name in enumerate(PARTS):
            part[getattr(fold, name)] = index
        columns[f"{FOLD_COLUMN} {number}"] = part
    digest = hashlib.sha256(torch.stack(list(columns.values())).numpy().tobytes()).hexdigest()[:16]
    return replace(graphs, graph_columns={**graphs.graph_columns, **columns}), f"file {digest}"


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
    if split in SPLITS:
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


def fold_of(graphs: GraphSet, split: str, num_folds: int, seed: int, fold: int) -> Fold:
    """Returns one of :func:`folds_of`, by its number."""
    if not 0 <= fold < num_folds:
        raise InputError(f"There is no fold {fold} of {num_folds}; they are numbered from 0.")
    return folds_of(graphs, split, num_folds, seed)[fold]
