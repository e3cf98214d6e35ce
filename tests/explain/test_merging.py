"""Merged positions: a hierarchy from K to 2, the most similar first."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.explain.merging import merge_positions


def test_the_most_similar_positions_merge_first():
    angles = torch.tensor([0.0, 0.1, 1.5, 1.8, 3.1])
    vectors = torch.stack([angles.cos(), angles.sin()], dim=1)
    assert merge_positions(vectors, torch.arange(5), 5) == [[0, 0, 1, 2, 3], [0, 0, 1, 1, 2], [0, 0, 1, 1, 1]]


def test_a_position_without_nodes_merges_first_and_dropped_nodes_do_not_count():
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [-1.0, 0.0]])
    (level,) = merge_positions(vectors, torch.tensor([0, 2, 0, -1]), 3)
    assert level[0] != level[2]
    assert merge_positions(vectors, torch.tensor([0, 1, 0, 1]), 2) == []


@given(st.integers(3, 8), st.integers(0, 99))
def test_every_level_merges_two_groups_of_the_one_before(num_positions, seed):
    generator = torch.Generator().manual_seed(seed)
    position = torch.randint(num_positions, (20,), generator=generator)
    levels = merge_positions(torch.randn(20, 4, generator=generator), position, num_positions)
    before = list(range(num_positions))
    for groups, level in zip(range(num_positions - 1, 1, -1), levels, strict=True):
        assert sorted(set(level)) == list(range(groups))
        assert len({(a, b) for a, b in zip(before, level, strict=True)}) == groups + 1
        before = level
