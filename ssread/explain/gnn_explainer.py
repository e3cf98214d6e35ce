"""Other ways to explain, from PyG, run as they are meant to be: one graph at a time."""

from typing import Any

import torch
from torch import Tensor
from torch_geometric.explain import Explainer, GNNExplainer

from ssread.data.graphset import GraphSet
from ssread.explain.forward import classifier

__all__ = ["gnn_explainer"]


def gnn_explainer(model: Any, graphs: GraphSet, seed: int, epochs: int = 100) -> Tensor:
    """`GNNExplainer <https://arxiv.org/abs/1903.03894>`_'s importance of every node for its graph's class, [N].

    Args:
        model: What :func:`ssread.explain.classifier` takes.
        graphs: Labelled graphs.
        seed: Of the masks' initial values.
        epochs: Steps taken for each graph.
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
            extra = {} if data.edge_attr is None else {"edge_attr": data.edge_attr}
            found = explainer(data.x, data.edge_index, target=data.y, **extra)
            masks.append(found.node_mask.squeeze(1).detach())
    return torch.cat(masks) if masks else torch.zeros(0)
