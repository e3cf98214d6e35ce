"""The fused kernels beside plain torch code for the same, forward and backward, at the sizes of an NCI1 step."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ssread.functional import cosine_cost, soft_min
from ssread.kernels.messages import _SumMessages, own_relu
from ssread.kernels.norm import _NormReluDropout
from ssread.kernels.read import _Align, _Reduce

R, GRAPHS, NODES, DEGREE, D, K = 50, 128, 30, 2, 128, 8
N = GRAPHS * NODES


def cases() -> Iterator[tuple[str, Callable[[], object], Callable[[], object], int]]:
    """Name, fused, twin, and the bytes that must move: every input read once, every output written once."""
    torch.manual_seed(0)
    x = torch.randn(R, N, D, device="cuda", requires_grad=True)
    grad = torch.randn_like(x)
    unit = 4 * x.numel()

    neighbour = _neighbours()
    start = torch.arange(N + 1, device="cuda").expand(R, -1).contiguous() * DEGREE
    shift, root = (torch.randn(R, D, device="cuda", requires_grad=True) for _ in range(2))
    scale = torch.rand(R, N, device="cuda")
    edges = (start, neighbour, None, start, neighbour, None)

    def messages() -> Tensor:
        return _SumMessages.apply(x, shift, None, None, scale, None, root, *edges, own_relu)

    def messages_twin() -> Tensor:
        relu = (x + shift.unsqueeze(1)).relu() * scale.unsqueeze(-1)
        source = (neighbour + torch.arange(R, device="cuda").unsqueeze(1) * N).flatten()
        target = torch.arange(R * N, device="cuda").repeat_interleave(DEGREE)
        total = torch.zeros(R * N, D, device="cuda").index_add(0, target, relu.view(-1, D)[source])
        return total.view_as(x) * scale.unsqueeze(-1) + (x + root.unsqueeze(1)).relu() * scale.square().unsqueeze(-1)

    yield "messages, forward", messages, messages_twin, 2 * unit
    yield "messages, both ways", _both(messages, grad, x), _both(messages_twin, grad, x), 5 * unit

    mask = torch.ones(R, N, device="cuda")
    weight, bias = (torch.randn(R, D, device="cuda", requires_grad=True) for _ in range(2))
    seed = torch.randint(2**31 - 1, (R, 1), device="cuda")

    def norm() -> Tensor:
        return _NormReluDropout.apply(x, mask, weight, bias, seed, 1e-5, True, 0.5)[0]

    def norm_twin() -> Tensor:
        real = mask.unsqueeze(-1)
        rows = real.sum(dim=1, keepdim=True)
        mean = (x * real).sum(dim=1, keepdim=True) / rows
        var = ((x - mean).square() * real).sum(dim=1, keepdim=True) / rows
        y = (x - mean) * ((var + 1e-5).rsqrt() * weight.unsqueeze(1)) + bias.unsqueeze(1)
        return torch.nn.functional.dropout(y.relu(), 0.5)

    yield "norm + relu + dropout, forward", norm, norm_twin, 3 * unit
    yield "norm + relu + dropout, both ways", _both(norm, grad, x), _both(norm_twin, grad, x), 8 * unit

    P = torch.randn(R, K, D, device="cuda", requires_grad=True)
    ptr = (torch.arange(GRAPHS + 1, device="cuda") * NODES).expand(R, -1).contiguous()
    H = x.detach()

    def align() -> Tensor:
        return _Align.apply(H, P, 0.01)[1]

    def align_twin() -> Tensor:
        costs = cosine_cost(H, P)
        return soft_min(costs, 0.01) + 0 * costs.detach().min(dim=-1).indices

    yield "positions and costs, forward", align, align_twin, unit
    costs = torch.randn(R, N, device="cuda")
    yield "positions and costs, both ways", _both(align, costs, P), _both(align_twin, costs, P), 2 * unit

    positions = _Align.apply(H, P, 0.01)[0]
    index = (torch.arange(N, device="cuda") // NODES).expand(R, -1).contiguous()
    group = torch.arange(R * N, device="cuda") // NODES * K + positions.flatten()

    def reduce() -> Tensor:
        return _Reduce.apply(x, ptr, index, positions, K, 0)

    def reduce_twin() -> Tensor:
        return torch.zeros(R * GRAPHS * K, D, device="cuda").index_add(0, group, x.view(-1, D))

    yield "sums per position, forward", reduce, reduce_twin, unit
    vectors = torch.randn(R, GRAPHS * K, D, device="cuda")
    flat = vectors.view(-1, D)
    yield "sums per position, both ways", _both(reduce, vectors, x), _both(reduce_twin, flat, x), 2 * unit


def _neighbours() -> Tensor:
    """Neighbours within each graph, [R, N * DEGREE]."""
    graph = torch.arange(N * DEGREE, device="cuda") // (NODES * DEGREE)
    return graph * NODES + torch.randint(NODES, (R, N * DEGREE), device="cuda")


def _both(forward: Callable[[], Tensor], grad: Tensor, of: Tensor) -> Callable[[], object]:
    return lambda: torch.autograd.grad(forward(), of, grad)
