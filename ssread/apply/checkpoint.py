"""A training that survives being killed: what it needs to go on, in one file that is replaced as a whole."""

import json
import time
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ssread.common.files import replacing
from ssread.errors import InputError
from ssread.train.fit import Loop
from ssread.train.single import Single

__all__ = ["CheckpointFile"]


class CheckpointFile:
    """Keeps a single model's training in a file; see :class:`ssread.train.fit.Checkpoint`.

    A training that goes on from it gives the same numbers, bit for bit on the same machine, as one never interrupted.

    Args:
        path: The file.
        engine: The model in training.
        every: Seconds between two writings; a training killed in between repeats the passes since the last.
    """

    def __init__(self, path: Path, engine: Single, every: float = 10.0):
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
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
            self._engine.restore(_part(tensors, "engine"))
            best = _part(tensors, "best")
            loop.best.state = {name: value.clone() for name, value in _part(tensors, "state").items()}
            loop.best.epoch, loop.best.accuracy, loop.best.loss = best["epoch"], best["accuracy"], best["loss"]
            loop.generators[0].set_state(tensors["order"])
            loop.curves[0].update(plain["curves"])
            return int(plain["epoch"])
        except (OSError, SafetensorError, LookupError, TypeError, ValueError, RuntimeError) as error:
            raise InputError(f"{self.path} is damaged ({error}): remove it, and the training begins anew.") from None

    def keep(self, loop: Loop, epoch: int) -> None:
        """See :class:`ssread.train.fit.Checkpoint`."""
        if time.monotonic() - self._written < self.every:
            return
        best = {"epoch": loop.best.epoch, "accuracy": loop.best.accuracy, "loss": loop.best.loss}
        tensors = {"order": loop.generators[0].get_state()}
        for part, own in (("engine", self._engine.snapshot()), ("best", best), ("state", loop.best.state)):
            tensors |= {f"{part}/{name}": value.contiguous() for name, value in own.items()}
        with replacing(self.path) as new:
            save_file(tensors, new, {"loop": json.dumps({"epoch": epoch, "curves": loop.curves[0]})})
        self._written = time.monotonic()


def _part(tensors: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name.removeprefix(f"{part}/"): value for name, value in tensors.items() if name.startswith(f"{part}/")}
