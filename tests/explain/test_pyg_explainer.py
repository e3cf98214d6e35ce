"""Class activation inside torch_geometric.explain."""

import pytest
import torch
from torch_geometric.explain import Explainer

from ssread.data import planted
from ssread.explain import ActivationExplainer, activation, predictions
from ssread.models import model_for

GRAPHS = planted(4, seed=6)
CONFIG = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}


@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_the_mask_is_the_positive_activation_of_the_predicted_class(readout):
    model = model_for(GRAPHS, "gcn", readout=readout).eval()
    explainer = Explainer(
        model, ActivationExplainer(), explanation_type="model", node_mask_type="object", model_config=CONFIG
    )
    batch = GRAPHS.batch(range(4))
    explanation = explainer(batch.x, batch.edge_index, batch=batch.batch, batch_size=4)
    predicted = predictions(model, GRAPHS).argmax(dim=1)
    assert torch.allclose(explanation.node_mask.squeeze(1), activation(model, GRAPHS, predicted).relu())
    of_graph_2 = explainer(batch.x, batch.edge_index, index=2, batch=batch.batch, batch_size=4)
    assert of_graph_2.node_mask[batch.batch != 2].eq(0).all()
    assert torch.equal(of_graph_2.node_mask[batch.batch == 2], explanation.node_mask[batch.batch == 2])


def test_pyg_refuses_masks_that_are_not_supported():
    model = model_for(GRAPHS, "gcn")
    with pytest.raises(ValueError, match="does not support"):
        Explainer(
            model, ActivationExplainer(), explanation_type="model", node_mask_type="attributes", model_config=CONFIG
        )
