import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import load
from ssread.train.batch_plans import even_plan, full_plan, large_batches_together

GRAPHS = load("planted", num_graphs=60, nodes=(13, 60), seed=0)


def plan_of(members: list[int], batch_size: int, seed: int) -> torch.Tensor:
    parts = [torch.randperm(60, generator=torch.Generator().manual_seed(seed + n))[:n] for n in members]
    return full_plan(parts, [torch.Generator().manual_seed(seed + n) for n in range(len(parts))], batch_size)


def batches_of(plan: torch.Tensor, model: int) -> list[list[int]]:
    """The batches of one model, without padding and without empty ones."""
    return [batch for ids in plan[:, model] if (batch := ids[ids >= 0].tolist())]


@given(st.integers(2, 200), st.integers(2, 50))
def test_even_batches_hold_every_graph_once(num_graphs, batch_size):
    plan = even_plan(torch.arange(num_graphs).repeat(2, 1), batch_size)
    counts = (plan[:, 0] >= 0).sum(dim=1)
    assert counts.max() - counts.min() <= 1
    assert 1 < counts.min() <= counts.max() <= batch_size or batch_size < 4
    assert plan[:, 0][plan[:, 0] >= 0].tolist() == list(range(num_graphs))


given_plans = {
    "members": st.lists(st.integers(1, 60), min_size=1, max_size=4),
    "batch_size": st.integers(1, 16),
    "seed": st.integers(0, 1000),
}


@given(**given_plans)
def test_full_batches_hold_every_graph_of_a_model_once(members, batch_size, seed):
    plan = plan_of(members, batch_size, seed)
    for model, count in enumerate(members):
        sizes = [len(batch) for batch in batches_of(plan, model)]
        assert len({graph for batch in batches_of(plan, model) for graph in batch}) == sum(sizes) == count
        assert all(size == plan.size(2) for size in sizes[:-1])


@given(**given_plans, epoch=st.integers(1, 300))
def test_in_step_a_model_has_the_same_batches_whoever_is_trained_beside_it(members, batch_size, seed, epoch):
    plan = plan_of(members, batch_size, seed)
    ordered = large_batches_together(plan, GRAPHS, epoch)
    for model in range(len(members)):
        assert sorted(batches_of(ordered, model)) == sorted(batches_of(plan, model))
        alone = large_batches_together(plan[:, model : model + 1], GRAPHS, epoch)
        assert torch.equal(ordered[:, model : model + 1], alone)


def test_in_step_large_batches_meet_and_their_order_is_random():
    plan = plan_of([60] * 20, 6, 0)
    nodes = GRAPHS.node_counts[plan].sum(dim=2)

    def waste(plan: torch.Tensor) -> float:
        nodes = GRAPHS.node_counts[plan].sum(dim=2).double()
        return float(nodes.max(dim=1).values.mean() / nodes.mean())

    assert waste(large_batches_together(plan, GRAPHS, 1)) - 1 < 0.6 * (waste(plan) - 1)
    largest = nodes[:, 0].argmax()
    places = {
        int((large_batches_together(plan, GRAPHS, epoch)[:, 0] == plan[largest, 0]).all(dim=1).nonzero())
        for epoch in range(200)
    }
    assert places == set(range(10)), "the largest batch comes anywhere"
