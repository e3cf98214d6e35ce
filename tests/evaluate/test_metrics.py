import warnings

import numpy as np
import pytest
from helpers.run_results import make_result
from hypothesis import given
from hypothesis import strategies as st

from ssread import InputError
from ssread.evaluate.metrics import METRICS, accuracy, macro_f1, roc_auc, score


@st.composite
def predictions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Few distinct probabilities, so that ties occur; classes may be missing."""
    num_classes = draw(st.integers(2, 4))
    rows = draw(st.lists(st.integers(0, num_classes - 1), min_size=1, max_size=12))
    raw = draw(st.lists(st.lists(st.integers(1, 4), min_size=num_classes, max_size=num_classes), min_size=len(rows)))
    weights = np.array(raw[: len(rows)], dtype=float)
    return np.array(rows), weights / weights.sum(axis=1, keepdims=True)


def area_by_pairs(positive: np.ndarray, negative: np.ndarray) -> float:
    """How often a positive graph scores above a negative one; a tie is half of that."""
    return float(np.mean([(p > n) + 0.5 * (p == n) for p in positive for n in negative]))


@given(predictions())
def test_accuracy_counts_graphs(data: tuple[np.ndarray, np.ndarray]) -> None:
    labels, probabilities = data
    right = sum(label == max(range(len(row)), key=row.__getitem__) for label, row in zip(*data, strict=True))
    assert accuracy(labels, probabilities) == right / len(labels)


@given(predictions())
def test_roc_auc_counts_pairs_of_graphs(data: tuple[np.ndarray, np.ndarray]) -> None:
    labels, probabilities = data
    classes = [1] if probabilities.shape[1] == 2 else sorted(set(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = roc_auc(labels, probabilities)
    if len(set(labels)) == 1:
        assert np.isnan(found)
        return
    areas = [area_by_pairs(probabilities[labels == c, c], probabilities[labels != c, c]) for c in classes]
    assert found == pytest.approx(np.mean(areas))


@given(predictions())
def test_macro_f1_is_the_mean_over_the_classes_present(data: tuple[np.ndarray, np.ndarray]) -> None:
    labels, probabilities = data
    predicted = probabilities.argmax(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = macro_f1(labels, probabilities)
    f1 = []
    for which in set(labels):
        hits = np.sum((labels == which) & (predicted == which))
        f1.append(2 * hits / (np.sum(labels == which) + np.sum(predicted == which)))
    assert found == pytest.approx(np.mean(f1))


@pytest.mark.parametrize("metric", METRICS)
def test_a_failed_or_empty_training_has_no_score(metric: str) -> None:
    assert np.isnan(score(make_result(failed="The loss was not a number in epoch 3."), metric))
    assert 0 <= score(make_result(), metric) <= 1


def test_an_unknown_metric_is_named_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no metric 'auc'\. Choose one of accuracy, roc_auc, macro_f1"):
        score(make_result(), "auc")
