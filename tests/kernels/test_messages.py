import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.func import vmap

pytest.importorskip("triton", reason="Triton is not installed")

from ssread.kernels import stacking
from ssread.kernels.messages import own_loop, own_none, own_relu, own_scaled, sum_messages
from ssread.sorted_edges import SortedEdges


def by(ends: Tensor, others: Tensor, nodes: int) -> SortedEdges:
    order = ends.argsort(stable=True)
    start = torch.searchsorted(ends[order].contiguous(), torch.arange(nodes + 1, device=ends.device))
    return SortedEdges(start, others[order], order)


def plain(x, source, target, shift, features, table, scale, weight, own, own_form):
    """Computes every message, then sums them one node at a time."""
    sent = x[source]
    if features is not None:
        sent = sent + features @ table
    if shift is not None:
        sent = (sent + shift).relu()
    if weight is not None:
        sent = sent * weight[:, None]
    s = torch.ones_like(x[:, 0]) if scale is None else scale
    sent = sent * s[source][:, None] * s[target][:, None]
    rows = [sent[target == node].sum(dim=0) for node in range(len(x))]
    out = torch.stack(rows) if rows else x * 0
    if own_form == own_relu:
        out = out + s[:, None] ** 2 * (x + own).relu()
    if own_form == own_scaled:
        out = out + own * x
    if own_form == own_loop:
        out = out + s[:, None] ** 2 * x + own
    return out


class Case:
    def __init__(self, seed, nodes, edges, d, f, relu, scaled, weighted, own_form, where):
        g = torch.Generator().manual_seed(seed)

        def draw(*shape):
            return torch.randn(*shape, generator=g)

        edges = edges if nodes else 0
        self.source = torch.randint(max(nodes, 1), (edges,), generator=g).to(where)
        self.target = torch.randint(max(nodes, 1), (edges,), generator=g).to(where)
        f = f if relu else 0
        values = {
            "x": draw(nodes, d),
            "shift": draw(d) if relu else None,
            "features": draw(edges, f) if f else None,
            "table": draw(f, d) if f else None,
            "scale": draw(nodes).abs() if scaled else None,
            "weight": draw(edges) if weighted else None,
            "own": draw(d) if own_form else None,
        }
        self.values = {n: v if v is None else v.to(where) for n, v in values.items()}
        self.own_form = own_form
        self.grad = draw(nodes, d).to(where)
        self.nodes = nodes

    def learn(self):
        return [n for n in ("x", "shift", "table", "own") if self.values[n] is not None]

    def run(self, kernel: bool):
        dtype = torch.float32 if kernel else torch.float64
        values = {n: None if v is None else v.detach().to(dtype) for n, v in self.values.items()}
        for name in self.learn():
            values[name].requires_grad_()
        if kernel:
            entering = by(self.target, self.source, self.nodes)
            leaving = by(self.source, self.target, self.nodes)
            named = {n: v for n, v in values.items() if n != "x"}
            out = sum_messages(values["x"], entering, leaving, own_form=self.own_form, **named)
        else:
            out = plain(source=self.source, target=self.target, own_form=self.own_form, **values)
        out.backward(self.grad.to(dtype))
        return [out, *(values[n].grad if values[n].grad is not None else 0 * values[n] for n in self.learn())]


cases = {
    "seed": st.integers(0, 2**20),
    "nodes": st.integers(0, 20),
    "edges": st.integers(0, 40),
    "d": st.sampled_from([1, 3, 5, 8, 16, 20]),
    "f": st.integers(0, 5),
    "relu": st.booleans(),
    "scaled": st.booleans(),
    "weighted": st.booleans(),
    "own_form": st.sampled_from([own_none, own_relu, own_scaled, own_loop]),
}


@settings(max_examples=8 if torch.cuda.is_available() else 40, deadline=None)  # a GPU compiles for every shape
@given(**cases, many=st.sampled_from([0, stacking.MANY]))
def test_messages_and_their_gradients_equal_plain_torch(where, many, **sizes):
    case = Case(**sizes, where=where)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stacking, "MANY", many)  # many tiles per program, or one
        by_kernel = case.run(kernel=True)
    for ours, theirs in zip(by_kernel, case.run(kernel=False), strict=True):
        torch.testing.assert_close(ours.double(), theirs, atol=2e-4, rtol=2e-4)


def test_a_stack_equals_single_calls(where):
    """Also if some inputs differ between models and others are shared."""
    some = [Case(seed, 12, 30, 6, 2, True, True, True, own_relu, where) for seed in range(3)]
    stack = {n: torch.stack([c.values[n] for c in some]) for n in ("x", "table", "features", "scale", "weight", "own")}
    shift = some[0].values["shift"].clone().requires_grad_()
    stack["x"].requires_grad_()
    stack["table"].requires_grad_()
    entering = [torch.stack(p) for p in zip(*(by(c.target, c.source, 12) for c in some), strict=True)]
    leaving = [torch.stack(p) for p in zip(*(by(c.source, c.target, 12) for c in some), strict=True)]

    def one(x, table, features, scale, weight, own, a, b, c, d, e, f):
        edges = SortedEdges(a, b, c), SortedEdges(d, e, f)
        return sum_messages(x, *edges, shift=shift, features=features, table=table, scale=scale,
                            weight=weight, own=own, own_form=own_relu)  # fmt: skip

    out = vmap(one)(*(stack[n] for n in ("x", "table", "features", "scale", "weight", "own")), *entering, *leaving)
    out.backward(torch.stack([c.grad for c in some]))
    total = torch.zeros_like(shift)
    for i, case in enumerate(some):
        case.values["shift"] = shift.detach()
        expected, x, grad_shift, table, _ = case.run(kernel=True)
        assert torch.equal(out[i], expected)
        assert torch.equal(stack["x"].grad[i], x)
        assert torch.equal(stack["table"].grad[i], table)
        total += grad_shift
    torch.testing.assert_close(shift.grad, total)


def test_nan_is_propagated(where):
    case = Case(1, 6, 12, 4, 0, True, False, False, own_none, where)
    case.values["x"][case.source[0], 2] = float("nan")
    out = case.run(kernel=True)[0]
    assert out[case.target[0], 2].isnan()
    assert not out[:, :2].isnan().any()
