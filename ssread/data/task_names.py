"""What may be predicted of a graph, by name; kept apart because checking a name needs no other module."""

from ssread.errors import InputError

__all__ = ["CLASSIFICATION", "MULTILABEL", "REGRESSION", "TASKS", "check_task"]

CLASSIFICATION, MULTILABEL, REGRESSION = "classification", "multilabel", "regression"

#: The tasks: one class of several, several labels that are each yes or no, one or several numbers.
TASKS = (CLASSIFICATION, MULTILABEL, REGRESSION)


def check_task(task: str) -> None:
    """Raises an ``InputError`` unless this is a task."""
    if task not in TASKS:
        raise InputError(f"There is no task {task!r}. Choose from {', '.join(TASKS)}.")
