"""PyG's GNNExplainer, run one graph at a time, to compare class activation with."""

from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explainer, GNNExplainer

from ssread.data.graphset import GraphSet
from ssread.explain.forward import classifier

__all__ = ["gnn_explainer_scores"]


def gnn_explainer_scores(model: Any, graphs: GraphSet, seed: int, epochs: int = 100) -> Tensor:
    """`GNNExplainer <https://arxiv.org/abs/1903.03894>`_'s importance of every node for its graph's class, [N].

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: Labelled graphs.
        seed: Seed of the initial masks.
        epochs: Optimisation steps per graph.
    """
    explainer = Explainer(
        classifier(model),
        GNNExplainer(epochs=epochs),
        explanation_type="phenomenon",
        node_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )
    masks = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for data in graphs:
            edge_attr = {} if data.edge_attr is None else {"edge_attr": data.edge_attr}
            explanation = explainer(data.x, data.edge_index, target=data.y, **edge_attr)
            masks.append(explanation.node_mask.squeeze(1).detach())
    return torch.cat(masks) if masks else torch.zeros(0)
