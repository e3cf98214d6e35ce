import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import vmap

pytest.importorskip("triton", reason="Triton is not installed")

from ssread.kernels.best_nodes import keep_best


def one_by_one(scores, kept, start, ratio):
    """Sorts the kept nodes of every graph."""
    left = torch.zeros_like(kept)
    for begin, end in zip(start.tolist(), start.tolist()[1:], strict=False):
        candidates = [node for node in range(begin, end) if kept[node]]
        candidates.sort(key=lambda node: -float(scores[node]))  # a stable sort
        quota = int((ratio * torch.tensor(float(len(candidates)))).ceil())
        left[candidates[:quota]] = 1
    return left


def draw(seed, nodes, graphs, behind, where):
    g = torch.Generator().manual_seed(seed)
    scores = torch.randint(-4, 5, (nodes + behind,), generator=g) / 2  # some are equal
    kept = (torch.rand(nodes + behind, generator=g) < 0.8).float()
    index = torch.randint(graphs, (nodes,), generator=g).sort().values
    start = torch.searchsorted(index, torch.arange(graphs + 1))
    return scores.to(where), kept.to(where), start.to(where)


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**20),
    nodes=st.integers(0, 150),
    graphs=st.integers(1, 5),
    behind=st.integers(0, 40),
    ratio=st.sampled_from([0.1, 0.5, 0.7, 0.9, 1.0]),
)
def test_the_best_of_every_graph_are_kept(where, seed, nodes, graphs, behind, ratio):
    scores, kept, start = draw(seed, nodes, graphs, behind, where)
    left = keep_best(scores.requires_grad_(), kept, start, ratio)
    assert not left.requires_grad
    assert torch.equal(left, one_by_one(scores.detach().cpu(), kept.cpu(), start, ratio).to(where))


def test_large_graphs_and_more_of_them_than_a_block(where):
    scores, kept, start = draw(3, 700, 2, 0, where)
    assert torch.equal(keep_best(scores, kept, start, 0.5), one_by_one(scores, kept, start, 0.5))


def test_a_stack_equals_single_calls(where):
    some = [draw(seed, 40, 3, 4, where) for seed in range(3)]
    stacked = vmap(lambda *arrays: keep_best(*arrays, 0.5))(*map(torch.stack, zip(*some, strict=True)))
    for left, arrays in zip(stacked, some, strict=True):
        assert torch.equal(left, keep_best(*arrays, 0.5))
