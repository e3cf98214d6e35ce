"""Class activation: exact where it must be, against finite differences everywhere."""

import pytest
import torch
from helpers.explained_models import in_double
from helpers.labelled_graphs import labelled
from helpers.small_models import untrained

from ssread import segment
from ssread.data import planted
from ssread.errors import InputError
from ssread.explain import activation
from ssread.explain.forward import forward_passes
from ssread.explain.measures import induced_subgraphs
from ssread.explain.node_facts import graph_of_node
from ssread.explain.outputs import predictions
from ssread.models import ARCHITECTURES, model_for

GRAPHS = planted(6, seed=3, feature_noise=0.3)


@pytest.mark.parametrize("readout", ["ssread", "global"])
@pytest.mark.parametrize("normalize", [True, False])
def test_with_a_sum_and_a_linear_head_activations_add_up_to_the_score(readout, normalize):
    """Minus that of a graph without nodes: the bias, and the shift of normalised vectors."""
    graphs = in_double(GRAPHS)
    model = model_for(graphs, "gcn", readout=readout, normalize=normalize).double()
    model(graphs.batch(range(len(graphs))))  # gives the normalisation its statistics
    model.eval()
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    total = segment.reduce_sum(activation(model, graphs), graph, len(graphs))
    nothing = torch.zeros(1, model.readout.out_channels, dtype=torch.float64)
    of_nothing = model.head(nothing if model.norm is None else model.norm(nothing))
    assert torch.allclose(total, model(graphs.batch(range(len(graphs)))) - of_nothing)


@pytest.mark.parametrize("readout", ["ssread", "global"])
@pytest.mark.parametrize("aggr", ["sum", "mean"])
@pytest.mark.parametrize("members", [1, 3])
def test_activations_add_up_to_the_predicted_numbers_in_their_unit(readout, aggr, members):
    """Minus the prediction for a graph without nodes; of an ensemble as well, whose prediction is a mean."""
    graphs = labelled("regression")
    model = untrained(graphs, members, readout=readout, aggr=aggr)
    for number, member in enumerate(model.models):
        member.double().head[-1].mean.copy_(torch.tensor([-0.5, 170.0 + number]))
        member.head[-1].scale.copy_(torch.tensor([0.5, 12.0 + number]))
    graphs = in_double(graphs)
    total = segment.reduce_sum(activation(model, graphs), graph_of_node(graphs), len(graphs))
    nothing = predictions(model, induced_subgraphs(graphs[:1], torch.zeros(int(graphs.node_counts[0])) > 0))
    assert torch.allclose(total, predictions(model, graphs) - nothing)


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "diffpool"])
@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_activation_is_the_slope_of_the_score_as_a_node_vector_grows(name, readout):
    graphs = in_double(GRAPHS[:3])
    model = model_for(graphs, name, readout=readout).double().eval()
    activations = activation(model, graphs)
    (forward,) = forward_passes(model, graphs)
    step = 1e-6
    graph = torch.arange(len(graphs)).repeat_interleave(graphs.node_counts)
    with torch.no_grad():
        for node in range(0, len(activations), 7):
            factors = torch.ones(len(forward.encoding.x), 1, dtype=torch.double)
            rows = slice(node, None, len(activations))  # the rows of the node, one for each height
            factors[rows] = 1 + step
            ahead = forward.read(forward.encoding.x * factors)[1][graph[node]]
            factors[rows] = 1 - step
            behind = forward.read(forward.encoding.x * factors)[1][graph[node]]
            assert torch.allclose(activations[node], (ahead - behind) / (2 * step), atol=1e-5)


def test_a_target_selects_one_class_for_all_graphs_or_one_per_graph():
    model = model_for(GRAPHS, "gcn")
    activations = activation(model, GRAPHS)
    assert torch.equal(activation(model, GRAPHS, 1), activations[:, 1])
    node_class = GRAPHS.y.repeat_interleave(GRAPHS.node_counts)
    expected = activations[torch.arange(len(activations)), node_class]
    assert torch.equal(activation(model, GRAPHS, GRAPHS.y), expected)
    with pytest.raises(InputError, match="The model has 2 outputs, numbered from 0, but target is 2"):
        activation(model, GRAPHS, 2)


def test_a_graph_has_the_same_activations_alone_and_among_others():
    model = model_for(GRAPHS, "gin")
    together = activation(model, GRAPHS).split(GRAPHS.node_counts.tolist())
    for number in range(len(GRAPHS)):
        assert torch.allclose(activation(model, GRAPHS[[number]]), together[number], atol=1e-5)


def test_training_mode_and_frozen_weights_make_no_difference():
    model = model_for(GRAPHS, "gcn")
    before = activation(model.train(), GRAPHS)
    assert torch.equal(activation(model.eval().requires_grad_(False), GRAPHS), before)


def test_without_graphs_there_are_no_activations():
    model = model_for(GRAPHS, "gcn")
    assert activation(model, GRAPHS[:0]).shape == (0, 2)
    assert activation(model, GRAPHS[:0], 1).shape == (0,)


def test_activations_of_an_ensemble_are_the_mean_over_its_members():
    graphs = labelled("multilabel")
    model = untrained(graphs, members=3)
    of_members = [activation(member, graphs) for member in model.models]
    assert torch.allclose(activation(model, graphs), torch.stack(of_members).mean(dim=0))
    assert torch.equal(activation(model, graphs, "weight in kg"), activation(model, graphs, 1))
    with pytest.raises(InputError, match=r"does not predict 'height'\. It predicts 'house', 'weight in kg'"):
        activation(model, graphs, "height")
