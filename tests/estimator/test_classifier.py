"""The classifier behaves like any other of scikit-learn."""

import dataclasses
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from ssread import SSReadClassifier
from ssread.apply import TrainedModel
from ssread.data import from_networkx, from_smiles, planted
from ssread.errors import InputError
from ssread.explain import consensus, describe_positions, diffpool_clusters, poolings_survived, stability

RINGS = [nx.cycle_graph(size) for size in range(4, 16)]
STARS = [nx.star_graph(size) for size in range(4, 16)]
GRAPHS = [graph for pair in zip(RINGS, STARS, strict=True) for graph in pair]
LABELS = np.array(["ring", "star"] * 12)


def small(**settings: object) -> SSReadClassifier:
    return SSReadClassifier(**{"epochs": 25, "hidden_channels": 8, "num_positions": 2, "batch_size": 8} | settings)


@pytest.fixture(scope="module")
def fitted() -> SSReadClassifier:
    return small().fit(GRAPHS, LABELS)


def test_fit_returns_the_estimator_and_leaves_parameters_alone(fitted):
    estimator = small()
    before = estimator.get_params()
    assert estimator.fit(GRAPHS[:12], LABELS[:12]) is estimator
    assert estimator.get_params() == before
    learnt = {name for name in vars(estimator) if name not in before}
    assert learnt == {"classes_", "model_", "n_iter_"}
    assert fitted.n_iter_ <= 25


def test_methods_agree_with_each_other(fitted):
    probabilities = fitted.predict_proba(GRAPHS)
    assert probabilities.shape == (24, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(fitted.predict(GRAPHS), fitted.classes_[probabilities.argmax(axis=1)])
    assert fitted.score(GRAPHS, LABELS) == np.mean(fitted.predict(GRAPHS) == LABELS) > 0.9
    vectors = fitted.transform(GRAPHS)
    assert vectors.shape == (24, 16)
    positions = fitted.positions(GRAPHS)
    assert [len(own) for own in positions] == [len(graph) for graph in GRAPHS]
    head = fitted.model_.models[0].head
    logits = head(torch.from_numpy(vectors)).softmax(-1)
    np.testing.assert_allclose(logits.detach(), probabilities, atol=1e-5)
    norm = fitted.model_.models[0].norm.norm
    of_nothing = -norm.running_mean / (norm.running_var + norm.eps).sqrt()  # an empty position is zero before the norm
    for row, own in enumerate(positions):
        for position in (0, 1):
            if position not in own:
                part = slice(8 * position, 8 * position + 8)
                np.testing.assert_allclose(vectors[row, part], of_nothing[part], atol=1e-5)


def test_kinds_of_labels_come_back_as_they_were():
    for labels in (np.array([3, 7] * 12), [False, True] * 12, LABELS.tolist()):
        estimator = small(epochs=1).fit(GRAPHS, labels)
        assert estimator.predict(GRAPHS).dtype == np.asarray(labels).dtype
        assert set(estimator.predict(GRAPHS)) <= set(np.asarray(labels))


def test_the_same_random_state_gives_the_same_model(fitted):
    again = clone(fitted).fit(GRAPHS, LABELS)
    np.testing.assert_array_equal(again.predict_proba(GRAPHS), fitted.predict_proba(GRAPHS))
    other = clone(fitted).set_params(random_state=1).fit(GRAPHS, LABELS)
    assert not np.array_equal(other.predict_proba(GRAPHS), fitted.predict_proba(GRAPHS))
    drawn = clone(fitted).set_params(random_state=np.random.RandomState(0), epochs=1).fit(GRAPHS, LABELS)
    assert drawn.n_iter_ == 1


def test_works_in_cross_validation_grid_search_and_pipeline():
    scores = cross_val_score(small(epochs=5), GRAPHS, LABELS, cv=3)
    assert scores.shape == (3,)
    assert len(cross_val_predict(small(epochs=2), GRAPHS, LABELS, cv=2)) == 24
    search = GridSearchCV(small(epochs=2), {"num_positions": [1, 2], "readout": ["ssread"]}, cv=2).fit(GRAPHS, LABELS)
    assert search.best_params_["num_positions"] in (1, 2)
    pipeline = make_pipeline(small(epochs=5), LogisticRegression(max_iter=1000))
    assert pipeline.fit(GRAPHS, LABELS).predict(GRAPHS[:3]).shape == (3,)


def test_takes_every_kind_of_graphs(fitted):
    as_set = from_networkx(GRAPHS, LABELS)
    labelled = small(epochs=5).fit(as_set)
    assert labelled.classes_.tolist() == ["ring", "star"]
    np.testing.assert_allclose(fitted.predict_proba(as_set), fitted.predict_proba(GRAPHS), atol=1e-6)
    np.testing.assert_allclose(fitted.predict_proba(as_set.to_pyg()), fitted.predict_proba(GRAPHS), atol=1e-6)
    assert cross_val_score(small(epochs=2), as_set, LABELS, cv=2).shape == (2,)


def test_labels_of_skipped_rows_are_left_out():
    pytest.importorskip("rdkit")
    good = ["c1ccccc1" + "C" * n for n in range(8)] + ["C1CCCCC1" + "C" * n for n in range(8)]
    smiles, labels = ["bad", *good, ""], ["odd", *["a"] * 8, *["b"] * 8, "odd"]
    settings = {"reading": {"on_error": "skip"}, "epochs": 2}
    fitted = small(**settings).fit(smiles, labels)
    assert fitted.classes_.tolist() == ["a", "b"]
    expected = small(epochs=2).fit(good, labels[1:-1])
    assert np.array_equal(fitted.predict_proba(good), expected.predict_proba(good))
    table = pd.DataFrame({"smiles": smiles, "label": "not used"})
    assert np.array_equal(small(**settings).fit(table, labels).predict_proba(good), expected.predict_proba(good))
    with pytest.raises(InputError, match=r"y has the shape \[16\], but there are 18 graphs"):
        small(**settings).fit(smiles, labels[:16])
    read = from_smiles(smiles, on_error="skip")
    assert np.array_equal(small(epochs=2).fit(read, labels[1:-1]).predict_proba(good), expected.predict_proba(good))
    with pytest.raises(InputError, match=r"leave them out with reading=\{\"on_error\": \"skip\"\}\."):
        small().fit(smiles, labels)
    with pytest.raises(InputError, match=r"molecule 0, 'bad' .* take them out of the graphs\."):
        fitted.predict(smiles)


def test_takes_smiles():
    pytest.importorskip("rdkit")
    smiles = np.array(["c1ccccc1" + "C" * n for n in range(8)] + ["C1CCCCC1" + "C" * n for n in range(8)])
    estimator = small(epochs=100).fit(smiles, [1] * 8 + [0] * 8)
    assert estimator.predict(["c1ccccc1CCO"]) == [1]
    with pytest.raises(InputError, match=r"molecule 0, 'nonsense' \(RDKit cannot read it\)"):
        estimator.predict(["nonsense"])


def test_reading_options_are_kept_for_prediction():
    for graph in GRAPHS:
        nx.set_node_attributes(graph, {node: "even" if node % 2 == 0 else "odd" for node in graph}, "role")
    estimator = small(epochs=2, reading={"node_label": "role"}).fit(GRAPHS, LABELS)
    assert estimator.model_.features.node.names == ("role=even", "role=odd")
    assert estimator.predict(GRAPHS[:2]).shape == (2,)


def test_survives_pickling_and_saving(fitted, tmp_path):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(GRAPHS), fitted.predict_proba(GRAPHS))
    fitted.model_.save(tmp_path / "model")
    loaded = TrainedModel.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predictions(loaded.read(GRAPHS)), fitted.predict_proba(GRAPHS))


def test_positions_from_the_structure_do_not_depend_on_the_seed_and_survive_saving(tmp_path):
    graphs = planted(60, seed=0, feature_noise=0.1)
    settings = {"epochs": 1, "hidden_channels": 8, "num_positions": 5, "ensemble": 2}
    fitted = [SSReadClassifier(**settings, random_state=seed).fit(graphs) for seed in (0, 1)]
    found = [torch.from_numpy(np.concatenate(one.positions(graphs))) for one in fitted]
    assert stability(found, 5).share > 0.9
    fitted[0].model_.save(tmp_path / "model")
    again = consensus(TrainedModel.load(tmp_path / "model"), graphs).position
    assert torch.equal(again, found[0])


@pytest.mark.parametrize(
    ("settings", "hops"),
    [({}, 1), ({"position_hops": 2}, 2), ({"position_hops": "learnt"}, None), ({"readout": "global"}, None)],
)
def test_positions_come_from_the_structure_unless_learnt_ones_are_asked_for(settings, hops):
    model = small(epochs=1, **settings).fit(GRAPHS, LABELS).model_.models[0]
    assert model.hyperparameters.get("position_hops") == hops
    learnt = [name for name, _ in model.named_parameters() if name == "readout.prototypes"]
    assert bool(learnt) == (settings == {"position_hops": "learnt"})


@pytest.mark.parametrize("hops", ["structure", -1, 101, 0.5])
def test_positions_that_there_are_not_get_a_sentence(hops):
    with pytest.raises(InputError, match="position_hops must be"):
        small(epochs=1, position_hops=hops).fit(GRAPHS, LABELS)


def test_an_ensemble_has_several_members_and_their_consensus_positions():
    estimator = small(epochs=2, ensemble=2).fit(GRAPHS, LABELS)
    assert len(estimator.model_.models) == 2
    assert estimator.transform(GRAPHS).shape == (24, 32)
    assert estimator.model_.matching.shape == (2, 2)
    agreed = consensus(estimator, estimator.model_.read(GRAPHS)).position
    np.testing.assert_array_equal(np.concatenate(estimator.positions(GRAPHS)), agreed)


def test_positions_have_names_as_after_ssread_train(fitted, tmp_path):
    stored = describe_positions(fitted, fitted.model_.read(GRAPHS))
    assert fitted.model_.position_names == [entry["name"] for entry in stored["positions"]]
    fitted.model_.save(tmp_path / "model")
    assert TrainedModel.load(tmp_path / "model").position_names == fitted.model_.position_names
    assert fitted.model_.position_names[0] in (tmp_path / "model" / "card.md").read_text()
    molecules = small(epochs=1, position_hops=0).fit(["c1ccccc1C", "CCCC", "c1ccccc1N", "CCN"] * 6, ["yes", "no"] * 12)
    assert not any(name.startswith("position") for name in molecules.model_.position_names)


def test_class_weight_changes_the_model_of_unequal_classes():
    few = [*range(6), *range(7, 24, 2)]
    plain, balanced = (
        small(epochs=2, class_weight=weight).fit([GRAPHS[n] for n in few], LABELS[few]) for weight in (None, "balanced")
    )
    assert not np.array_equal(plain.predict_proba(GRAPHS), balanced.predict_proba(GRAPHS))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform", "positions"])
def test_before_fit_every_method_raises(method):
    with pytest.raises(NotFittedError):
        getattr(small(), method)(GRAPHS)


@pytest.mark.parametrize(
    ("settings", "labels", "sentence"),
    [
        ({"arch": "other"}, LABELS, "There is no model 'other'"),
        ({"epochs": 0}, LABELS, "epochs must be a whole number of 1 or more"),
        ({"held_out": 1.5}, LABELS, "held_out must lie between 0 and 1"),
        ({"class_weight": {0: 1}}, LABELS, "class_weight must be"),
        ({}, LABELS[:5], "y has the shape .* but there are 24 graphs"),
        ({}, ["one"] * 24, "one class only"),
        ({}, np.arange(24) / 7, "Unknown label type"),
        ({}, None, "requires y to be passed"),
        ({"metric": "rmse"}, LABELS, "no metric 'rmse' for classification"),
        ({"metric": "other"}, LABELS, "no metric 'other'"),
    ],
)
def test_wrong_input_gets_a_sentence(settings, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        small(**settings).fit(GRAPHS, labels)


def test_score_takes_what_a_graph_set_holds():
    """Labels that are numbers are class names of a GraphSet, hence texts: they could not be compared."""
    for labels in (np.array([3, 7] * 12), np.array([0.5, 7.0] * 12), np.array([False, True] * 12), LABELS):
        as_set = from_networkx(GRAPHS, labels, task="classification")
        estimator = small().fit(as_set)
        expected = estimator.score(as_set)
        assert expected > 0.9
        assert estimator.score(GRAPHS, labels) == expected
        assert estimator.score(as_set, as_set.y) == expected
        assert estimator.score(GRAPHS, np.array(as_set.class_names)[as_set.y]) == expected
    weights = np.r_[np.ones(2), np.zeros(22)]
    right = estimator.predict(GRAPHS) == LABELS
    assert estimator.score(GRAPHS, LABELS, weights) == right[:2].mean()
    with pytest.raises(InputError, match="y has 0, but the classes of the model are ring, star"):
        estimator.score(GRAPHS, [0, 1] * 12)
    with pytest.raises(InputError, match="requires y"):
        estimator.score(GRAPHS)
    with pytest.raises(InputError, match=r"y has the shape \[5\]"):
        estimator.score(GRAPHS, LABELS[:5])


def test_names_of_a_graph_set_need_not_be_in_order():
    """The numbers of classes in a GraphSet are those of its own names."""
    as_set = from_networkx(GRAPHS, LABELS)
    other = dataclasses.replace(as_set, y=1 - as_set.y, class_names=("star", "ring"))
    estimator = small().fit(other)
    assert estimator.score(other, other.y) == estimator.score(other) == estimator.score(GRAPHS, LABELS) > 0.9


def test_the_metric_chooses_the_epoch():
    few = [*range(6), *range(7, 24, 2)]
    graphs, labels = [GRAPHS[n] for n in few], LABELS[few]
    for metric, expected in ((None, "roc_auc"), ("log_loss", "log_loss"), ("accuracy", "accuracy")):
        fitted = small(epochs=2, metric=metric).fit(graphs, labels)
        assert fitted.model_.summary["settings"]["training"]["selection"] == expected
    assert small(epochs=1).fit(GRAPHS, LABELS).model_.summary["settings"]["training"]["selection"] == "accuracy"


def labelled(graph: nx.Graph, roles: str) -> nx.Graph:
    """The graph with these node labels in turn."""
    nx.set_node_attributes(graph, {node: roles[node % len(roles)] for node in graph}, "role")
    return graph


def test_a_node_has_the_position_of_least_cost(fitted):
    """Without pooling: one position per node, as the readout aligned it."""
    read = fitted.model_.read(GRAPHS)
    ((_, (output,)),) = fitted.model_.run(read)
    np.testing.assert_array_equal(np.concatenate(fitted.positions(GRAPHS)), output.reading.costs.argmin(dim=1))


def test_with_diffpool_a_node_has_the_position_of_its_largest_cluster():
    """A graph with as many nodes as clusters: the positions of the clusters are not those of the nodes."""
    trees = [labelled(nx.random_labeled_tree(40, seed=seed), "abc") for seed in range(16)]
    estimator = small(arch="diffpool", epochs=1, num_positions=4, reading={"node_label": "role"})
    estimator.fit(trees, [0, 1] * 8)
    new = [labelled(nx.path_graph(4), "abca")]
    ((_, (output,)),) = estimator.model_.run(estimator.model_.read(new))
    assert len(output.encoding.x) == 4, "as many clusters as nodes"
    estimator.model_.models[0].readout.prototypes.copy_(output.encoding.x)  # cluster k then has position k
    clusters = diffpool_clusters(estimator, estimator.model_.read(new)).tolist()
    assert clusters != [0, 1, 2, 3]
    assert estimator.positions(new)[0].tolist() == clusters


def test_a_node_that_sagpool_drops_has_no_position():
    estimator = small(epochs=1, arch="sagpool").fit(GRAPHS, LABELS)
    positions = np.concatenate(estimator.positions(GRAPHS))
    dropped = poolings_survived(estimator, estimator.model_.read(GRAPHS)).numpy() == 0
    assert dropped.any()
    np.testing.assert_array_equal(positions == -1, dropped)
    assert set(positions[~dropped]) <= {0, 1}


def test_a_model_with_the_global_readout_has_no_positions():
    estimator = small(epochs=1, readout="global").fit(GRAPHS, LABELS)
    with pytest.raises(InputError, match="readout='ssread'"):
        estimator.positions(GRAPHS)
