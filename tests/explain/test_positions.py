"""Positions of nodes: the least cost, any numbering of nodes, planted roles."""

from dataclasses import replace
from statistics import mean

import pytest
import torch
from helpers.explained_models import trained

from ssread.data import planted
from ssread.errors import InputError
from ssread.explain import has_positions, positions
from ssread.explain.measures import agreement
from ssread.functional import cosine_cost
from ssread.models import ARCHITECTURES, model_for

GRAPHS = planted(8, seed=5, feature_noise=0.3)


def test_a_node_has_the_position_of_least_cost_and_the_softmax_of_the_costs_as_weights():
    model = model_for(GRAPHS, "gcn", gamma=0.1).eval()
    aligned = positions(model, GRAPHS)
    batch = GRAPHS.batch(range(len(GRAPHS)))
    costs = cosine_cost(model.encode(batch), model.readout.prototypes).detach()
    assert torch.equal(aligned.position, costs.argmin(dim=1))
    assert torch.allclose(aligned.cost, costs.amin(dim=1))
    assert torch.allclose(aligned.weights, (-costs / 0.1).softmax(dim=1), atol=1e-5)
    assert repr(aligned) == f"Positions({len(aligned.position)} nodes, 4 positions)"


def test_without_smoothing_the_weights_are_hard():
    aligned = positions(model_for(GRAPHS, "gcn", gamma=0.0), GRAPHS)
    assert torch.equal(aligned.weights.argmax(dim=1), aligned.position)
    assert aligned.weights.amax(dim=1).eq(1).all()
    assert aligned.weights.sum(dim=1).eq(1).all()


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_positions_do_not_depend_on_the_numbering_of_nodes(name):
    graph = GRAPHS[[0]]
    model = model_for(graph, name).eval()
    order = torch.randperm(graph.x.size(0))
    edges = order.argsort()[graph.edge_index]
    edges = edges[:, (edges[0] * len(order) + edges[1]).argsort()]
    renumbered = replace(graph, x=graph.x[order], edge_index=edges)
    before, after = positions(model, graph), positions(model, renumbered)
    assert torch.equal(before.position[order], after.position)
    assert torch.allclose(before.cost[order], after.cost, atol=1e-5, equal_nan=True)


def test_dropped_nodes_have_no_position():
    aligned = positions(model_for(GRAPHS, "sagpool"), GRAPHS)
    dropped = aligned.position < 0
    assert 0 < dropped.sum() < len(dropped)
    assert aligned.cost[dropped].isnan().all()
    assert aligned.weights[dropped].eq(0).all()


def test_a_model_with_the_global_readout_is_refused_with_a_sentence():
    model = model_for(GRAPHS, "gcn", readout="global")
    assert not has_positions(model)
    with pytest.raises(InputError, match="its nodes have no positions"):
        positions(model, GRAPHS)


def test_without_graphs_there_are_no_positions():
    assert len(positions(model_for(GRAPHS, "gcn"), GRAPHS[:0]).position) == 0


def test_a_trained_model_finds_planted_roles_far_better_than_chance():
    """On average over three seeds; over eight seeds the mutual information was 0.32 to 0.56."""
    learnt, chance = [], []
    for seed in range(3):
        model, test = trained("ssread", seed)
        graph, roles = torch.arange(len(test)).repeat_interleave(test.node_counts), test.node_columns["position"]
        learnt.append(agreement(positions(model, test).position, roles, graph))
        chance.append(agreement(torch.randint(5, (len(graph),)), roles, graph))
    assert mean(one.mutual_information for one in learnt) > 0.35
    assert all(abs(one.mutual_information) < 0.02 for one in chance)
    assert mean(one.consistency for one in learnt) > 0.3
    assert all(one.purity > other.purity + 0.1 for one, other in zip(learnt, chance, strict=True))
