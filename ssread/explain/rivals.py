"""Importance of nodes and edges for the class of their graph, by the methods that decompositions are compared with.

All methods explain the same score of the same model: that of the class minus the mean of the other classes
(GNNExplainer and PGExplainer optimise its cross-entropy). Methods that work on many graphs at once get them at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.explain import Explainer, GNNExplainer, PGExplainer

from ssread import segment
from ssread.aggregate.attention import Attention
from ssread.data.batch import GraphBatch
from ssread.data.graphset import GraphSet
from ssread.errors import missing_extra
from ssread.explain.contributions import contributions
from ssread.explain.decomposition import contrast, decompose, gradient_at_nodes
from ssread.explain.pyg_twin import PyGTwin
from ssread.explain.removal import occlusion
from ssread.models import GraphClassifier

__all__ = ["METHODS", "Importance", "Task"]

#: Steps of GNNExplainer per graph and of PGExplainer's training (PyG's documentation), and of integrated gradients
#: (Captum's default).
GNN_EXPLAINER_EPOCHS, PG_EXPLAINER_EPOCHS, INTEGRATED_STEPS = 100, 30, 50
PG_EXPLAINER_BATCH, PG_EXPLAINER_EDGE_SIZE = 8, 0.05


@dataclass(frozen=True, eq=False)
class Importance:
    """What a method says about the nodes and edges of some graphs.

    Attributes:
        nodes: The importance of every node, [N].
        edges: The importance of every edge, [E]; None for a method that has none of its own.
    """

    nodes: Tensor
    edges: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """Graphs whose classes are to be explained.

    Attributes:
        model: The model.
        graphs: The graphs.
        target: The class of every graph, [G].
        seed: Seed of methods that draw random numbers.
        training: Graphs of the training part, for methods that learn to explain.
    """

    model: GraphClassifier
    graphs: GraphSet
    target: Tensor
    seed: int
    training: GraphSet


def random(task: Task) -> Importance:
    """Uniform random numbers."""
    return Importance(torch.rand(task.graphs.x.size(0), generator=torch.Generator().manual_seed(task.seed)))


def decomposition(task: Task) -> Importance:
    """What every node adds to the contrast: :func:`ssread.explain.contributions`."""
    of_node = task.target.repeat_interleave(task.graphs.node_counts)
    return Importance(contrast(contributions(task.model, task.graphs).nodes, of_node))


def message_decomposition(task: Task) -> Importance:
    """What every node's messages in the last layer add to the contrast, and every edge's."""
    parts = decompose(task.model, task.graphs, task.target)
    return Importance(parts.sent, parts.edges)


def grad_cam(task: Task) -> Importance:
    """`Grad-CAM for graphs <https://arxiv.org/abs/1812.00279>`_: relu(mean gradient of the graph's nodes . h)."""
    twin, batch = _twin(task)
    with torch.no_grad():
        h = twin.node_vectors(batch.x, batch.edge_index, batch.edge_attr)
    gradient = gradient_at_nodes(twin, h, batch, task.target)
    weights = segment.reduce_mean(gradient, batch.batch, batch.num_graphs)
    return Importance((weights[batch.batch] * h).sum(dim=1).relu())


def saliency(task: Task) -> Importance:
    """`Saliency <https://arxiv.org/abs/1312.6034>`_ (Captum): absolute gradients by the node's features, added up."""
    return Importance(_captum("Saliency", task).sum(dim=1))


def integrated_gradients(task: Task) -> Importance:
    """`Integrated gradients <https://arxiv.org/abs/1703.01365>`_ (Captum) from features of 0, added up."""
    options = {"n_steps": INTEGRATED_STEPS, "internal_batch_size": 1}
    return Importance(_captum("IntegratedGradients", task, **options).sum(dim=1))


def guided_backprop(task: Task) -> Importance:
    """`Guided backpropagation <https://arxiv.org/abs/1412.6806>`_ (Captum), added up over the node's features."""
    return Importance(_captum("GuidedBackprop", task).sum(dim=1))


def attention(task: Task) -> Importance:
    """The weights of an attention readout."""
    twin, batch = _twin(task)
    phi = task.model.readout.aggr  # of the global readout
    assert isinstance(phi, Attention)
    with torch.no_grad():
        h = twin.node_vectors(batch.x, batch.edge_index, batch.edge_attr)
        return Importance(segment.softmax(phi.gate(h), batch.batch, batch.num_graphs).squeeze(1))


def removal(task: Task) -> Importance:
    """Occlusion: how much the contrast falls when a node and its edges are removed."""

    def score(graphs: GraphSet, target: Tensor) -> Tensor:
        batch = graphs.batch(range(len(graphs)))
        return contrast(task.model(batch), target)

    return Importance(occlusion(task.graphs, task.target, score))


def gnn_explainer(task: Task) -> Importance:
    """`GNNExplainer <https://arxiv.org/abs/1903.03894>`_ (PyG): a mask of nodes and edges per graph."""
    twin = PyGTwin(task.model)
    explainer = _pyg(twin, GNNExplainer(epochs=GNN_EXPLAINER_EPOCHS), node_mask_type="object")
    nodes, edges = [], []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(task.seed)
        for data, target in zip(task.graphs, task.target, strict=True):
            attributes = {} if data.edge_attr is None else {"edge_attr": data.edge_attr}
            explanation = explainer(data.x, data.edge_index, target=target.view(1), **attributes)
            nodes.append(explanation.node_mask.squeeze(1).detach())
            edges.append(explanation.edge_mask.detach())
    return Importance(torch.cat(nodes), torch.cat(edges))


def pg_explainer(task: Task) -> Importance:
    """`PGExplainer <https://arxiv.org/abs/2011.04573>`_ (PyG): learns a mask of edges; a node has their mean."""
    twin = PyGTwin(task.model)
    assert task.training.y is not None
    batches = torch.arange(len(task.training)).split(PG_EXPLAINER_BATCH)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about PyG's own float(loss)
        torch.manual_seed(task.seed)
        # PyG adds the sizes of the masks of a batch up, but averages their cross-entropies.
        size = PG_EXPLAINER_EDGE_SIZE / PG_EXPLAINER_BATCH
        algorithm = PGExplainer(epochs=PG_EXPLAINER_EPOCHS, lr=0.003, edge_size=size)
        explainer = _pyg(twin, algorithm)
        for epoch in range(PG_EXPLAINER_EPOCHS):
            for ids in batches:
                batch = task.training.batch(ids)
                algorithm.train(epoch, twin, **_arguments(batch), target=task.training.y[ids])
    batch = task.graphs.batch(range(len(task.graphs)))
    edges = explainer(**_arguments(batch), target=task.target).edge_mask.detach()
    return Importance(segment.reduce_mean(edges, batch.edge_index[1], batch.x.size(0)), edges)


#: Every method by name. Each is run on the models that can have it.
METHODS: dict[str, Callable[[Task], Importance]] = {
    "decomposition": decomposition,
    "decomposition by messages": message_decomposition,
    "Grad-CAM": grad_cam,
    "saliency": saliency,
    "integrated gradients": integrated_gradients,
    "guided backprop": guided_backprop,
    "occlusion": removal,
    "GNNExplainer": gnn_explainer,
    "PGExplainer": pg_explainer,
    "attention": attention,
    "random": random,
}


class _Contrast(nn.Module):
    """The sum of the contrasts of all graphs, [1], as a function of node features [1, N, F], as Captum needs it.

    A graph's contrast depends on its own nodes alone, so the gradient of the sum is that of each.
    """

    def __init__(self, twin: PyGTwin, batch: GraphBatch, target: Tensor):
        super().__init__()
        self.twin, self._rest, self._target = twin, {**_arguments(batch)}, target
        self._rest.pop("x")

    def forward(self, x: Tensor) -> Tensor:
        return contrast(self.twin(x.squeeze(0), **self._rest), self._target).sum().view(1)


def _captum(name: str, task: Task, **options: Any) -> Tensor:
    """A method of Captum's by name: the attribution of every feature of every node, [N, F]."""
    try:
        from captum import attr
    except ImportError:
        raise missing_extra("Captum", "explain", f"The method {name}") from None
    twin, batch = _twin(task)
    method = getattr(attr, name)(_Contrast(twin, batch, task.target))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that inputs get gradients and ReLUs get hooks
        given = batch.x.unsqueeze(0).clone().requires_grad_()
        return method.attribute(given, **options).squeeze(0).detach()


def _pyg(twin: PyGTwin, algorithm: Any, node_mask_type: str | None = None) -> Explainer:
    return Explainer(
        twin,
        algorithm,
        explanation_type="phenomenon",
        node_mask_type=node_mask_type,
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )


def _twin(task: Task) -> tuple[PyGTwin, GraphBatch]:
    return PyGTwin(task.model), task.graphs.batch(range(len(task.graphs)))


def _arguments(batch: GraphBatch) -> dict[str, Any]:
    given = {"x": batch.x, "edge_index": batch.edge_index, "batch": batch.batch, "batch_size": batch.num_graphs}
    return given if batch.edge_attr is None else {**given, "edge_attr": batch.edge_attr}
