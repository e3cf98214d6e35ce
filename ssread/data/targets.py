"""What is to be predicted, from the cells of label columns: classes, several labels at once, or numbers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ssread.data.classes import as_number, encode_classes, is_missing
from ssread.data.task_names import CLASSIFICATION, MULTILABEL, REGRESSION, check_task
from ssread.errors import InputError

__all__ = ["Targets", "has_no_target", "targets_of"]

#: Whole numbers with more different values than this are a quantity, not classes.
MOST_CLASSES_OF_NUMBERS = 20

#: How yes and no are written, apart from 1 and 0.
YES_NO = {"true": 1.0, "yes": 1.0, "active": 1.0, "false": 0.0, "no": 0.0, "inactive": 0.0}


class Targets(NamedTuple):
    """What is to be predicted of every graph.

    Attributes:
        task: One of :data:`ssread.data.task_names.TASKS`.
        y: The class index of every graph ``[G]``, int64; for other tasks numbers ``[G, T]``, float32, NaN where empty.
        class_names: The name of every class; of several labels or numbers there are none.
        target_names: The name of every label or number; of classes there are none.
    """

    task: str
    y: npt.NDArray[Any]
    class_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()


def has_no_target(label: Any) -> bool:
    """Whether a graph has nothing to learn from: its label is missing, or every one of its labels.

    >>> has_no_target((None, "")), has_no_target((None, 1)), has_no_target("")
    (True, False, True)
    """
    return all(map(is_missing, label)) if _is_row(label) else is_missing(label)


def targets_of(
    labels: Sequence[Any], source: str, *, task: str | None = None, names: Sequence[str] | None = None
) -> Targets:
    """Returns what the labels of graphs ask to predict.

    Unless ``task`` says it: several labels that are all 0 or 1 (true or false, yes or no, active or inactive) are
    ``multilabel``, several numbers ``regression``. A single label is a number if every one is, and if they are not
    whole or have more than 20 different values; otherwise it is a class.

    Args:
        labels: A text or number per graph; or a row of several per graph, empty cells anywhere.
        source: The name of the input in error messages.
        task: One of :data:`ssread.data.task_names.TASKS`.
        names: The names of the labels of a row.

    >>> targets_of([(1, None), (0, 1)], "here").task, targets_of([0.5, 2], "here").task, targets_of("ab", "here").task
    ('multilabel', 'regression', 'classification')
    """
    if task is not None:
        check_task(task)
    rows = [_cells(label) for label in labels]
    width = max(map(len, rows), default=1)
    if any(len(row) != width for row in rows):
        raise InputError(f"{source}: every graph needs {width} labels, as others have, or none.")
    if width == 1 and task != MULTILABEL:
        cells = [row[0] for row in rows]
        if (task or _task_of(cells)) == CLASSIFICATION:
            return Targets(CLASSIFICATION, *encode_classes(cells, source))
    elif task == CLASSIFICATION:
        raise InputError(
            f"{source}: {width} labels per graph are no single class: choose one of them, or the task multilabel."
        )
    listed = tuple(names or (f"label {number}" for number in range(width)))
    if task is None:
        task = REGRESSION if width == 1 else _task_of_rows(rows)
    number_of = _yes_or_no if task == MULTILABEL else as_number
    y = np.array([[_number(cell, number_of) for cell in row] for row in rows], dtype=np.float32).reshape(-1, width)
    _check(y, rows, listed, task, source)
    return Targets(task, y, target_names=listed)


def _is_row(label: Any) -> bool:
    return isinstance(label, tuple | list | np.ndarray)


def _cells(label: Any) -> list[Any]:
    return [*label] if _is_row(label) else [label]


def _task_of(cells: Sequence[Any]) -> str:
    numbers = [as_number(cell) for cell in cells]
    if None in numbers:
        return CLASSIFICATION
    whole = all(float(number).is_integer() for number in numbers if number is not None)
    return CLASSIFICATION if whole and len(set(numbers)) <= MOST_CLASSES_OF_NUMBERS else REGRESSION


def _task_of_rows(rows: Sequence[Sequence[Any]]) -> str:
    cells = (cell for row in rows for cell in row if not is_missing(cell))
    return MULTILABEL if all(_yes_or_no(cell) is not None for cell in cells) else REGRESSION


def _yes_or_no(cell: Any) -> float | None:
    """Returns 1 or 0 for a cell that says yes or no in one of the usual ways, else None."""
    number = YES_NO.get(str(cell).strip().lower())
    number = as_number(cell) if number is None else number
    return number if number in (0, 1) else None


def _number(cell: Any, number_of: Any) -> float:
    """Returns the number in a cell: NaN where it is empty, infinity where there is none."""
    if is_missing(cell):
        return float("nan")
    number = number_of(cell)
    return float("inf") if number is None else number


def _check(y: np.ndarray, rows: Sequence[Sequence[Any]], names: Sequence[str], task: str, source: str) -> None:
    wrong = np.argwhere(np.isinf(y))
    if len(wrong):
        graph, column = wrong[0]
        needed = "0 or 1" if task == MULTILABEL else "a number"
        raise InputError(
            f"{source}: {names[column]!r} of graph {graph} is {rows[graph][column]!r:.60}; the task {task} needs "
            f"{needed} there, or nothing."
        )
