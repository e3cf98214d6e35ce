"""Positions of several members: matching against all permutations, majorities counted by hand."""

from collections import Counter
from itertools import permutations

import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.models.consensus import agreed, consensus_of, match_members, match_positions, matched, votes

COUNT = 4
NODES = st.lists(st.tuples(st.integers(-1, COUNT - 1), st.integers(-1, COUNT - 1)), min_size=1, max_size=30)
MEMBERS = st.integers(1, 6).flatmap(
    lambda members: st.lists(
        st.lists(st.integers(-1, COUNT - 1), min_size=members, max_size=members), min_size=1, max_size=20
    )
)


@given(NODES)
def test_no_renumbering_agrees_on_more_nodes_than_the_matching(nodes):
    first, second = torch.tensor(nodes).T
    known = (first >= 0) & (second >= 0)
    best = max(
        int((torch.tensor(order)[second.clamp(min=0)] == first)[known].sum()) for order in permutations(range(COUNT))
    )
    matching = match_positions(first, second, COUNT)
    assert sorted(matching.tolist()) == list(range(COUNT))
    assert int((matched(second, matching) == first)[known].sum()) == best


@given(NODES)
def test_votes_and_positions_lead_to_the_same_matching_value(nodes):
    first, second = torch.tensor(nodes).T
    counts = votes(first.unsqueeze(0), COUNT)
    assert counts.sum(dim=1).tolist() == (first >= 0).float().tolist()
    assert torch.equal(match_positions(first, second, COUNT), match_positions(counts, second, COUNT))


@given(MEMBERS)
def test_a_node_has_the_position_of_most_members_and_of_equally_many_the_earliest_members(nodes):
    found = agreed(torch.tensor(nodes).T, COUNT).tolist()
    for own, position in zip(nodes, found, strict=True):
        counts = Counter(k for k in own if k >= 0)
        tied = [k for k in own if k >= 0 and counts[k] == max(counts.values())]
        assert position == (tied[0] if tied else -1)


@given(st.lists(st.integers(-1, COUNT - 1), min_size=1, max_size=20), st.permutations(range(COUNT)))
def test_members_that_differ_by_numbers_alone_have_the_positions_of_the_first(first, order):
    own = torch.tensor(first)
    members = [own, matched(own, torch.tensor(order)), own]
    assert torch.equal(consensus_of(members, match_members(members, COUNT), COUNT), own)


def test_where_nothing_is_known_of_the_members_the_first_decides():
    members = [torch.tensor([0, 1]), torch.tensor([1, 1]), torch.tensor([1, 1])]
    assert consensus_of(members, None, 2).tolist() == [0, 1]
    assert consensus_of(members, torch.tensor([[0, 1]] * 3), 2).tolist() == [1, 1]
