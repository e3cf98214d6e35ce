"""Adam's update of a stack of models: every weight, gradient and moment is read once and written once."""

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["adam_update"]

#: Entries that a program updates.
BLOCK = 1024


def adam_update(
    weights: Tensor,
    gradient: Tensor,
    means: Tensor,
    squares: Tensor,
    owner: Tensor,
    step_size: Tensor,
    root_correction: Tensor,
    active: Tensor,
    weight_decay: float,
    betas: tuple[float, float],
    eps: float,
) -> None:
    """Updates weights and moments in place; see :class:`ssread.train.stacked_adam.StackedAdam`.

    Args:
        weights: Of all models, flat, [n].
        gradient: Of the weights, [n].
        means: Running means of the gradient, [n].
        squares: Running means of its squares, [n].
        owner: The model that every entry belongs to, [n].
        step_size: Of every model: the learning rate over the bias correction of the means, [R].
        root_correction: Of every model: the root of the bias correction of the squares, [R].
        active: The models that move, [R].
        weight_decay: Added to the gradient as a multiple of the weights.
        betas: Decay of the means and of the squares.
        eps: Added to the denominator.
    """
    count = weights.numel()
    if count > 0:
        _adam[(triton.cdiv(count, BLOCK),)](
            weights, gradient, means, squares, owner, step_size, root_correction, active.to(torch.int32), count,
            weight_decay, betas[0], betas[1], 1 - betas[0], 1 - betas[1], eps, BLOCK=BLOCK,
        )  # fmt: skip


@triton.jit
def _adam(
    weights, gradient, means, squares, owner, step_size, root_correction, active, N,
    decay, beta1, beta2, rest1, rest2, eps, BLOCK: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = place < N
    model = tl.load(owner + place, mask=inside, other=0)
    moves = inside & (tl.load(active + model) != 0)
    w = tl.load(weights + place, mask=moves, other=0.0)
    g = tl.load(gradient + place, mask=moves, other=0.0) + decay * w
    m = tl.load(means + place, mask=moves, other=0.0)
    v = tl.load(squares + place, mask=moves, other=0.0)
    m = m + (g - m) * rest1
    v = v * beta2 + g * g * rest2
    w = w - tl.load(step_size + model) * m / (tl.sqrt(v) / tl.load(root_correction + model) + eps)
    tl.store(means + place, m, mask=moves)
    tl.store(squares + place, v, mask=moves)
    tl.store(weights + place, w, mask=moves)
