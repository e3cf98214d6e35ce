"""The map of nodes: its nodes, and the same map for the same seed."""

import numpy as np
import pytest
import torch

from ssread.data import planted
from ssread.explain import node_vectors
from ssread.explain.node_map import node_map
from ssread.models import model_for

GRAPHS = planted(5, seed=0, feature_noise=0.3)


def test_the_same_seed_draws_the_same_map():
    model = model_for(GRAPHS, "gcn")
    once, again, other = (node_map(model, GRAPHS, max_nodes=30, seed=seed) for seed in (0, 0, 1))
    for name in ("nodes", "coordinates", "prototypes"):
        assert np.array_equal(getattr(once, name), getattr(again, name))
    assert not np.array_equal(once.nodes, other.nodes)


@pytest.mark.parametrize(("readout", "num_prototypes"), [("ssread", 4), ("global", 0)])
def test_at_most_max_nodes_and_every_prototype_have_coordinates(readout, num_prototypes):
    points = node_map(model_for(GRAPHS, "gcn", readout=readout), GRAPHS, max_nodes=30)
    assert len(points.nodes) == 30
    assert (np.diff(points.nodes) > 0).all()
    assert points.coordinates.shape == (30, 2)
    assert points.prototypes.shape == (num_prototypes, 2)
    assert np.isfinite(points.coordinates).all()


def test_nodes_without_a_vector_are_left_out():
    model = model_for(GRAPHS, "sagpool")
    kept = node_vectors(model, GRAPHS).norm(dim=1) > 0
    assert not kept.all()
    assert torch.equal(torch.from_numpy(node_map(model, GRAPHS).nodes), kept.nonzero().squeeze(1))


def test_too_few_points_for_t_sne_are_at_the_origin():
    points = node_map(model_for(GRAPHS, "gcn", readout="global"), GRAPHS, max_nodes=4)
    assert len(points.nodes) == 4
    assert (points.coordinates == 0).all()
