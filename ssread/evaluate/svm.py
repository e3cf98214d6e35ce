"""A fast and exact linear support vector machine for several values of C.

The vectors of graph encoders are so strongly correlated that scikit-learn's ``LinearSVC``, whose problem this solves,
takes minutes for one fit with a large C, while the whole path takes half a second here.
"""

import torch
from torch import Tensor

__all__ = ["svm_path"]

#: The maximum number of Newton steps for one C, and of halvings of a step.
STEPS, HALVINGS = 50, 30


def svm_path(vectors: Tensor, members: Tensor, sign: Tensor, costs: Tensor) -> Tensor:
    r"""Fits an SVM to some graphs for every C, and returns the decision scores of all graphs, [G, c].

    .. math:: \min_w \; \tfrac{1}{2} \lVert w \rVert^2 + C \sum_i \max(0, 1 - s_i \, w \cdot x_i)^2

    The intercept is a weight like the others, as in ``LinearSVC``. Vectors are standardised by the graphs that are
    fitted to; a channel that is constant there is set to 0. The loss is quadratic while the same graphs violate
    the margin: Newton's method (`"A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs"
    <https://jmlr.org/papers/v6/keerthi05a.html>`_) ends at the exact minimum. The curvature is a sum over those graphs,
    so a step only adds and subtracts the graphs that changed sides since the last one.

    Args:
        vectors: Graph vectors, [G, D].
        members: The graphs that are fitted to, [n].
        sign: Their classes, 1 or -1, [n].
        costs: The values of C, ascending, [c].
    """
    x = _coordinates(vectors.double(), members)
    fitted, sign = x[members], sign.double()
    weights, eye = x.new_zeros(x.size(1)), torch.eye(x.size(1), dtype=x.dtype, device=x.device)
    curvature, violating = torch.zeros_like(eye), torch.zeros_like(sign, dtype=torch.bool)
    scores = []
    for C in costs.double():
        for _ in range(STEPS):
            slack = 1 - sign * (fitted @ weights)
            now = slack > 0
            curvature = curvature + _products(fitted, now & ~violating) - _products(fitted, violating & ~now)
            violating = now
            # The minimum if exactly these graphs violated the margin.
            right = (fitted.T @ (sign * now)).unsqueeze(1)
            minimum = torch.cholesky_solve(right, torch.linalg.cholesky(curvature + eye / (2 * C))).squeeze(1)
            step = minimum - weights
            moved = sign * (fitted @ step)
            length = _length(weights, step, slack, moved, C)
            weights = weights + length * step
            if length == 1 and bool(((slack - moved > 0) == now).all()):
                break
        scores.append(x @ weights)
    return torch.stack(scores, dim=1)


def _coordinates(vectors: Tensor, members: Tensor) -> Tensor:
    """Standardises vectors and adds a constant channel; projects to the span of ``members`` if they are fewer."""
    part = vectors[members]
    mean, deviation = part.mean(dim=0), part.std(dim=0, correction=0)
    varies = deviation > 1e-6 * part.abs().amax(dim=0)
    x = torch.where(varies, (vectors - mean) / torch.where(varies, deviation, 1), 0)
    x = torch.cat([x, x.new_ones(len(x), 1)], dim=1)
    if len(members) >= x.size(1):
        return x
    span, _ = torch.linalg.qr(x[members].T)
    return x @ span


def _products(x: Tensor, rows: Tensor) -> Tensor:
    chosen = x[rows]
    return chosen.T @ chosen


def _length(weights: Tensor, step: Tensor, slack: Tensor, moved: Tensor, C: Tensor) -> float:
    """Returns the length of a step: the first of 1, 1/2, 1/4, ... that does not increase the cost."""

    def cost(length: float) -> float:
        errors = (slack - length * moved).clamp(min=0).square().sum()
        return float((weights + length * step).square().sum() / 2 + C * errors)

    before, length = cost(0.0), 1.0
    for _ in range(HALVINGS):
        if cost(length) <= before:
            return length
        length /= 2
    return 0.0
