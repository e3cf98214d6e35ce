"""Positions from the structure: the same whatever is trained, nearest by distance, kept with the model."""

import dataclasses

import pytest
import torch
from sklearn.cluster import KMeans

from ssread import segment
from ssread.data import from_smiles, planted
from ssread.errors import InputError
from ssread.explain import contributions, positions
from ssread.explain.pyg_twin import PyGTwin
from ssread.explain.stability import stability
from ssread.models import make_model, model_for
from ssread.models.graphs import Graphs
from ssread.models.places import Places, place_prototypes
from ssread.train.make_objective import make_objective
from ssread.train.runs import Run, Training
from ssread.train.single import Single

GRAPHS = planted(60, seed=0, feature_noise=0.2)
SMILES = ["CCO", "c1ccccc1C(=O)O", "C#N", "[Na+].[Cl-]", "CCCCN", "O"]
MOLECULES = from_smiles(SMILES, ["a", "b", "a", "b", "a", "b"])


def placed(graphs, hops=1, name="gcn", **options):
    model = model_for(graphs, name, position_hops=hops, hidden_channels=16, num_positions=5, **options).eval()
    place_prototypes(model, graphs)
    return model


@pytest.mark.parametrize("name", ["gcn", "gin", "dgcnn", "structure_blind"])
def test_positions_depend_on_the_graphs_alone(name):
    torch.manual_seed(0)
    first = positions(placed(GRAPHS, name=name), GRAPHS).position
    torch.manual_seed(1)
    second = positions(placed(GRAPHS, name=name), GRAPHS).position
    assert torch.equal(first, second)
    assert len(first.unique()) == 5


def test_training_moves_weights_but_no_prototypes():
    run = Run({"name": "gcn", "hidden_channels": 16, "position_hops": 1, "normalize": True}, 0, 0, 5)
    engine = Single(GRAPHS, run, Training(averaging=0.5))
    engine.learn_from([torch.arange(40)])
    states = []
    for _ in range(2):
        engine.train_epoch(torch.arange(40).view(2, 1, 20))
        engine.average(0.5)
        states.append(engine.state())
    moved = {name for name, value in states[0].items() if not torch.equal(value, states[1][name])}
    assert {"head.weight", "encoder.encoder.convs.0.lin.weight"} <= moved
    assert not any(name.startswith(("readout.prototypes", "encoder.places")) for name in moved)
    assert states[1]["readout.prototypes"].abs().sum() > 0


def test_other_training_parts_give_nearly_the_same_positions():
    models = []
    for part in (range(40), range(20, 60)):
        model = model_for(GRAPHS, "gcn", position_hops=1, num_positions=5)
        place_prototypes(model, GRAPHS[part])
        models.append(positions(model, GRAPHS).position)
    assert stability(models, 5).mutual_information > 0.9


@pytest.mark.parametrize("hops", [0, 2])
def test_a_node_has_the_cluster_of_k_means(hops):
    model = placed(GRAPHS, hops)
    values = Places(GRAPHS.num_node_features, hops).surroundings(Graphs.of(GRAPHS.batch(range(len(GRAPHS)))))
    clusters = torch.from_numpy(KMeans(5, n_init=10, random_state=0).fit_predict(values.double().numpy())).long()
    assert stability([positions(model, GRAPHS).position, clusters], 5).share > 0.98


def test_surroundings_are_means_over_a_node_and_its_neighbours():
    graphs = from_smiles(["CCO"], ["a"], features="labels")
    values = Places(2, 1).surroundings(Graphs.of(graphs.batch([0])))
    expected = [[1, 0, 1, 0], [1, 0, 2 / 3, 1 / 3], [0, 1, 0.5, 0.5]]
    assert torch.allclose(values, torch.tensor(expected))


@pytest.mark.parametrize("hops", [0, 1])
def test_nodes_without_features_have_places_by_degree(hops):
    star_and_path = from_smiles(["CC(C)(C)C", "CCCCC"], ["a", "b"], features="labels")
    graphs = dataclasses.replace(star_and_path, x=torch.ones_like(star_and_path.x))
    values = Places(1, 0)
    values.degrees += 1
    degrees = torch.tensor([1, 4, 1, 1, 1, 1, 2, 2, 2, 1])
    assert torch.allclose(values.surroundings(Graphs.of(graphs.batch([0, 1])))[:, 0], 1 + (degrees + 1).log())
    model = model_for(graphs, "gcn", position_hops=hops, num_positions=3)
    place_prototypes(model, graphs)
    found = positions(model, graphs).position
    assert all(len(found[degrees == degree].unique()) == 1 for degree in ((1, 2, 4) if hops == 0 else (4,)))
    assert len(found.unique()) == 3


def test_rounding_errors_are_no_places():
    """All nodes of rings have two neighbours; means over surroundings of equal values differ by rounding alone."""
    rings = from_smiles(["C1CC1", "C1CCCCC1"], ["a", "b"], features="labels")
    graphs = dataclasses.replace(rings, x=torch.full_like(rings.x, 0.1))
    model = model_for(graphs, "gcn", position_hops=2, num_positions=3)
    place_prototypes(model, graphs)
    assert len(positions(model, graphs).position.unique()) == 1


def test_contributions_add_up_and_the_twin_agrees():
    model = placed(MOLECULES)
    parts = contributions(model, MOLECULES)
    batch = MOLECULES.batch(range(len(SMILES)))
    scores = model(batch).detach()
    assert torch.allclose(parts.total(), scores, atol=1e-5)
    owner = torch.arange(len(SMILES)).repeat_interleave(MOLECULES.node_counts)
    assert torch.allclose(segment.reduce_sum(parts.nodes, owner, len(SMILES)) + parts.rest, scores, atol=1e-5)
    given = {"batch": batch.batch, "edge_attr": batch.edge_attr, "batch_size": len(SMILES)}
    assert torch.allclose(PyGTwin(model)(batch.x, batch.edge_index, **given), scores, atol=1e-5)


def test_the_model_is_built_again_from_its_hyperparameters_and_weights():
    model = placed(MOLECULES, 2)
    again = make_model(**model.hyperparameters).eval()
    again.load_state_dict(model.state_dict())
    batch = MOLECULES.batch(range(len(SMILES)))
    assert torch.equal(again(batch), model(batch))
    assert "position_hops" not in model_for(MOLECULES, "gcn").hyperparameters


def test_few_nodes_leave_positions_empty_and_none_change_nothing():
    model = model_for(MOLECULES, "gcn", position_hops=1, num_positions=8)
    place_prototypes(model, MOLECULES[[5]])
    assert positions(model, MOLECULES).position.max() < 8
    before = model.readout.prototypes.clone()
    empty = dataclasses.replace(MOLECULES[[5]], x=MOLECULES.x[:0], node_ptr=torch.tensor([0, 0]))
    place_prototypes(model, empty)
    assert torch.equal(model.readout.prototypes, before)


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("diffpool", {"position_hops": 1}, "needs the readout ssread and one of gcn, gin, dgcnn, structure_blind"),
        ("gcn", {"position_hops": 1, "readout": "global"}, "needs the readout ssread"),
        ("gcn", {"position_hops": -1}, "must be a whole number from 0 to 100, but -1 was given"),
    ],
)
def test_what_has_no_places_is_refused(name, options, reason):
    with pytest.raises(InputError, match=reason):
        model_for(GRAPHS, name, **options)


def test_learning_without_labels_is_refused():
    with pytest.raises(InputError, match="leave position_hops out"):
        make_objective(GRAPHS, Run({"name": "gcn", "position_hops": 1}, 0, 0, 5, learn="graphcl"))
