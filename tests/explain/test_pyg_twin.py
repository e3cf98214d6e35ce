"""The twin returns the scores of its model, and masks of PyG's explainers reach it."""

import pytest
import torch
from helpers.explained_models import trained
from torch_geometric.explain import Explainer, GNNExplainer

from ssread.data import from_smiles, planted
from ssread.errors import InputError
from ssread.explain.pyg_twin import PyGTwin
from ssread.models import model_for

MOLECULES = from_smiles(["CCO", "c1ccccc1C(=O)O", "C#N", "[Na+].[Cl-]"], ["a", "b", "a", "b"])


@pytest.mark.parametrize("graphs", [MOLECULES, planted(5, seed=0)], ids=["bonds", "no bonds"])
@pytest.mark.parametrize("readout", ["ssread", "global"])
def test_scores_and_node_vectors_are_those_of_the_model(graphs, readout):
    model = model_for(graphs, "gcn", readout=readout, hidden_channels=16).eval()
    for norm in model.encoder.norms:
        torch.nn.init.uniform_(norm.weight)
        torch.nn.init.normal_(norm.bias)
    batch = graphs.batch(range(len(graphs)))
    twin = PyGTwin(model)
    given = {"batch": batch.batch, "edge_attr": batch.edge_attr, "batch_size": len(graphs)}
    assert torch.allclose(twin(batch.x, batch.edge_index, **given), model(batch), atol=1e-5)
    vectors = twin.node_vectors(batch.x, batch.edge_index, batch.edge_attr)
    assert torch.allclose(vectors, model.encode(batch), atol=1e-5)


def test_messages_and_norm_of_the_last_layer_rebuild_the_node_vectors():
    model, graphs = trained()
    batch = graphs.batch(range(4))
    twin = PyGTwin(model)
    h, messages, own = twin.last_messages(batch.x, batch.edge_index)
    factor, shift = twin.last_norm()
    sums = own.index_add(0, batch.edge_index[1], messages)
    assert torch.allclose(sums * factor + shift, h, atol=1e-4)


def test_an_edge_mask_changes_the_scores():
    model, graphs = trained()
    data = graphs[0]
    explainer = Explainer(
        PyGTwin(model),
        GNNExplainer(epochs=3),
        explanation_type="phenomenon",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )
    explanation = explainer(data.x, data.edge_index, target=data.y)
    assert explanation.edge_mask.std() > 0


def test_other_encoders_are_refused():
    graphs = planted(2)
    for name, options in (("gin", {}), ("gcn", {"jumping": True})):
        with pytest.raises(InputError, match="Only a GCN whose last layer is read"):
            PyGTwin(model_for(graphs, name, **options))
