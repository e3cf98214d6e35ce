"""Checks of the options that say where trainings and predictions run; they do not import torch."""

import re

from ssread.errors import InputError

__all__ = ["check_placement", "check_workers"]


def check_placement(device: str, workers: int | None = None, on: str = "here") -> None:
    """Raises an ``InputError`` if these options are not valid.

    Args:
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:1``. Whether there is a GPU is checked when it is used.
        workers: The number of worker processes; None for the default.
        on: ``here``, or a Ray cluster: ``ray`` or ``ray://host:port``.
    """
    if on not in ("here", "ray") and not re.fullmatch(r"ray://([\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}", on):
        raise InputError(f"on must be here, ray or ray://host:port, but {on!r} was given.")
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", device):
        raise InputError(f"There is no device {device!r}. Choose auto, cpu or cuda.")
    check_workers(workers)


def check_workers(workers: int | None) -> None:
    """Raises an ``InputError`` for a number of worker processes below 1."""
    if workers is not None and workers < 1:
        raise InputError(f"workers must be 1 or more, but {workers} was given.")
