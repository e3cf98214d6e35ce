"""Checkpoints: everything a killed training needs to continue, in one file that is replaced as a whole."""

import json
import time
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ssread.common.files import replacing
from ssread.errors import InputError
from ssread.train.engine import Engine
from ssread.train.fit import Loop

__all__ = ["CheckpointFile"]


class CheckpointFile:
    """The checkpoint of a training, of one model or a stack, in a file; see :class:`ssread.train.fit.Checkpoint`.

    A training that continues from it gives bit for bit the same numbers, on the same machine, as one that was never
    interrupted.

    Args:
        path: The file.
        engine: The models in training.
        every: Least seconds between two checkpoints; a killed training repeats the epochs since the last.
    """

    def __init__(self, path: Path, engine: Engine, every: float = 10.0):
        self.path, self.every = path, every
        self._engine = engine
        self._written = time.monotonic()

    def restore(self, loop: Loop) -> int:
        """See :class:`ssread.train.fit.Checkpoint`."""
        if not self.path.is_file():
            return 0
        try:
            with safe_open(self.path, "pt") as file:
                plain = json.loads(file.metadata()["loop"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            self._engine.restore(_with_prefix(tensors, "engine"))
            best, state = _with_prefix(tensors, "best"), _with_prefix(tensors, "state")
            if state:  # in the order and on the device of the engine
                current = self._engine.state()
                loop.best.state = {name: state[name].to(value.device, copy=True) for name, value in current.items()}
            loop.best.epoch, loop.best.accuracy, loop.best.loss = best["epoch"], best["accuracy"], best["loss"]
            loop.active, loop.failed = tensors["active"], tensors["failed"]
            for generator, order in zip(loop.generators, tensors["order"], strict=True):
                generator.set_state(order.clone())
            for curves, kept in zip(loop.curves, plain["curves"], strict=True):
                curves.update(kept)
            return int(plain["epoch"])
        except (OSError, SafetensorError, LookupError, TypeError, ValueError, RuntimeError) as error:
            raise InputError(f"{self.path} is damaged ({error}): remove it to start the training again.") from None

    def keep(self, loop: Loop, epoch: int) -> None:
        """See :class:`ssread.train.fit.Checkpoint`."""
        if time.monotonic() - self._written < self.every:
            return
        best = {"epoch": loop.best.epoch, "accuracy": loop.best.accuracy, "loss": loop.best.loss}
        tensors = {"order": torch.stack([generator.get_state() for generator in loop.generators])}
        tensors |= {"active": loop.active, "failed": loop.failed}
        for prefix, values in (("engine", self._engine.snapshot()), ("best", best), ("state", loop.best.state)):
            tensors |= {f"{prefix}/{name}": value.contiguous() for name, value in values.items()}
        with replacing(self.path) as new:
            save_file(tensors, new, {"loop": json.dumps({"epoch": epoch, "curves": loop.curves})})
        self._written = time.monotonic()


def _with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with ``prefix/``, without it."""
    start = f"{prefix}/"
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}
