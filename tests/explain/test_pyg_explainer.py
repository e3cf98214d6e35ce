"""Class activation inside torch_geometric.explain."""

import pytest
import torch
from torch_geometric.explain import Explainer

from ssread.data import planted
from ssread.explain import ActivationExplainer, activation, probabilities
from ssread.explain.gnn_explainer import gnn_explainer
from ssread.models import model_for

GRAPHS = planted(4, seed=6)
CONFIG = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}


@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_it_gives_what_speaks_for_the_class(readout):
    model = model_for(GRAPHS, "gcn", readout=readout).eval()
    explainer = Explainer(
        model, ActivationExplainer(), explanation_type="model", node_mask_type="object", model_config=CONFIG
    )
    batch = GRAPHS.batch(range(4))
    found = explainer(batch.x, batch.edge_index, batch=batch.batch, batch_size=4)
    predicted = probabilities(model, GRAPHS).argmax(dim=1)
    assert torch.allclose(found.node_mask.squeeze(1), activation(model, GRAPHS, predicted).relu())
    only = explainer(batch.x, batch.edge_index, index=2, batch=batch.batch, batch_size=4)
    assert only.node_mask[batch.batch != 2].eq(0).all()


def test_what_it_cannot_do_is_refused_by_pyg():
    model = model_for(GRAPHS, "gcn")
    with pytest.raises(ValueError, match="does not support"):
        Explainer(
            model, ActivationExplainer(), explanation_type="model", node_mask_type="attributes", model_config=CONFIG
        )


def test_gnn_explainer_runs_on_our_models_and_follows_its_seed():
    model = model_for(GRAPHS, "gcn").eval()
    once, again, other = (gnn_explainer(model, GRAPHS[:2], seed, epochs=5) for seed in (0, 0, 1))
    assert torch.equal(once, again)
    assert not torch.equal(once, other)
    assert once.shape == (int(GRAPHS.node_counts[:2].sum()),)
