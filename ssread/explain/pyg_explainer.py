"""Class activation as an algorithm of ``torch_geometric.explain``, to run next to GNNExplainer and others."""

from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import MaskType, ModelMode, ModelTaskLevel

from ssread.explain.activation import of_pass
from ssread.explain.forward import look
from ssread.models import GraphClassifier, Graphs

__all__ = ["ActivationExplainer"]


class ActivationExplainer(ExplainerAlgorithm):
    """The paper's class activation (section V-C) as a node mask, for ``torch_geometric.explain.Explainer``.

    The mask holds what every node adds to the score of the class explained, [N, 1]; nodes that speak against it get 0.
    The model is a :class:`ssread.models.GraphClassifier`; it is explained for all graphs of a batch at once.

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
        """See PyG's ``ExplainerAlgorithm``; with ``index`` the nodes of other graphs get 0."""
        assert isinstance(model, GraphClassifier)
        graphs = Graphs.of(x, edge_index, **kwargs)
        scores = of_pass(look(model, graphs)).to(x.device)
        graph = graphs.batch
        mask = scores.gather(1, target.index_select(0, graph).unsqueeze(1)).relu()
        if index is not None:
            mask = mask * torch.isin(graph, torch.as_tensor(index, device=x.device)).unsqueeze(1)
        return Explanation(node_mask=mask)

    def supports(self) -> bool:
        """Graph classification, one value per node, no values for edges or features."""
        return (
            self.model_config.task_level == ModelTaskLevel.graph
            and self.model_config.mode == ModelMode.multiclass_classification
            and self.explainer_config.node_mask_type == MaskType.object
            and self.explainer_config.edge_mask_type is None
        )
