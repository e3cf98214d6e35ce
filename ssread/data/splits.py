"""Splits that cannot leak: every fold's train, validation and test parts are disjoint, and checked to be."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ssread.common.files import write_text
from ssread.data.graphset import GraphSet
from ssread.errors import InputError


@dataclass(frozen=True, eq=False)
class Fold:
    """Graph numbers to train on, to choose on, and to judge by. No graph may be in two of the parts.

    >>> Fold(torch.tensor([0, 1]), torch.tensor([2]), torch.tensor([2, 3]))
    Traceback (most recent call last):
        ...
    ssread.errors.InputError: A fold leaks: graph 2 is both in its validation and its test part.
    """

    train: Tensor
    validation: Tensor
    test: Tensor

    def __post_init__(self) -> None:
        parts = {"training": self.train, "validation": self.validation, "test": self.test}
        graph = _repeated(list(parts.values()))
        if graph is not None:
            found = [what for what, part in parts.items() for _ in range(int((part == graph).sum()))]
            where = f"twice in its {found[0]}" if found[0] == found[1] else f"both in its {found[0]} and its {found[1]}"
            raise InputError(f"A fold leaks: graph {graph} is {where} part.")

    def __repr__(self) -> str:
        return f"Fold(train={len(self.train)}, validation={len(self.validation)}, test={len(self.test)})"


def _repeated(parts: Sequence[Tensor]) -> int | None:
    """A number that occurs more than once in the parts together."""
    numbers = torch.cat(list(parts)).sort().values
    repeated = numbers[1:][numbers.diff() == 0]
    return int(repeated[0]) if len(repeated) else None


def stratified_folds(
    graphs: GraphSet,
    num_folds: int = 10,
    *,
    validation: float = 0.1,
    seed: int = 0,
    groups: ArrayLike | None = None,
) -> list[Fold]:
    """Cut a set into folds with the set's share of every class, and each training part once more.

    Args:
        graphs: A set with labels.
        num_folds: Number of folds; every graph is in the test part of exactly one.
        validation: Share of each training part that is held out to choose by; 0.1 is the paper's 9:1.
        seed: The same seed gives the same folds.
        groups: A number per graph ``[G]``: graphs of one group stay together in one part of every fold, e.g.
            copies of each other or molecules with the same scaffold.
    """
    labels = _labels(graphs, num_folds)
    if not 0 < validation < 1:
        raise InputError(f"validation={validation} is not a share between 0 and 1.")
    numbers = np.arange(len(labels))
    group_of = None if groups is None else np.asarray(groups).reshape(-1)
    if group_of is not None and len(group_of) != len(labels):
        raise InputError(f"groups names {len(group_of)} graphs, {graphs.name} has {len(labels)}.")
    folds = []
    for rest, test in _cut(numbers, labels, group_of, num_folds, seed, graphs.name):
        if group_of is None:
            train, held_out = _hold_out(rest, labels[rest], validation, seed, graphs.name)
        else:
            share = max(2, round(1 / validation))
            first = next(iter(_cut(rest, labels[rest], group_of[rest], share, seed, graphs.name)))
            train, held_out = rest[first[0]], rest[first[1]]
        folds.append(Fold(*(torch.from_numpy(np.sort(part)) for part in (train, held_out, test))))
    check_folds(folds, len(graphs))
    return folds


def _labels(graphs: GraphSet, num_folds: int) -> np.ndarray:
    if graphs.y is None:
        raise InputError(f"{graphs.name} has no labels: stratified folds need a class for each graph.")
    if len(graphs) < 2:
        raise InputError(f"{graphs.name} has {len(graphs)} graphs: folds need at least 2.")
    if not 2 <= num_folds <= len(graphs):
        raise InputError(f"num_folds={num_folds} cannot cut {len(graphs)} graphs: choose 2 to {len(graphs)}.")
    labels = graphs.y.cpu().numpy()
    present = np.bincount(labels, minlength=graphs.num_classes)
    if (present > 0).sum() < 2:
        only = graphs.class_names[int(present.argmax())]
        raise InputError(f"{graphs.name} has graphs of one class only ({only!r}): there is nothing to tell apart.")
    for name, members in zip(graphs.class_names, present.tolist(), strict=True):
        if 0 < members < num_folds:
            raise InputError(
                f"Class {name!r} of {graphs.name} has {members} graphs, fewer than the {num_folds} folds: choose "
                f"num_folds={members} or less, or leave the class out."
                if members > 1
                else f"Class {name!r} of {graphs.name} has one graph only: leave the class out, or find more."
            )
    return labels


def _cut(
    numbers: np.ndarray, labels: np.ndarray, groups: np.ndarray | None, num_folds: int, seed: int, name: str
) -> Any:
    """Positions within ``numbers`` of every fold's two sides."""
    # Imported where it is used: scikit-learn takes a second that whoever only reads graphs need not wait for.
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if groups is None:
        return StratifiedKFold(num_folds, shuffle=True, random_state=seed).split(numbers, labels)
    if len(np.unique(groups)) < num_folds:
        raise InputError(f"{name}: {len(np.unique(groups))} groups cannot be cut into {num_folds} parts.")
    try:
        cut = list(StratifiedGroupKFold(num_folds, shuffle=True, random_state=seed).split(numbers, labels, groups))
    except ValueError as error:
        raise InputError(f"{name} cannot be cut into {num_folds} parts by groups ({error}).") from None
    if any(len(train) == 0 or len(test) == 0 for train, test in cut):
        raise InputError(f"{name}: the groups are too large to be cut into {num_folds} parts; choose fewer folds.")
    return cut


def _hold_out(
    rest: np.ndarray, labels: np.ndarray, share: float, seed: int, name: str
) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.model_selection import train_test_split

    try:
        train, held_out = train_test_split(rest, test_size=share, stratify=labels, random_state=seed)
    except ValueError as error:
        raise InputError(
            f"{name}: {len(rest)} graphs are too few to hold out a share of {share} with every class ({error})."
        ) from None
    return train, held_out


def check_folds(folds: Sequence[Fold], num_graphs: int) -> None:
    """Raise an ``InputError`` unless the test parts share no graph and every number is a graph's.

    That the parts of one fold are disjoint is already sure: no leaking :class:`Fold` can be made.
    """
    for number, fold in enumerate(folds):
        every = torch.cat([fold.train, fold.validation, fold.test])
        wrong = every[(every < 0) | (every >= num_graphs)]
        if len(wrong):
            raise InputError(
                f"Fold {number} speaks of graph {int(wrong[0])}; there are {num_graphs} graphs (0, 1, ...)."
            )
    graph = _repeated([fold.test for fold in folds])
    if graph is not None:
        one, other = [number for number, fold in enumerate(folds) if (fold.test == graph).any()][:2]
        raise InputError(f"Graph {graph} is in the test parts of both fold {one} and {other}.")


def write_splits(folds: Sequence[Fold], path: str | os.PathLike[str]) -> None:
    """Write folds as the published fair-comparison split files are: JSON, all or nothing."""
    content = [
        {
            "test": fold.test.tolist(),
            "model_selection": [{"train": fold.train.tolist(), "validation": fold.validation.tolist()}],
        }
        for fold in folds
    ]
    write_text(Path(path), json.dumps(content))


def read_splits(path: str | os.PathLike[str], num_graphs: int) -> list[Fold]:
    """Read a fair-comparison split file (JSON): a list of folds with ``test`` and ``model_selection``.

    ``model_selection`` holds ``train`` and ``validation``, as an object or as a list of one. Every fold is
    checked for leakage and for graphs that are not there.

    Args:
        path: The file.
        num_graphs: Number of graphs of the set the splits are for.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}).") from None
    if not isinstance(content, list) or not content:
        raise InputError(f"{path} holds no list of folds.")
    folds = []
    for number, entry in enumerate(content):
        inner = entry.get("model_selection") if isinstance(entry, dict) else None
        inner = inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
        if not isinstance(inner, dict):
            raise InputError(f"{path}: fold {number} lacks 'model_selection' with one 'train' and 'validation'.")
        parts = {"train": inner.get("train"), "validation": inner.get("validation"), "test": entry.get("test")}
        for what, part in parts.items():
            if not isinstance(part, list) or not all(type(graph) is int for graph in part):
                raise InputError(f"{path}: {what!r} of fold {number} is no list of graph numbers.")
        try:
            folds.append(Fold(**{what: torch.tensor(part, dtype=torch.int64) for what, part in parts.items()}))
        except (ValueError, RuntimeError) as error:
            raise InputError(f"{path}, fold {number}: {error}") from None
    try:
        check_folds(folds, num_graphs)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return folds
