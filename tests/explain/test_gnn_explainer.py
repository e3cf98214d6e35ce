"""GNNExplainer on our models."""

import networkx as nx
import torch

from ssread.data import from_networkx, planted
from ssread.explain.gnn_explainer import gnn_explainer_scores
from ssread.models import model_for

GRAPHS = planted(4, seed=6)


def test_scores_follow_the_seed_and_nothing_else():
    model = model_for(GRAPHS, "gcn")
    once = gnn_explainer_scores(model, GRAPHS[:2], seed=0, epochs=5)
    torch.rand(1)
    state = torch.get_rng_state()
    again, other = (gnn_explainer_scores(model, GRAPHS[:2], seed, epochs=5) for seed in (0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(once, again)
    assert not torch.equal(once, other)
    assert once.shape == (int(GRAPHS.node_counts[:2].sum()),)
    assert once.min() >= 0
    assert once.max() <= 1
    assert gnn_explainer_scores(model, GRAPHS[:0], seed=0).shape == (0,)


def test_models_with_edge_features_are_explained():
    networks = [nx.cycle_graph(5), nx.path_graph(5)]
    for network in networks:
        nx.set_edge_attributes(network, 1.0, "weight")
    graphs = from_networkx(networks, labels=["a", "b"], edge_attributes=["weight"])
    assert graphs.num_edge_features == 1
    assert gnn_explainer_scores(model_for(graphs, "gin"), graphs, seed=0, epochs=2).shape == (10,)
