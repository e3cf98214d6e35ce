"""Adam for a stack of models: one update for all of them, with a step counter for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from ssread import kernels

__all__ = ["StackedAdam"]

BETAS = (0.9, 0.999)
EPS = 1e-8

#: Flattened tensors start at multiples of this many entries, for aligned reads on a GPU.
ALIGNED = 64


class Update(NamedTuple):
    """The factors of one update, per model: the learning rate over the bias corrections, and which models move."""

    step_size: Tensor  #: [R]
    root_correction: Tensor  #: [R]
    active: Tensor  #: [R], bool


class StackedAdam:
    """Adam (`"A Method for Stochastic Optimization" <https://arxiv.org/abs/1412.6980>`_) over R models at once.

    A model that skips a step keeps its weights, moments and step counter, so that it takes the same steps as if it were
    trained alone. Parameters and moments are flat tensors: an update reads and writes each of them once.

    Args:
        parameters: Stacked parameters by name, each [R, ...]; they are copied.
        learning_rate: The learning rate of all models, until :meth:`set_learning_rate`.
        weight_decay: Added to the gradient as a multiple of the weights, as in ``torch.optim.Adam``.
    """

    def __init__(self, parameters: dict[str, Tensor], learning_rate: float, weight_decay: float):
        first = next(iter(parameters.values()))
        self.num_models = first.size(0)
        self.weight_decay = weight_decay
        self._flat = _flattened(value.detach() for value in parameters.values())
        self._means, self._squares = torch.zeros_like(self._flat), torch.zeros_like(self._flat)
        models = torch.arange(self.num_models, dtype=torch.int32, device=first.device)
        self._owner = _flattened(_each(models, value) for value in parameters.values())
        self._steps = torch.zeros(self.num_models, dtype=torch.float64, device=first.device)
        self._learning_rate = torch.full_like(self._steps, learning_rate)
        self.parameters = _views(self._flat, parameters)
        for parameter in self.parameters.values():
            parameter.requires_grad_()

    def set_learning_rate(self, values: Tensor) -> None:
        """Sets the learning rate of every model, [R]; this takes effect in recorded steps, too."""
        self._learning_rate.copy_(values)

    def zero_grad(self) -> None:
        """Resets the gradients."""
        for parameter in self.parameters.values():
            parameter.grad = None

    @torch.no_grad()
    def step(self, active: Tensor) -> None:
        """Moves the models where ``active`` [R] is true along their gradients."""
        gradient = _flattened(_gradient(parameter) for parameter in self.parameters.values())
        self._steps.add_(active)
        counted = self._steps.clamp(min=1)  # 0 only for a model that is not active now
        update = Update(
            (self._learning_rate / (1 - BETAS[0] ** counted)).to(self._flat.dtype),
            (1 - BETAS[1] ** counted).sqrt().to(self._flat.dtype),
            active,
        )
        if kernels.usable(self._flat.view(-1, 1)):
            from ssread.kernels.adam import adam_update

            tensors = (self._flat, gradient, self._means, self._squares, self._owner)
            adam_update(*tensors, *update, self.weight_decay, BETAS, EPS)
        else:
            self._update(gradient, update)

    def select(self, models: Tensor) -> StackedAdam:
        """Returns the optimizer of some of the models, by number, with their weights, moments and counters."""
        chosen = StackedAdam({n: p[models] for n, p in self.parameters.items()}, 0.0, self.weight_decay)
        for name in ("_means", "_squares"):
            parts = _views(getattr(self, name), self.parameters).values()
            getattr(chosen, name).copy_(_flattened(part[models] for part in parts))
        chosen._steps.copy_(self._steps[models])
        chosen._learning_rate.copy_(self._learning_rate[models])
        return chosen

    def state(self) -> dict[str, Tensor]:
        """Returns the weights, moments and counters of all models; values written to them take effect."""
        return {"weights": self._flat, "means": self._means, "squares": self._squares, "steps": self._steps}

    def _update(self, gradient: Tensor, update: Update) -> None:
        """The same as the kernel, in plain torch code."""
        step_size, root_correction, active = (part.index_select(0, self._owner) for part in update)
        gradient = gradient.add(self._flat, alpha=self.weight_decay)
        means = self._means.lerp(gradient, 1 - BETAS[0])
        squares = (self._squares * BETAS[1]).addcmul(gradient, gradient, value=1 - BETAS[1])
        moved = self._flat - step_size * means / (squares.sqrt() / root_correction + EPS)
        for tensor, value in ((self._flat, moved), (self._means, means), (self._squares, squares)):
            tensor.copy_(torch.where(active, value, tensor))


def _flattened(tensors: Iterable[Tensor]) -> Tensor:
    """Concatenates tensors, each starting at a multiple of :data:`ALIGNED` entries."""
    parts: list[Tensor] = []
    for tensor in tensors:
        parts.append(tensor.reshape(-1))
        if padding := -tensor.numel() % ALIGNED:
            parts.append(tensor.new_zeros(padding))
    return torch.cat(parts)


def _views(flat: Tensor, like: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns views of what :func:`_flattened` returned, with the names and shapes of ``like``."""
    parts = flat.split([value.numel() + -value.numel() % ALIGNED for value in like.values()])
    named = zip(like.items(), parts, strict=True)
    return {name: part[: value.numel()].view(value.shape) for (name, value), part in named}


def _each(models: Tensor, value: Tensor) -> Tensor:
    """The number of the model that every entry of a stacked tensor belongs to."""
    return models.view(-1, *[1] * (value.dim() - 1)).expand(value.shape)


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
