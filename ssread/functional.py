"""The paper's alignment as pure functions: Equations 2, 4 and 5, and Theorem 2.

Symbols are the paper's: ``H`` holds the node vectors [N, d], ``P`` the structural prototypes [K, d], ``gamma`` smooths
the minimum. Costs are computed in float32 or float64, also under autocast: with gamma = 0.01, the eight bits of a
bfloat16 mantissa cannot separate the costs of two positions.
"""

import torch
from torch import Tensor

from ssread import segment
from ssread.errors import InputError

__all__ = ["align", "closest", "cosine_cost", "direction", "distant_directions", "soft_min", "soft_ssa"]


def cosine_cost(H: Tensor, P: Tensor) -> Tensor:
    r"""The alignment cost of every node with every position (Delta in Equation 2).

    .. math:: [\Delta(H, P)]_{nk} = 1 - \frac{h_n \cdot p_k}{\lVert h_n \rVert \lVert p_k \rVert}

    A zero vector has no direction: it has cost 1 at every position and a finite gradient.

    Args:
        H: Node vectors, [..., N, d].
        P: Structural prototypes, [..., K, d].

    Returns:
        Costs within [0, 2], [..., N, K].

    >>> cosine_cost(torch.tensor([[1.0, 0.0], [0.0, 0.0]]), torch.tensor([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]]))
    tensor([[0., 1., 2.],
            [1., 1., 1.]])
    """
    H, P = _at_least_float32(H), _at_least_float32(P)
    if torch.is_autocast_enabled(H.device.type):
        with torch.autocast(H.device.type, enabled=False):
            return _cosine_cost(H, P)
    return _cosine_cost(H, P)


def align(H: Tensor, P: Tensor) -> Tensor:
    """The position of least cost for every node: the hard alignment M* of Equation 2, as indices [..., N]."""
    return closest(cosine_cost(H.detach(), P.detach()))


def closest(costs: Tensor) -> Tensor:
    """The position of least cost, [..., N, K] to [..., N]."""
    # On a CPU min takes a tenth of the time of argmin.
    return costs.detach().min(dim=-1).indices


def soft_min(values: Tensor, gamma: float, dim: int = -1, epsilon: float = 0.0) -> Tensor:
    r"""The smoothed minimum along a dimension (Equation 5).

    .. math:: \min\nolimits_\gamma \{a_1, ..., a_n\} = -\gamma \log \sum_i e^{-a_i / \gamma}

    ``gamma = 0`` gives the minimum itself. The smallest value is subtracted first, so that neither the result nor its
    gradient (the soft alignment weights, which sum to one) can overflow or vanish.

    Args:
        values: Any values.
        gamma: The smoothing.
        dim: The dimension.
        epsilon: Added inside the logarithm, as the authors' public code does. Where all values are large against
            gamma, it alone is left: the result is a constant, and the gradient vanishes.

    >>> round(soft_min(torch.tensor([1.0, 1.0]), gamma=0.01).item(), 5)  # 1 - 0.01 log 2
    0.99307
    >>> soft_min(torch.tensor([3.0, 1.0, 2.0]), gamma=0.0)
    tensor(1.)
    """
    if not gamma >= 0:
        raise InputError(f"gamma smooths the minimum and must be 0 or more, but {gamma} was given.")
    if gamma < torch.finfo(values.dtype).tiny:  # equals the minimum in this precision, and 1 / gamma would overflow
        return values.min(dim=dim).values
    if epsilon > 0:
        return -gamma * ((-values / gamma).exp().sum(dim=dim) + epsilon).log()
    smallest = values.detach().amin(dim=dim, keepdim=True)
    terms = ((smallest - values) / gamma).exp()  # the largest is 1: nothing overflows, the sum never vanishes
    return torch.sub(smallest.squeeze(dim), terms.sum(dim=dim).log(), alpha=gamma)


def soft_ssa(
    H: Tensor, P: Tensor, gamma: float = 0.01, index: Tensor | None = None, dim_size: int | None = None
) -> Tensor:
    r"""The smoothed alignment cost of every graph (Equation 4).

    Equation 4 is a soft minimum over all K^N alignments; by Theorem 2 it is a sum of soft minima over positions:

    .. math:: \mathrm{SSA}_\gamma(H, P) = \sum_n \min\nolimits_\gamma \{\delta(h_n, p_k), \forall k\}

    Args:
        H: Node vectors, [N, d].
        P: Structural prototypes, [K, d].
        gamma: The smoothing; 0 gives the hard cost of Equation 2.
        index: The graph of every node, [N]. Without it all nodes form one graph.
        dim_size: The number of graphs B. Without it, empty graphs at the end are lost. An empty graph has cost 0.

    Returns:
        One cost per graph, [B].
    """
    node_costs = soft_min(cosine_cost(H, P), gamma)
    if index is None:
        index = torch.zeros(H.size(0), dtype=torch.long, device=H.device)
        dim_size = 1 if dim_size is None else dim_size
    if dim_size is None:
        dim_size = int(index.max()) + 1 if index.numel() > 0 else 0
    return segment.reduce_sum(node_costs, index, dim_size)


def direction(vectors: Tensor) -> Tensor:
    """Vectors [..., d] scaled to length one; a zero vector stays zero."""
    return vectors / _norm(vectors)


@torch.no_grad()
def distant_directions(H: Tensor, number: int) -> Tensor:
    """Chooses directions of node vectors that are far from each other, by k-means++ on unit vectors.

    Args:
        H: Node vectors, [N, d].
        number: How many to choose; the choice depends on ``torch.manual_seed``.

    Returns:
        Unit vectors in float64 on the CPU, [number, d].
    """
    from sklearn.cluster import kmeans_plusplus

    lengths = H.norm(dim=-1, keepdim=True)
    directions = (H / lengths)[lengths.squeeze(-1) > 0].double().cpu().numpy()
    if len(directions) < number:
        raise InputError(
            f"{number} prototypes need at least as many node vectors that are not zero, "
            f"but there are {len(directions)}."
        )
    seed = int(torch.randint(2**31, ()))
    return torch.as_tensor(kmeans_plusplus(directions, number, random_state=seed)[0])


def _cosine_cost(H: Tensor, P: Tensor) -> Tensor:
    similarity = direction(P) @ H.mT / _norm(H).mT  # [K, N]: reductions over a few positions are fast in this layout
    return (1 - similarity).clamp(0, 2).mT  # rounding may step over either end


def _norm(vectors: Tensor) -> Tensor:
    """Lengths [..., 1]; a zero vector counts as length 1, which keeps it and its gradient finite."""
    norm = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return norm + (norm == 0)


def _at_least_float32(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
