"""The regressor behaves like any other of scikit-learn, and takes numbers with gaps."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from ssread import SSReadRegressor
from ssread.apply import TrainedModel, predict
from ssread.data import from_networkx
from ssread.errors import InputError

GRAPHS = [make(size) for size in range(4, 24) for make in (nx.cycle_graph, nx.star_graph)]
LEAVES = np.array([1000.0 + 100 * (len(graph) if number % 2 else 0) for number, graph in enumerate(GRAPHS)])
BOTH = np.stack([LEAVES, np.arange(40) % 2 - 0.5], axis=1)
GAPS = BOTH.copy()
GAPS[::5, 0] = GAPS[3::5, 1] = np.nan


def small(**settings: object) -> SSReadRegressor:
    common = {"epochs": 60, "hidden_channels": 8, "num_positions": 2, "batch_size": 8, "learning_rate": 0.01}
    return SSReadRegressor(**common | settings)


@pytest.fixture(scope="module")
def fitted() -> SSReadRegressor:
    return small().fit(GRAPHS, LEAVES)


def test_numbers_are_predicted_in_their_unit_and_in_the_shape_of_y(fitted):
    assert fitted.predict(GRAPHS).shape == (40,)
    residual = ((fitted.predict(GRAPHS) - LEAVES) ** 2).sum() / ((LEAVES - LEAVES.mean()) ** 2).sum()
    assert fitted.score(GRAPHS, LEAVES) == pytest.approx(1 - residual)
    assert fitted.score(GRAPHS, LEAVES) > 0.7
    column = small().fit(GRAPHS, LEAVES[:, None])
    np.testing.assert_array_equal(column.predict(GRAPHS)[:, 0], fitted.predict(GRAPHS))
    assert small(epochs=1).fit(GRAPHS, BOTH).predict(GRAPHS).shape == (40, 2)


def test_numbers_that_are_not_known_are_left_out():
    estimator = small().fit(GRAPHS, GAPS)
    assert estimator.predict(GRAPHS).shape == (40, 2)
    assert estimator.score(GRAPHS, BOTH) > 0.5
    known = ~np.isnan(GAPS)
    filled = np.where(known, GAPS, 1e9)
    by_hand = []
    for t in range(2):
        true, predicted = filled[known[:, t], t], estimator.predict(GRAPHS)[known[:, t], t]
        by_hand.append(1 - ((true - predicted) ** 2).mean() / true.var())
    assert estimator.score(GRAPHS, GAPS) == pytest.approx(np.mean(by_hand))


def test_fit_returns_the_estimator_and_leaves_parameters_alone():
    estimator = small(epochs=1)
    before = estimator.get_params()
    assert estimator.fit(GRAPHS, LEAVES) is estimator
    assert estimator.get_params() == before
    assert {name for name in vars(estimator) if name.endswith("_")} == {"model_", "n_iter_"}


def test_the_same_random_state_gives_the_same_model(fitted):
    again = clone(fitted).fit(GRAPHS, LEAVES)
    np.testing.assert_array_equal(again.predict(GRAPHS), fitted.predict(GRAPHS))


def test_works_in_cross_validation_and_grid_search():
    assert cross_val_score(small(epochs=2), GRAPHS, LEAVES, cv=3).shape == (3,)
    assert cross_val_predict(small(epochs=2), GRAPHS, GAPS, cv=2).shape == (40, 2)
    assert np.isfinite(
        cross_val_score(small(epochs=2), GRAPHS, LEAVES, cv=2, scoring="neg_root_mean_squared_error")
    ).all()
    search = GridSearchCV(small(epochs=2), {"num_positions": [1, 2]}, cv=2).fit(GRAPHS, LEAVES)
    assert search.predict(GRAPHS[:3]).shape == (3,)


def test_takes_graph_sets_tables_and_series(fitted, tmp_path):
    as_set = from_networkx(GRAPHS, LEAVES.tolist(), task="regression")
    of_set = small().fit(as_set)
    np.testing.assert_array_equal(of_set.predict(as_set)[:, 0], fitted.predict(GRAPHS))
    assert of_set.score(as_set) == of_set.score(as_set, as_set.y) == pytest.approx(fitted.score(GRAPHS, LEAVES))
    assert small(epochs=1).fit(GRAPHS, pd.Series(LEAVES, name="size")).model_.output_names == ["size"]
    table = pd.DataFrame(GAPS, columns=["size", "kind"])
    assert small(epochs=1).fit(GRAPHS, table).model_.output_names == ["size", "kind"]


def test_the_model_can_be_saved_and_predicts_tables(fitted, tmp_path):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(GRAPHS), fitted.predict(GRAPHS))
    fitted.model_.save(tmp_path / "model")
    table = predict(TrainedModel.load(tmp_path / "model"), GRAPHS)
    np.testing.assert_allclose(table["y"], fitted.predict(GRAPHS), rtol=1e-6)


def test_the_metric_chooses_the_epoch(fitted):
    assert fitted.model_.summary["settings"]["training"]["selection"] == "rmse"
    other = small(epochs=1, metric="spearman").fit(GRAPHS, LEAVES)
    assert other.model_.summary["settings"]["training"]["selection"] == "spearman"


@pytest.mark.parametrize("method", ["predict", "transform", "positions"])
def test_before_fit_every_method_raises(method):
    with pytest.raises(NotFittedError):
        getattr(small(), method)(GRAPHS)


@pytest.mark.parametrize(
    ("settings", "y", "sentence"),
    [
        ({}, None, "SSReadRegressor requires y to be passed"),
        ({}, LEAVES[:5], "y has the shape .* but there are 40 graphs"),
        ({}, np.where(np.arange(40) == 3, np.nan, LEAVES), "y has no value for graph 3"),
        ({}, ["many"] * 40, "needs a number there"),
        ({}, LEAVES * 0, "only the value 0"),
        ({"metric": "accuracy"}, LEAVES, "no metric 'accuracy' for regression"),
        ({"epochs": 0}, LEAVES, "epochs must be a whole number"),
    ],
)
def test_wrong_input_gets_a_sentence(settings, y, sentence):
    with pytest.raises(InputError, match=sentence):
        small(**settings).fit(GRAPHS, y)


def test_classes_of_a_graph_set_are_not_numbers(fitted):
    with pytest.raises(InputError, match="use SSReadClassifier"):
        small().fit(from_networkx(GRAPHS, ["ring", "star"] * 20))
    with pytest.raises(InputError, match="y has the shape"):
        fitted.score(GRAPHS, BOTH)
    with pytest.raises(InputError, match="requires y"):
        fitted.score(GRAPHS)
