"""Adam's update of a stack of models, which reads and writes every weight and moment once."""

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = ["adam_update"]

#: Entries that one program updates.
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
        weights: The weights of all models, flat, [n].
        gradient: The gradient of the weights, [n].
        means: Running means of the gradient, [n].
        squares: Running means of the squared gradient, [n].
        owner: The model that every entry belongs to, [n].
        step_size: Per model, the learning rate divided by the bias correction of the means, [R].
        root_correction: Per model, the square root of the bias correction of the squares, [R].
        active: Whether each model is updated, [R].
        weight_decay: The multiple of the weights that is added to the gradient.
        betas: Decay rates of the means and of the squares.
        eps: Added to the denominator.
    """
    count = weights.numel()
    if count > 0:
        _adam[(triton.cdiv(count, BLOCK),)](
            weights, gradient, means, squares, owner, step_size, root_correction, active.to(torch.int32), count,
            weight_decay, betas[1], 1 - betas[0], 1 - betas[1], eps, BLOCK=BLOCK,
        )  # fmt: skip


@triton.jit
def _adam(
    weights, gradient, means, squares, owner, step_size, root_correction, active, N,
    decay, beta2, one_minus_beta1, one_minus_beta2, eps, BLOCK: tl.constexpr,
):  # fmt: skip
    entry = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = entry < N
    model = tl.load(owner + entry, mask=inside, other=0)
    moves = inside & (tl.load(active + model) != 0)
    w = tl.load(weights + entry, mask=moves, other=0.0)
    g = tl.load(gradient + entry, mask=moves, other=0.0) + decay * w
    m = tl.load(means + entry, mask=moves, other=0.0)
    v = tl.load(squares + entry, mask=moves, other=0.0)
    m = m + (g - m) * one_minus_beta1
    v = v * beta2 + g * g * one_minus_beta2
    w = w - tl.load(step_size + model) * m / (tl.sqrt(v) / tl.load(root_correction + model) + eps)
    tl.store(means + entry, m, mask=moves)
    tl.store(squares + entry, v, mask=moves)
    tl.store(weights + entry, w, mask=moves)
