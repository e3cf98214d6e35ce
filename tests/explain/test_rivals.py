"""Every method on a trained model: shapes, seeds, properties that each must have."""

import sys

import pytest
import torch
from helpers.explained_models import trained, typed_graphs

from ssread import segment
from ssread.errors import MissingExtraError
from ssread.explain import rivals
from ssread.explain.decomposition import contrast
from ssread.explain.node_facts import graph_of_node
from ssread.explain.rivals import METHODS, Task
from ssread.models import model_for


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    monkeypatch.setattr(rivals, "GNN_EXPLAINER_EPOCHS", 4)
    monkeypatch.setattr(rivals, "PG_EXPLAINER_EPOCHS", 2)


@pytest.fixture(scope="module")
def task() -> Task:
    model, graphs = trained()
    return Task(model, graphs[:3], graphs.y[:3], 0, typed_graphs()[:10])


@pytest.mark.parametrize("name", [name for name in METHODS if name != "attention"])
def test_nodes_and_edges_have_finite_scores_that_depend_on_nothing_but_the_task(name, task):
    state = torch.get_rng_state()
    once, again = METHODS[name](task), METHODS[name](task)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(once.nodes, again.nodes)
    assert once.nodes.shape == (task.graphs.x.size(0),)
    assert once.nodes.isfinite().all()
    assert not once.nodes.requires_grad
    assert once.nodes.std() > 0
    if once.edges is not None:
        assert once.edges.shape == (task.graphs.edge_index.size(1),)
        assert once.edges.isfinite().all()


def test_integrated_gradients_add_up_to_the_difference_from_features_of_zero():
    graphs = typed_graphs()[:3]
    torch.manual_seed(0)
    model = model_for(graphs, "gcn", readout="global", hidden_channels=16).eval()  # SSRead jumps where positions change
    sums = METHODS["integrated gradients"](Task(model, graphs, graphs.y, 0, graphs)).nodes
    batch = graphs.batch(range(3))
    whole = contrast(model(batch), graphs.y)
    batch.x.zero_()
    difference = whole - contrast(model(batch), graphs.y)
    assert difference.abs().max() > 0.01
    assert torch.allclose(segment.reduce_sum(sums, graph_of_node(graphs), 3), difference, rtol=0.02, atol=1e-3)


def test_saliency_is_the_absolute_gradient(task):
    batch = task.graphs.batch(range(3))
    x = batch.x.clone().requires_grad_()
    scores = task.model(x, batch.edge_index, batch=batch.batch, batch_size=3)
    (gradient,) = torch.autograd.grad(contrast(scores, task.target).sum(), x)
    assert torch.allclose(METHODS["saliency"](task).nodes, gradient.abs().sum(dim=1), atol=1e-4)


def test_guided_backprop_is_another_gradient(task):
    guided = METHODS["guided backprop"](task).nodes
    batch = task.graphs.batch(range(3))
    x = batch.x.clone().requires_grad_()
    scores = task.model(x, batch.edge_index, batch=batch.batch, batch_size=3)
    (gradient,) = torch.autograd.grad(contrast(scores, task.target).sum(), x)
    assert not torch.allclose(guided, gradient.sum(dim=1), atol=1e-3)


def test_weights_of_an_attention_readout_add_up_to_one():
    graphs = typed_graphs()[:3]
    model = model_for(graphs, "gcn", readout="global", aggr="attention", hidden_channels=16).eval()
    weights = METHODS["attention"](Task(model, graphs, graphs.y, 0, graphs)).nodes
    assert torch.allclose(segment.reduce_sum(weights, graph_of_node(graphs), 3), torch.ones(3), atol=1e-5)


def test_without_captum_a_sentence_names_the_extra(task, monkeypatch):
    monkeypatch.setitem(sys.modules, "captum", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ssread\[explain\]'"):
        METHODS["saliency"](task)
