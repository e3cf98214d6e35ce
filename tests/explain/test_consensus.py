"""Consensus positions of ensembles: numbers that do not matter, votes counted by hand, one model as its own."""

from dataclasses import replace

import pytest
import torch
from helpers.explained_models import typed_graphs

from ssread.data import planted
from ssread.errors import InputError
from ssread.explain import consensus, positions
from ssread.explain.consensus import majority
from ssread.models import GraphClassifier, model_for
from ssread.models.consensus import matched

GRAPHS = planted(12, seed=3, feature_noise=0.2)


class Ensemble:
    def __init__(self, models):
        self.models = models


def renumbered(model: GraphClassifier, order: list[int]) -> GraphClassifier:
    """The same model with its prototypes in another order."""
    again = model_for(GRAPHS, "gcn", num_positions=len(order))
    again.load_state_dict(model.state_dict())
    with torch.no_grad():
        again.readout.prototypes.copy_(model.readout.prototypes[order])
    return again


def ensemble(members: int = 5) -> Ensemble:
    models = []
    for seed in range(members):
        torch.manual_seed(seed)
        models.append(model_for(GRAPHS, "gcn", num_positions=3))
    return Ensemble(models)


def test_a_single_model_is_its_own_consensus():
    model = ensemble(1).models[0]
    agreed, own = consensus(model, GRAPHS), positions(model, GRAPHS)
    assert torch.equal(agreed.position, own.position)
    assert torch.allclose(agreed.cost, own.cost)
    assert torch.allclose(agreed.weights, own.weights)
    assert agreed.certainty.eq(1).all()
    assert agreed.stability is None
    assert repr(agreed) == f"Consensus({len(own.position)} nodes, 3 positions, 1 member)"


def test_members_that_differ_by_the_numbers_of_their_positions_agree_on_every_node():
    model = ensemble(1).models[0]
    agreed = consensus(Ensemble([model, renumbered(model, [2, 0, 1]), renumbered(model, [1, 0, 2])]), GRAPHS)
    assert torch.equal(agreed.position, positions(model, GRAPHS).position)
    assert agreed.certainty.eq(1).all()
    assert agreed.stability is not None
    assert agreed.stability.share == 1
    assert agreed.stability.mutual_information == pytest.approx(1)


def test_position_and_certainty_are_the_majority_of_matched_members():
    together = ensemble()
    agreed = consensus(together, GRAPHS)
    numbers = torch.stack(
        [
            matched(positions(model, GRAPHS).position, row)
            for model, row in zip(together.models, agreed.matching, strict=True)
        ]
    )
    for node in range(len(agreed.position)):
        votes = torch.bincount(numbers[:, node], minlength=3)
        assert votes[agreed.position[node]] == votes.max()
        assert agreed.certainty[node] == pytest.approx(float(votes.max()) / 5)
    assert torch.allclose(agreed.shares.sum(dim=1), torch.ones(len(agreed.position)))
    assert torch.allclose(agreed.weights.sum(dim=1), torch.ones(len(agreed.position)), atol=1e-5)


def test_a_matching_of_many_graphs_numbers_the_positions_of_one_graph_as_there():
    together = ensemble()
    all_graphs = consensus(together, GRAPHS)
    one = consensus(together, GRAPHS[[4]], all_graphs.matching)
    begin, end = GRAPHS.node_ptr[4:6].tolist()
    assert torch.equal(one.position, all_graphs.position[begin:end])
    assert torch.equal(one.certainty, all_graphs.certainty[begin:end])


def test_graphs_without_nodes_and_dropped_nodes_are_no_obstacle():
    empty = replace(GRAPHS[[0]], x=GRAPHS.x[:0], node_ptr=torch.tensor([0, 0]), edge_index=GRAPHS.edge_index[:, :0])
    empty = replace(empty, edge_ptr=torch.tensor([0, 0]), node_columns={})
    assert consensus(ensemble(2), empty).position.shape == (0,)
    pooled = consensus(Ensemble([model_for(GRAPHS, "sagpool") for _ in range(2)]), GRAPHS)
    nowhere = pooled.position < 0
    assert nowhere.any()
    assert pooled.cost[nowhere].isnan().all()
    assert pooled.certainty[nowhere].eq(0).all()


def test_the_majority_of_trainings_is_counted_after_matching():
    trainings = [torch.tensor([0, 0, 1, 2, -1]), torch.tensor([1, 1, 2, 0, -1]), torch.tensor([0, 1, 1, 2, -1])]
    position, certainty = majority(trainings, 3)
    assert position.tolist() == [0, 0, 1, 2, -1]
    assert certainty.tolist() == pytest.approx([1, 2 / 3, 1, 1, 0])


def test_a_global_readout_is_refused():
    with pytest.raises(InputError, match="global readout"):
        consensus(model_for(typed_graphs(), "gcn", readout="global"), typed_graphs()[[0]])
