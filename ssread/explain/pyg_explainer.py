"""Class activation as an algorithm for ``torch_geometric.explain``, next to GNNExplainer and others."""

from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import MaskType, ModelMode, ModelTaskLevel

from ssread.models import GraphClassifier, Graphs
from ssread.models.contributions import contributions_of

__all__ = ["ActivationExplainer"]


class ActivationExplainer(ExplainerAlgorithm):
    """The paper's class activation (section V-C) as a node mask, for ``torch_geometric.explain.Explainer``.

    The mask is what every node adds to the score of the explained class, [N, 1]; a negative contribution becomes 0.
    The model must be a :class:`ssread.models.GraphClassifier`. All graphs of a batch are explained at once.

    >>> from torch_geometric.explain import Explainer
    >>> from ssread.data import planted
    >>> from ssread.models import model_for
    >>> graphs = planted(2, seed=0)
    >>> explainer = Explainer(
    ...     model_for(graphs, "gcn"),
    ...     ActivationExplainer(),
    ...     explanation_type="model",
    ...     node_mask_type="object",
    ...     model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    ... )
    >>> batch = graphs.batch([0, 1])
    >>> explanation = explainer(batch.x, batch.edge_index, batch=batch.batch, batch_size=2)
    >>> explanation.node_mask.shape == (batch.num_nodes, 1)
    True
    """

    @torch.no_grad()
    def forward(
        self,
        model: torch.nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> Explanation:
        """See PyG's ``ExplainerAlgorithm``; with ``index``, the nodes of all other graphs get 0."""
        assert isinstance(model, GraphClassifier)
        graphs = Graphs.of(x, edge_index, **kwargs)
        activations = contributions_of([model], graphs).nodes
        graph = graphs.batch
        mask = activations.gather(1, target.index_select(0, graph).unsqueeze(1)).relu()
        if index is not None:
            mask = mask * torch.isin(graph, torch.as_tensor(index, device=x.device)).unsqueeze(1)
        return Explanation(node_mask=mask)

    def supports(self) -> bool:
        """Graph classification with a mask of nodes, without masks of edges or features."""
        return (
            self.model_config.task_level == ModelTaskLevel.graph
            and self.model_config.mode == ModelMode.multiclass_classification
            and self.explainer_config.node_mask_type == MaskType.object
            and self.explainer_config.edge_mask_type is None
        )
