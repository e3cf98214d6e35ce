"""The folds of a dataset under a split by name: by class alone, by scaffold, copies together, or from a file.

What a split needs beside the labels (the group of every graph, the parts that a file names) becomes graph columns, so
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

__all__ = ["fold_of", "folds_of", "with_split"]

GROUP = "split group"
PART = "split part of fold"
PARTS = ("train", "validation", "test")


def with_split(graphs: GraphSet, split: str) -> tuple[GraphSet, str]:
    """The graphs with the columns that a split needs, and the name of the split for :func:`folds_of`.

    Args:
        graphs: The dataset.
        split: A name of :data:`SPLITS`, or the path of a JSON file with folds.

    Returns:
        The dataset with further graph columns, and the split's name; a file's name holds a hash of its folds.
    """
    check_split(split)
    if split == RANDOM:
        return graphs, split
    if split in SPLITS:
        groups = scaffold_groups(graphs) if split == "scaffold" else duplicate_groups(graphs)
        columns = {GROUP: torch.from_numpy(groups)}
        return replace(graphs, graph_columns={**graphs.graph_columns, **columns}), split
    columns = {}
    for number, fold in enumerate(read_splits(split, len(graphs))):
        part = torch.full((len(graphs),), -1, dtype=torch.int64)
        for place, name in enumerate(PARTS):
            part[getattr(fold, name)] = place
        columns[f"{PART} {number}"] = part
    digest = hashlib.sha256(torch.stack(list(columns.values())).numpy().tobytes()).hexdigest()[:16]
    return replace(graphs, graph_columns={**graphs.graph_columns, **columns}), f"file {digest}"


def num_file_folds(graphs: GraphSet) -> int:
    """How many folds a split file gave the graphs; 0 where there was none."""
    return sum(name.startswith(PART) for name in graphs.graph_columns)


def folds_of(graphs: GraphSet, split: str, num_folds: int, seed: int) -> list[Fold]:
    """The folds of a dataset; the same seed gives the same folds. Folds from a file depend on no seed.

    Args:
        graphs: What :func:`with_split` returned.
        split: The name that it returned.
        num_folds: The number of folds.
        seed: Of the random choices.
    """
    if split == RANDOM:
        return stratified_folds(graphs, num_folds, seed=seed)
    if split in SPLITS:
        return stratified_folds(graphs, num_folds, seed=seed, groups=graphs.graph_columns[GROUP].cpu().numpy())
    if num_file_folds(graphs) != num_folds:
        raise InputError(f"The split file has {num_file_folds(graphs)} folds, but {num_folds} are asked for.")
    folds = []
    for number in range(num_folds):
        part = graphs.graph_columns[f"{PART} {number}"].cpu()
        folds.append(Fold(*((part == place).nonzero().squeeze(1) for place in range(len(PARTS)))))
    return folds


def fold_of(graphs: GraphSet, split: str, num_folds: int, seed: int, fold: int) -> Fold:
    """One of :func:`folds_of`, by its number."""
    if not 0 <= fold < num_folds:
        raise InputError(f"There is no fold {fold} of {num_folds}; they are numbered from 0.")
    return folds_of(graphs, split, num_folds, seed)[fold]
