"""Splits that cannot leak: the training, validation and test parts of a fold are checked to be disjoint."""

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
from ssread.data.task_names import CLASSIFICATION, MULTILABEL
from ssread.errors import InputError


@dataclass(frozen=True, eq=False)
class Fold:
    """The numbers of the graphs to train on, to select models by and to test on. No graph may be in two parts.

    >>> Fold(torch.tensor([0, 1]), torch.tensor([2]), torch.tensor([2, 3]))
    Traceback (most recent call last):
        ...
    ssread.errors.InputError: A fold leaks: graph 2 is in both its validation and its test part.
    """

    train: Tensor
    validation: Tensor
    test: Tensor

    def __post_init__(self) -> None:
        parts = {"training": self.train, "validation": self.validation, "test": self.test}
        graph = _repeated(list(parts.values()))
        if graph is not None:
            found = [what for what, part in parts.items() for _ in range(int((part == graph).sum()))]
            where = f"twice in its {found[0]}" if found[0] == found[1] else f"in both its {found[0]} and its {found[1]}"
            raise InputError(f"A fold leaks: graph {graph} is {where} part.")

    def __repr__(self) -> str:
        return f"Fold(train={len(self.train)}, validation={len(self.validation)}, test={len(self.test)})"


def _repeated(parts: Sequence[Tensor]) -> int | None:
    """Returns the smallest number that occurs more than once in all parts together, if any."""
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
    """Splits a dataset into folds, each with the dataset's share of every class.

    Without classes, graphs are grouped by the rarest of their labels that is 1, or by the size of their first number.

    Args:
        graphs: A dataset with labels.
        num_folds: Number of folds; every graph is in the test part of exactly one.
        validation: Share of the other graphs that form the validation part; 0.1 is the paper's 9:1.
        seed: The same seed gives the same folds.
        groups: A number per graph ``[G]``. Graphs of one group stay together in one part of every fold, such as
            copies of each other or molecules with the same scaffold.
    """
    labels = _labels(graphs, num_folds)
    if not 0 < validation < 1:
        raise InputError(f"validation={validation} is not a share between 0 and 1.")
    numbers = np.arange(len(labels))
    group_of = None if groups is None else np.asarray(groups).reshape(-1)
    if group_of is not None and len(group_of) != len(labels):
        raise InputError(f"There are {len(group_of)} groups, but {graphs.name} has {len(labels)} graphs.")
    folds = []
    for rest, test in _k_fold(numbers, labels, group_of, num_folds, seed, graphs.name):
        if group_of is None:
            train, held_out = _hold_out(rest, labels[rest], validation, seed, graphs.name)
        else:
            num_parts = max(2, min(round(1 / validation), len(np.unique(group_of[rest]))))  # few groups: a larger part
            parts = list(_k_fold(rest, labels[rest], group_of[rest], num_parts, seed, graphs.name))
            train, held_out = (rest[part] for part in _nearest_in_size(parts, validation * len(rest)))
        folds.append(Fold(*(torch.from_numpy(np.sort(part)) for part in (train, held_out, test))))
    check_folds(folds, len(graphs))
    return folds


def _nearest_in_size(parts: Sequence[tuple[np.ndarray, np.ndarray]], size: float) -> tuple[np.ndarray, np.ndarray]:
    """Of (training, test) parts the one whose test part is nearest to a size.

    Of folds by group the first holds the largest group, whatever the seed: a frequent scaffold would never be learnt.
    """
    return min(parts, key=lambda part: abs(len(part[1]) - size))


def _labels(graphs: GraphSet, num_folds: int) -> np.ndarray:
    """Returns the stratum of every graph, after checking that every class has a graph for every fold."""
    if graphs.y is None:
        raise InputError(f"{graphs.name} has no labels: stratified folds need a class for each graph.")
    check_targets(graphs)
    if len(graphs) < 2:
        raise InputError(f"{graphs.name} has {len(graphs)} graphs: folds need at least 2.")
    if not 2 <= num_folds <= len(graphs):
        raise InputError(f"{len(graphs)} graphs cannot be split into num_folds={num_folds}: choose 2 to {len(graphs)}.")
    if graphs.task != CLASSIFICATION:
        return strata(graphs, num_folds)
    labels = graphs.y.cpu().numpy()
    present = np.bincount(labels, minlength=graphs.num_classes)
    if (present > 0).sum() < 2:
        only = graphs.class_names[int(present.argmax())]
        raise InputError(f"{graphs.name} has graphs of one class only ({only!r}): at least two classes are needed.")
    for name, members in zip(graphs.class_names, present.tolist(), strict=True):
        if 0 < members < num_folds:
            raise InputError(
                f"Class {name!r} of {graphs.name} has {members} graphs, fewer than the {num_folds} folds: choose "
                f"num_folds={members} or less, or leave the class out."
                if members > 1
                else f"Class {name!r} of {graphs.name} has one graph only: leave the class out, or add graphs to it."
            )
    return labels


def check_targets(graphs: GraphSet) -> None:
    """Raises an ``InputError`` if a label or number has the same value wherever it is known."""
    for name, values in graphs.statistics().get("targets", {}).items():
        if not values["lowest"] < values["highest"]:
            found = f"only the value {values['lowest']:g}" if values["known"] else "no values"
            raise InputError(f"{graphs.name}: {name!r} has {found}: there is nothing to learn; leave it out.")


def strata(graphs: GraphSet, least: int) -> np.ndarray:
    """Returns a group for every graph ``[G]`` to be spread evenly over parts.

    Groups are the classes; the rarest of a graph's labels that is 1; or ranges of its first number. The last two kinds
    have at least ``least`` graphs, and at least 20, so that a tenth of the graphs holds some of each.
    """
    assert graphs.y is not None
    y = graphs.y.cpu().numpy()
    if graphs.task == CLASSIFICATION:
        return y
    least = max(least, 20)
    if graphs.task == MULTILABEL:
        order = np.argsort(np.nansum(y, axis=0), kind="stable")
        positive = y[:, order] == 1
        groups = np.where(positive.any(axis=1), positive.argmax(axis=1), y.shape[1])
    else:
        ranks = np.argsort(np.argsort(y[:, 0], kind="stable"))
        groups = ranks * max(1, min(10, len(y) // least)) // len(y)
    sizes = np.bincount(groups)
    return np.where(sizes[groups] < least, int(sizes.argmax()), groups)


def _k_fold(
    numbers: np.ndarray, labels: np.ndarray, groups: np.ndarray | None, num_folds: int, seed: int, name: str
) -> Any:
    """Returns the indices into ``numbers`` of the training and the test part of every fold."""
    # Imported here because scikit-learn takes a second to import, which reading graphs does not need.
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if groups is None:
        return StratifiedKFold(num_folds, shuffle=True, random_state=seed).split(numbers, labels)
    if len(np.unique(groups)) < num_folds:
        raise InputError(f"{name}: {len(np.unique(groups))} groups cannot be split into {num_folds} parts.")
    try:
        folds = list(StratifiedGroupKFold(num_folds).split(numbers, labels, _shuffled(groups, seed)))
    except ValueError as error:
        raise InputError(f"{name} cannot be split into {num_folds} parts by groups ({error}).") from None
    if any(len(train) == 0 or len(test) == 0 for train, test in folds):
        raise InputError(f"{name}: the groups are too large to be split into {num_folds} parts; choose fewer folds.")
    return folds


def _shuffled(groups: np.ndarray, seed: int) -> np.ndarray:
    """Other numbers for the groups, at random: with them any scikit-learn has the folds of 1.8 with ``shuffle=True``.

    Older ones shuffle how many members of a class each group has, and not the groups.
    """
    group_of = np.unique(groups, return_inverse=True)[1].reshape(-1)
    order = np.arange(group_of.max() + 1)
    np.random.RandomState(seed).shuffle(order)
    return np.argsort(order)[group_of]


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
    """Raises an ``InputError`` if two test parts share a graph or a number is not that of a graph.

    The parts of one fold need no check, because :class:`Fold` refuses parts that overlap.
    """
    for number, fold in enumerate(folds):
        every = torch.cat([fold.train, fold.validation, fold.test])
        wrong = every[(every < 0) | (every >= num_graphs)]
        if len(wrong):
            raise InputError(
                f"Fold {number} contains graph {int(wrong[0])}, but there are {num_graphs} graphs, numbered from 0."
            )
    graph = _repeated([fold.test for fold in folds])
    if graph is not None:
        one, other = [number for number, fold in enumerate(folds) if (fold.test == graph).any()][:2]
        raise InputError(f"Graph {graph} is in the test parts of both fold {one} and fold {other}.")


def write_splits(folds: Sequence[Fold], path: str | os.PathLike[str]) -> None:
    """Writes folds atomically in the JSON format of the published fair-comparison splits."""
    content = [
        {
            "test": fold.test.tolist(),
            "model_selection": [{"train": fold.train.tolist(), "validation": fold.validation.tolist()}],
        }
        for fold in folds
    ]
    write_text(Path(path), json.dumps(content))


def read_splits(path: str | os.PathLike[str], num_graphs: int) -> list[Fold]:
    """Reads a fair-comparison split file (JSON): a list of folds with ``test`` and ``model_selection``.

    ``model_selection`` is an object with ``train`` and ``validation``, or a list of one such object. Every fold is
    checked for leaks and for numbers that are not those of graphs.

    Args:
        path: The file.
        num_graphs: Number of graphs of the dataset.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}).") from None
    if not isinstance(content, list) or not content:
        raise InputError(f"{path} is not a list of folds.")
    folds = []
    for number, entry in enumerate(content):
        inner = entry.get("model_selection") if isinstance(entry, dict) else None
        inner = inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
        if not isinstance(inner, dict):
            raise InputError(f"{path}: fold {number} has no 'model_selection' with one 'train' and 'validation'.")
        parts = {"train": inner.get("train"), "validation": inner.get("validation"), "test": entry.get("test")}
        for what, part in parts.items():
            if not isinstance(part, list) or not all(type(graph) is int for graph in part):
                raise InputError(f"{path}: {what!r} of fold {number} is not a list of graph numbers.")
        try:
            folds.append(Fold(**{what: torch.tensor(part, dtype=torch.int64) for what, part in parts.items()}))
        except (ValueError, RuntimeError) as error:
            raise InputError(f"{path}, fold {number}: {error}") from None
    try:
        check_folds(folds, num_graphs)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return folds
