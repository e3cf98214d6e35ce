import json

import pytest
import torch
from helpers.small_graphs import ALL, EDGE_FEATURES, FEATURES, build, random_batch
from safetensors.torch import load, save
from torch_geometric.nn import GAT, GraphConv, MeanAggregation, Sequential

from ssread import GlobalReadout, InputError, SSRead
from ssread.data.planted import planted
from ssread.models import ARCHITECTURES, GraphClassifier, make_model, model_for, wrap


def test_the_papers_defaults():
    layers = {"gcn": 3, "gin": 5, "dgcnn": 4, "diffpool": 3, "sagpool": 3, "gunet": 3, "structure_blind": 2}
    for name, number in layers.items():
        model = make_model(name, FEATURES, 2)
        assert model.hyperparameters["num_layers"] == number
        assert model.hyperparameters["gamma"] == 0.01
        assert isinstance(model.readout, SSRead)
        assert isinstance(make_model(name, FEATURES, 2, readout="global").readout, GlobalReadout)
    assert make_model("sagpool", FEATURES, 2).hyperparameters["ratio"] == 0.5
    assert make_model("gunet", FEATURES, 2).hyperparameters["ratios"] == (0.9, 0.8, 0.7)


def test_wrong_names_and_arguments_are_explained():
    wrong = {
        "There is no model 'gat'. Choose one of gcn, gin": {"name": "gat"},
        "no readout 'sum'. Choose global or ssread": {"readout": "sum"},
        "no aggregation 'median'": {"aggr": "median"},
        "gcn has no argument 'ratio'; it takes in_channels, .*dropout": {"ratio": 0.5},
        "sagpool has no argument 'ratios'; it takes .*, ratio": {"name": "sagpool", "ratios": (0.5,)},
        "num_layers must be 1 or more": {"num_layers": 0},
        "hidden_channels must be 1 or more": {"hidden_channels": 0},
        "num_classes must be 1 or more": {"num_classes": 0},
        "num_positions must be 1 or more": {"num_positions": 0},
        "dropout is a share": {"dropout": 1.0},
        "k must be 1 or more": {"aggr": "sort", "aggr_kwargs": {"k": 0}},
    }
    for sentence, arguments in wrong.items():
        with pytest.raises(InputError, match=sentence):
            make_model(**({"name": "gcn", "in_channels": FEATURES, "num_classes": 2} | arguments))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_models_for_a_dataset(name):
    graphs = planted(20, nodes=(20, 41), seed=0)
    model = model_for(graphs, name, readout="global", hidden_channels=8)
    assert model(graphs.batch(slice(None))).shape == (20, graphs.num_classes)
    assert model.hyperparameters.get("num_clusters") == (
        int(-(-graphs.node_counts.max() // 10)) if name == "diffpool" else None
    )


def test_models_do_not_share_an_aggregation():
    aggregation = MeanAggregation()
    first = make_model("gcn", FEATURES, 2, aggr=aggregation)
    again = make_model(**first.hyperparameters)
    assert first.readout.per_position.aggr.aggregation is not again.readout.per_position.aggr.aggregation


@pytest.mark.parametrize("readout", ["global", "ssread"])
def test_any_pyg_module_becomes_a_classifier(readout):
    given = random_batch(dtype=torch.float32)
    conv = GraphConv(FEATURES, 8)
    modules = [
        GAT(FEATURES, 8, num_layers=2, edge_dim=EDGE_FEATURES),
        conv,
        Sequential("x, edge_index", [(conv, "x, edge_index -> x"), torch.nn.ReLU()]),
    ]
    for module in modules:
        model = wrap(module, out_channels=8, num_classes=3, readout=readout)
        assert model(*given).shape == (given.batch_size, 3)
    assert torch.equal(wrap(conv, 8, 2).encode(*given), conv(given.x, given.edge_index))


def test_wrapped_modules_of_another_width_are_explained():
    given = random_batch(dtype=torch.float32)
    with pytest.raises(InputError, match=r"GraphConv was wrapped .* of 9 channels .* returned \[19, 8\]"):
        wrap(GraphConv(FEATURES, 8), out_channels=9, num_classes=2)(*given)
    with pytest.raises(InputError, match="The encoder has 8 output channels, but the readout takes 4"):
        GraphClassifier(make_model("gcn", FEATURES, 2, hidden_channels=8).encoder, SSRead(4, 2), torch.nn.Linear(8, 2))


@pytest.mark.parametrize(("name", "readout"), ALL)
def test_rebuilds_from_hyperparameters(name, readout):
    model = build(name, readout).eval()
    again = make_model(**json.loads(json.dumps(model.hyperparameters))).eval()
    again.load_state_dict(load(save(model.state_dict())))
    given = random_batch(dtype=torch.float32)
    assert torch.equal(again(*given), model(*given))
    assert again.hyperparameters == json.loads(json.dumps(model.hyperparameters))
