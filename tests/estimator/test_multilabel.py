"""Several labels per graph: scikit-learn's indicator matrices, with NaN for what is not known."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score

from ssread import SSReadClassifier
from ssread.data import from_networkx
from ssread.errors import InputError

GRAPHS = [make(size) for size in range(4, 19) for make in (nx.cycle_graph, nx.star_graph)]
LABELS = np.array([[number % 2, number >= 16] for number in range(30)])
GAPS = LABELS.astype(float)
GAPS[::5, 0] = GAPS[3::5, 1] = np.nan


def small(**settings: object) -> SSReadClassifier:
    return SSReadClassifier(**{"epochs": 30, "hidden_channels": 8, "num_positions": 2, "batch_size": 8} | settings)


@pytest.fixture(scope="module")
def fitted() -> SSReadClassifier:
    return small().fit(GRAPHS, GAPS)


def test_predictions_are_an_indicator_matrix(fitted):
    probabilities = fitted.predict_proba(GRAPHS)
    assert probabilities.shape == (30, 2)
    predicted = fitted.predict(GRAPHS)
    np.testing.assert_array_equal(predicted, (probabilities > 0.5).astype(int))
    assert predicted.dtype == np.int64
    assert (predicted[:, 0] == LABELS[:, 0]).mean() > 0.8
    assert [classes.tolist() for classes in fitted.classes_] == [[0, 1], [0, 1]]
    assert fitted.model_.task == "multilabel"
    assert fitted.model_.output_names == ["label 0", "label 1"]
    assert fitted.model_.summary["settings"]["training"]["selection"] == "roc_auc"
    assert fitted.transform(GRAPHS).shape == (30, 16)


def test_score_is_the_share_with_all_known_labels_right(fitted):
    right = fitted.predict(GRAPHS) == LABELS
    assert fitted.score(GRAPHS, LABELS) == right.all(axis=1).mean()  # as scikit-learn has it
    assert fitted.score(GRAPHS, GAPS) == (right | np.isnan(GAPS)).all(axis=1).mean()
    with pytest.raises(InputError, match="y has the shape"):
        fitted.score(GRAPHS, LABELS[:, 0])


def test_works_with_scikit_learns_scores():
    folds = KFold(3, shuffle=True, random_state=0)
    assert np.isfinite(cross_val_score(small(epochs=2), GRAPHS, LABELS, cv=folds, scoring="roc_auc")).all()
    assert cross_val_score(small(epochs=2), GRAPHS, LABELS, cv=folds).shape == (3,)
    assert cross_val_score(small(epochs=2), GRAPHS, GAPS, cv=folds).shape == (3,)
    assert cross_val_predict(small(epochs=2), GRAPHS, GAPS, cv=folds).shape == (30, 2)


def test_names_come_from_tables_and_graph_sets(fitted):
    table = pd.DataFrame(GAPS, columns=["star", "large"])
    named = small(epochs=1).fit(GRAPHS, table)
    assert named.model_.output_names == ["star", "large"]
    assert np.isfinite(named.score(GRAPHS, table))
    as_set = from_networkx(GRAPHS, GAPS.tolist(), task="multilabel")
    of_set = small().fit(as_set)
    np.testing.assert_array_equal(of_set.predict_proba(as_set), fitted.predict_proba(GRAPHS))
    assert of_set.score(as_set) == of_set.score(as_set, as_set.y) == fitted.score(GRAPHS, GAPS)


def test_class_weight_changes_the_model():
    plain, balanced = (small(epochs=2, class_weight=weight).fit(GRAPHS, GAPS) for weight in (None, "balanced"))
    assert not np.array_equal(plain.predict_proba(GRAPHS), balanced.predict_proba(GRAPHS))


def changed(row: int, value: object) -> np.ndarray:
    labels = GAPS.copy()
    labels[row] = value
    return labels


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (changed(4, 2), "'label 0' of graph 4 is .*needs 0 or 1 there, or nothing"),
        (changed(4, np.nan), "y has no value for graph 4"),
        (GAPS[:7], "y has the shape .* but there are 30 graphs"),
        (GAPS * 0, "only the value 0: there is nothing to learn"),
        (GAPS[..., None], "y has the shape"),
    ],
)
def test_wrong_labels_get_a_sentence(labels, sentence):
    with pytest.raises(InputError, match=sentence):
        small(epochs=1).fit(GRAPHS, labels)


def test_numbers_of_a_graph_set_are_not_classes():
    numbers = from_networkx(GRAPHS, [len(graph) / 3 for graph in GRAPHS], task="regression")
    with pytest.raises(InputError, match="use SSReadRegressor"):
        small().fit(numbers)
    assert small(epochs=1).fit(numbers, ["ring", "star"] * 15).classes_.tolist() == ["ring", "star"]
    assert torch.is_tensor(numbers.y)
