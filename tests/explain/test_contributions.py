"""Scores as sums of contributions: exact where they must be, against finite differences everywhere."""

import dataclasses

import pytest
import torch
from helpers.explained_models import in_double
from helpers.labelled_graphs import labelled
from helpers.small_models import untrained
from torch_geometric.nn.aggr import SoftmaxAggregation

from ssread import segment
from ssread.data import GraphSet, planted
from ssread.errors import InputError
from ssread.explain import activation, contributions
from ssread.explain.forward import forward_passes
from ssread.explain.measures import induced_subgraphs
from ssread.explain.node_facts import graph_of_node
from ssread.explain.outputs import predictions
from ssread.models import ARCHITECTURES, GraphClassifier, model_for
from ssread.models.contributions import sum_by_position

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


def test_features_of_whole_graphs_are_a_term_of_their_own():
    """Nodes, features and what a graph without either gets add up to the prediction, in its unit."""
    graphs = labelled("regression")
    features = torch.randn(len(graphs), 3, generator=torch.Generator().manual_seed(0))
    features[0, 1], features[1] = torch.nan, 1e30
    graphs = dataclasses.replace(graphs, graph_attr=features, graph_feature_names=("a", "b", "c"))
    model = untrained(graphs, 2)
    for member in model.models:
        member.double().head[-1].scale.copy_(torch.tensor([0.5, 12.0]))
        member.graph_features.unit.copy_(torch.tensor([0.5, 12.0]))
    graphs = in_double(graphs)
    found = contributions(model, graphs)
    assert found.graph_features.std() > 0.01
    assert found.same_rest
    assert torch.allclose(found.total(), predictions(model, graphs))
    nothing = contributions(model, induced_subgraphs(graphs[:1], torch.zeros(int(graphs.node_counts[0])) > 0))
    nodes = segment.reduce_sum(found.nodes, graph_of_node(graphs), len(graphs))
    assert torch.allclose(nodes + found.graph_features + nothing.rest, predictions(model, graphs))
    merged = found.regrouped(torch.zeros_like(found.position), 1)
    assert torch.allclose(merged.total(), found.total())
    assert contributions(untrained(GRAPHS, 1), GRAPHS).graph_features is None


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


def moved(graphs: GraphSet, **arguments: object) -> GraphClassifier:
    """A model in double precision whose normalisation, where it has one, has the statistics of these graphs."""
    torch.manual_seed(1)
    model = model_for(graphs, **arguments).double()
    model.train()(graphs.batch(slice(None)))
    return model.eval()


AGGREGATIONS = {
    "sum": "sum",
    "mean": "mean",
    "max": "max",
    "attention": "attention",
    "set2set": "set2set",
    "sort": "sort",
    "several": ["max", "attention"],
    "foreign": SoftmaxAggregation(t=0.5),
}
EXACT_OVER_NODES = ("sum", "mean", "max", "attention", "several")


@pytest.mark.parametrize("aggr", AGGREGATIONS)
@pytest.mark.parametrize("readout", ["ssread", "global"])
@pytest.mark.parametrize("normalize", [True, False])
def test_with_a_linear_head_positions_and_one_rest_add_up_to_the_score(aggr, readout, normalize):
    graphs = in_double(GRAPHS)
    model = moved(graphs, name="gcn", readout=readout, aggr=AGGREGATIONS[aggr], normalize=normalize, hidden_channels=8)
    parts = contributions(model, graphs)
    nothing = torch.zeros(1, model.readout.out_channels, dtype=torch.float64)
    of_nothing = model.head(nothing if model.norm is None else model.norm(nothing)).expand_as(parts.rest)
    assert torch.allclose(parts.rest, of_nothing)
    assert torch.allclose(parts.positions.sum(dim=1) + of_nothing, model(graphs.batch(slice(None))))
    assert parts.same_rest
    of_nodes = sum_by_position(parts.nodes, parts.graph, parts.position, len(graphs), parts.positions.size(1))
    assert torch.allclose(of_nodes, parts.positions) == (aggr in EXACT_OVER_NODES)
    assert torch.allclose(parts.beside_nodes(), torch.zeros(()).double()) == (aggr in EXACT_OVER_NODES)
    assert bool(parts.left_over) == (aggr not in EXACT_OVER_NODES)


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("aggr", ["sum", "mean", "max", "attention", None])
@pytest.mark.parametrize("members", [1, 2])
def test_parts_add_up_to_the_score_of_every_architecture_and_ensemble(name, aggr, members):
    graphs = labelled("multilabel")
    model = untrained(graphs, members, name=name, aggr=aggr)
    graphs = in_double(graphs)
    for member in model.models:
        member.double()
    parts = contributions(model, graphs)
    scores = torch.stack([member(graphs.batch(slice(None))) for member in model.models]).mean(dim=0)
    assert torch.allclose(parts.total(), scores)
    if aggr is not None:  # every architecture has its own, which may be sort
        assert torch.allclose(parts.beside_nodes()[:, 0], torch.zeros(len(graphs)).double(), atol=1e-8) or (
            members > 1 and bool((parts.position < 0).any())
        )
    merged = parts.regrouped(parts.position.clamp(max=1), 2)
    assert torch.allclose(merged.total(), scores)
    if members > 1 and not (parts.position < 0).any():
        assert torch.allclose(merged.positions[:, 0], parts.positions[:, 0])
    assert ("the active units of the head" in parts.held_fixed) == (name not in ("gcn", "gin"))


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "structure_blind"])
def test_positions_are_slopes_of_the_score_as_their_vectors_grow(name):
    graphs = in_double(GRAPHS[:3])
    model = moved(graphs, name=name, normalize=False)
    parts = contributions(model, graphs)
    with torch.no_grad():
        vectors = model.embed(graphs.batch(slice(None)))
        width = vectors.size(1) // 4
        for k in range(4):
            step = torch.zeros_like(vectors)
            step[:, k * width : (k + 1) * width] = 1e-6 * vectors[:, k * width : (k + 1) * width]
            slope = (model.head(vectors + step) - model.head(vectors - step)) / 2e-6
            assert torch.allclose(parts.positions[:, k], slope, atol=1e-5)


def test_attention_weights_are_held_fixed_and_the_largest_node_of_a_channel_gets_its_term():
    graphs = in_double(GRAPHS[:2])
    model = moved(graphs, name="gcn", readout="global", aggr="attention", normalize=False, hidden_channels=8)
    (forward,) = forward_passes(model, graphs)
    x, graph = forward.encoding.x, graph_of_node(graphs)
    weights = segment.softmax(model.readout.aggr.gate(x), graph, 2)
    assert torch.allclose(contributions(model, graphs).nodes, (weights * x) @ model.head.weight.T)
    model = moved(graphs, name="gcn", readout="global", aggr="max", normalize=False, hidden_channels=8)
    (forward,) = forward_passes(model, graphs)
    parts = contributions(model, graphs)
    for number, x in enumerate(forward.encoding.x.split(graphs.node_counts.tolist())):
        terms = torch.zeros(len(x), 2).double()
        for channel, largest in enumerate(x.amax(dim=0)):
            alike = (x[:, channel] == largest).nonzero().squeeze(1)  # equal nodes share the term
            terms[alike] += largest * model.head.weight[:, channel] / len(alike)
        assert torch.allclose(parts.nodes[parts.graph == number], terms)


def test_without_graphs_there_is_nothing_to_add_up():
    parts = contributions(model_for(GRAPHS, "gcn"), GRAPHS[:0])
    assert parts.total().shape == (0, 2)
    assert repr(parts) == "Contributions(0 nodes, 0 graphs, 4 positions, 2 outputs)"
