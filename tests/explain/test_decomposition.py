"""Parts add up to the contrast of the class, in every graph, for both readouts."""

import copy

import pytest
import torch
from helpers.explained_models import in_double, trained

from ssread import segment
from ssread.data import from_smiles
from ssread.explain import activation
from ssread.explain.decomposition import contrast, decompose
from ssread.explain.node_facts import graph_of_node
from ssread.models import model_for


@pytest.mark.parametrize("constant", [False, True], ids=["", "a channel that was the same for all nodes"])
@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_parts_add_up_to_the_contrast_minus_that_of_a_graph_without_nodes(readout, constant):
    model, graphs = trained(readout)
    model, graphs = copy.deepcopy(model).double(), in_double(graphs[:20])
    if constant:
        model.encoder.norms[-1].running_var[0] = 0
    parts = decompose(model, graphs, graphs.y)
    scores = model(graphs.batch(range(len(graphs))))
    empty = model.head(model.read(model.encoder(graphs.batch([0])), 2).vectors[1:])  # the second graph has no nodes
    expected = contrast(scores, graphs.y) - contrast(empty.expand(len(graphs), -1), graphs.y)
    for nodes in (parts.nodes, parts.sent + parts.constant):
        sums = segment.reduce_sum(nodes, graph_of_node(graphs), len(graphs))
        assert torch.allclose(sums, expected, atol=1e-8)


def test_nodes_add_what_the_class_activations_say():
    model, graphs = trained()
    graphs = graphs[:10]
    both = activation(model, graphs)
    of_node = graphs.y.repeat_interleave(graphs.node_counts)
    expected = contrast(both, of_node)
    assert torch.allclose(decompose(model, graphs, graphs.y).nodes, expected, atol=1e-4)


def test_edges_are_what_the_messages_along_them_add():
    graphs = from_smiles(["CCO", "CC(=O)N"], ["a", "b"])
    model = model_for(graphs, "gcn", hidden_channels=16).eval()
    parts = decompose(model, graphs, graphs.y)
    assert parts.edges.shape == (graphs.edge_index.size(1),)
    batch = graphs.batch([0, 1])
    own = parts.sent - segment.reduce_sum(parts.edges, batch.edge_index[0], graphs.x.size(0))
    received = own + parts.constant + segment.reduce_sum(parts.edges, batch.edge_index[1], graphs.x.size(0))
    assert torch.allclose(received, parts.nodes, atol=1e-5)
