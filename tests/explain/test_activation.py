"""Class activation: exact where it must be, against finite differences everywhere."""

import pytest
import torch

from ssread import segment
from ssread.data import planted
from ssread.errors import InputError
from ssread.explain import activation
from ssread.explain.forward import classifier, passes
from ssread.models import ARCHITECTURES, model_for

GRAPHS = planted(6, seed=3, feature_noise=0.3)


@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_activations_of_a_linear_head_on_a_sum_add_up_to_the_score_less_the_bias(readout):
    model = model_for(GRAPHS, "gcn", readout=readout).double().eval()
    graphs = GRAPHS._map(lambda t: t.double() if t.is_floating_point() else t)
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    total = segment.reduce_sum(activation(model, graphs), graph, len(graphs))
    expected = model(graphs.batch(range(len(graphs)))) - model.head.bias
    assert torch.allclose(total, expected)


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "diffpool"])
@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_activation_is_the_slope_of_the_score_as_a_node_vector_grows(name, readout):
    graphs = GRAPHS[:3]._map(lambda t: t.double() if t.is_floating_point() else t)
    model = model_for(graphs, name, readout=readout).double().eval()
    found = activation(model, graphs)
    (part,) = passes(model, graphs)
    step = 1e-6
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    with torch.no_grad():
        for node in range(0, len(found), 7):
            grown = torch.ones(len(part.encoding.x), 1, dtype=torch.double)
            rows = slice(node, None, len(found))  # a node's, at every height
            grown[rows] = 1 + step
            ahead = part.read(part.encoding.x * grown)[1][graph[node]]
            grown[rows] = 1 - step
            behind = part.read(part.encoding.x * grown)[1][graph[node]]
            assert torch.allclose(found[node], (ahead - behind) / (2 * step), atol=1e-5)


def test_what_clusters_get_is_shared_among_their_nodes_without_loss():
    model = model_for(GRAPHS, "diffpool", readout="global", aggr="sum").double().eval()
    graphs = GRAPHS._map(lambda t: t.double() if t.is_floating_point() else t)
    (part,) = passes(model, graphs)
    values = torch.randn(len(part.encoding.x), 2, dtype=torch.double)
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    by_graph = segment.reduce_sum(part.shared_out(values), graph, len(graphs))
    assert torch.allclose(by_graph, segment.reduce_sum(values, part.encoding.batch, len(graphs)))


def test_one_class_is_its_column_and_each_graph_may_have_its_own():
    model = model_for(GRAPHS, "gcn")
    every = activation(model, GRAPHS)
    assert torch.equal(activation(model, GRAPHS, 1), every[:, 1])
    own = activation(model, GRAPHS, GRAPHS.y)
    node_class = GRAPHS.y.repeat_interleave(GRAPHS.node_counts)
    assert torch.equal(own, every[torch.arange(len(own)), node_class])
    with pytest.raises(InputError, match="2 classes apart"):
        activation(model, GRAPHS, 2)


def test_a_graph_alone_is_activated_as_among_others():
    model = model_for(GRAPHS, "gin")
    together = activation(model, GRAPHS).split(GRAPHS.node_counts.tolist())
    for number in range(len(GRAPHS)):
        assert torch.allclose(activation(model, GRAPHS[[number]]), together[number], atol=1e-5)


def test_frozen_models_and_training_mode_make_no_difference():
    model = model_for(GRAPHS, "gcn")
    before = activation(model.train(), GRAPHS)
    assert model.training
    assert torch.equal(activation(model.eval().requires_grad_(False), GRAPHS), before)


def test_what_holds_no_classifier_gets_a_sentence():
    with pytest.raises(InputError, match="A graph classifier, a trained model or its folder is needed"):
        classifier(42)
    with pytest.raises(InputError, match="no model that ssread train wrote"):
        classifier("nowhere")
