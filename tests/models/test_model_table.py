import pytest
from helpers.small_graphs import FEATURES

from ssread.models import ARCHITECTURES, make_model
from ssread.models.model_table import MUTAG, describe, describe_all

NAMED = {"EdgeAwareGCNConv": "GCN", "GCNConv": "GCN", "GINConv": "GIN", "SAGEConv, DenseSAGEConv": "SAGE", "-": "-"} | {
    "TopKPooling": "TopKPool",
    "SAGPooling": "SAGPool",
    "DiffPooling": "DiffPool",
}


@pytest.mark.parametrize("name", [name for name, architecture in ARCHITECTURES.items() if architecture.paper])
def test_the_layers_are_those_of_table_two(name):
    message_passing, pooling, ratio, architecture, readout, classification = ARCHITECTURES[name].paper
    ours = describe(make_model(name, FEATURES, 2))
    assert NAMED[ours.message_passing] == message_passing
    assert NAMED[ours.pooling] == pooling
    assert ours.ratio == (ratio if name != "diffpool" else "10 clusters")
    assert ours.architecture == architecture.replace("(", "").replace(")", "")
    assert ours.readout == {"any": "sum", "sort(+Conv)": "sort"}.get(readout, readout)
    assert ours.classification == classification


def test_parameters_of_the_base_classifier_by_hand():
    d, sizes = 128, describe_all(**MUTAG)
    layer = (d * d + d) + (4 * d + d) + d + 2 * d  # linear, edges, root, batch norm
    encoder = (7 * d + d) + 3 * layer
    assert sizes["gcn"]["global"].parameters == encoder + (2 * d + 2)
    assert sizes["gcn"]["ssread"].parameters == encoder + 4 * d + (4 * 2 * d + 2)


def test_describing_leaves_the_model_as_it_was():
    model = make_model("gcn", FEATURES, 2)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    describe(model)
    assert model.training
    assert all(value.equal(before[key]) for key, value in model.state_dict().items())
    assert not any(layer._forward_pre_hooks for layer in model.modules())
