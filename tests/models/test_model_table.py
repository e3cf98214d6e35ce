import pytest
from helpers.small_graphs import FEATURES
from typer.testing import CliRunner

from ssread.cli import app
from ssread.data.planted import planted
from ssread.models import ARCHITECTURES, make_model
from ssread.models.model_table import MUTAG, describe, describe_all

NAMED = {"EdgeAwareGCNConv": "GCN", "GCNConv": "GCN", "GINConv": "GIN", "SAGEConv, DenseSAGEConv": "SAGE", "-": "-"} | {
    "TopKPooling": "TopKPool",
    "SAGPooling": "SAGPool",
    "DiffPooling": "DiffPool",
}


@pytest.mark.parametrize("name", [name for name, architecture in ARCHITECTURES.items() if architecture.paper])
def test_what_runs_is_what_table_two_says(name):
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


def test_command_prints_every_model(tmp_path):
    result = CliRunner().invoke(app, ["models"])
    assert result.exit_code == 0
    assert all(name in result.output for name in ARCHITECTURES)
    assert "…" not in result.output  # nothing was cut
    assert "53,890" in result.output
    path = tmp_path / "graphs.safetensors"
    planted(12, nodes=41, seed=0).save(path)
    result = CliRunner().invoke(app, ["models", str(path)])
    assert result.exit_code == 0
    assert "5 clusters" in result.output
